#pragma once

// What packages were built with: from what their channel publishes, and where it is wanted from the
// packages themselves, of which only the few bytes that tell it are fetched.

#include "cli/context.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/hardware/variant_inputs.hpp"
#include "libcore/spec/package_record.hpp"

#include <optional>
#include <span>
#include <vector>

namespace gpkg::cli {

struct BuiltWithOptions {
    bool ask_packages = false;  ///< where the channel does not tell
    bool offline = false;
};

/// In the order of the records; nothing for those of which it is not known. What could not be found
/// out is told to the user, and is a failure only when it was interrupted. What packages said is
/// kept in the cache by their checksums.
Result<std::vector<std::optional<VariantInputs>>> built_with(Context& context,
                                                             const std::vector<Channel>& channels,
                                                             std::span<const PackageRecord> records,
                                                             const BuiltWithOptions& options);

}  // namespace gpkg::cli
