#pragma once

// What the commands that sign channels share.

#include "cli/context.hpp"
#include "libcore/trust/signing_key.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace gpkg::cli {

using SignKeys = std::vector<std::shared_ptr<const SigningKey>>;

Result<SignKeys> read_sign_keys(const Context& context, const std::vector<std::string>& files);

/// "30d", "12h" or "2w".
Result<std::chrono::seconds> parse_lifetime(const std::string& text);

}  // namespace gpkg::cli
