#pragma once

// What the commands that sign channels share.

#include "cli/context.hpp"
#include "libcore/indexing/indexer.hpp"
#include "libcore/trust/signing_key.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace gpkg::cli {

using SignKeys = std::vector<std::shared_ptr<const SigningKey>>;

/// --sign-key and --expires.
struct SigningWords {
    std::vector<std::string> keys;  ///< files
    std::string expires;            ///< empty: as the indexer thinks best
};

Result<void> set_signing(const Context& context,
                         const SigningWords& words,
                         IndexerOptions& options);

/// Says who signed the indexes until when, and warns where users may trust other keys.
void report_signature(Context& context, const IndexSummary& summary);

Result<SignKeys> read_sign_keys(const Context& context, const std::vector<std::string>& files);

/// "30d", "12h" or "2w".
Result<std::chrono::seconds> parse_lifetime(const std::string& text);

}  // namespace gpkg::cli
