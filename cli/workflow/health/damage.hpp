#pragma once

// Looking for damage in environments and in the store, and mending it.

#include "cli/context.hpp"
#include "cli/workflow/change.hpp"
#include "libcore/env/installed_damage.hpp"
#include "libcore/package/store.hpp"
#include "libcore/package/verify.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gpkg::cli {

struct Examined {
    std::size_t packages = 0;             ///< that were looked at
    std::vector<InstalledDamage> damage;  ///< files of packages
    std::vector<InstalledDamage> lost;    ///< what the environment knows of itself: lost_metadata()
    std::string interruption{};  ///< interruption_text(); empty: no command was interrupted
    std::optional<fs::path> moved_from{};  ///< the path that its files still contain

    std::size_t damaged_packages() const;
};

/// "this environment was moved here from /old; ...", with the command that helps.
std::string moved_text(const Context& context, const fs::path& prefix, const fs::path& old);

/// `quick`: contents are not read.
Result<Examined> examine_environment(Context& context, const fs::path& prefix, bool quick);
/// Packages are named by their folders.
Result<Examined> examine_store(Context& context, bool quick);

struct DroppedPackages {
    std::size_t packages = 0;         ///< that `store` does not find any more, or never did
    std::vector<fs::path> of_layers;  ///< damaged folders that are not ours to remove: avoided
};

/// So that they are fetched anew: takes damaged copies of `records` out of the store, and has it
/// pass over those of its layers. Offline, what could not be fetched stays, with an error.
Result<DroppedPackages> drop_damaged(Context& context,
                                     const PackageStore& store,
                                     const std::vector<PackageRecord>& records,
                                     VerifyDepth depth,
                                     bool offline);

/// Brings an interrupted command to an end and links damaged packages anew. Copies of the store are
/// examined first, and downloaded again where they are damaged.
Result<int> repair_environment(Context& context,
                               const fs::path& prefix,
                               const ChangeOptions& options);
/// Takes damaged packages out of the store, and the leftovers of processes that are gone.
Result<int> repair_store(Context& context, const ChangeOptions& options);

}  // namespace gpkg::cli
