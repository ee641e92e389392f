#pragma once

// What an environment knows of itself (conda-meta), where that was lost: damaged by others, or cut
// short when the machine failed.

#include "cli/workflow/change.hpp"
#include "libcore/env/installed_damage.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

/// The history, gpkg's state and the records of packages where they are missing or cannot be read;
/// what is of no package is called "environment"; and records that a package has beside another.
/// `records`, `unreadable`: what reading them found.
Result<std::vector<InstalledDamage>> lost_metadata(const fs::path& prefix,
                                                   const std::vector<PrefixRecord>& records,
                                                   std::vector<UnreadableRecord> unreadable);

struct RestoredMetadata {
    bool anything = false;
    /// Whose records were restored, or would be: these packages are then relinked.
    std::vector<std::string> packages;
};

/// Makes the history, gpkg's state and the records of packages again where they are missing or
/// cannot be read: from the last generation, and from the packages of the store, which are
/// downloaded where it lacks them. Dry, it only tells.
Result<RestoredMetadata> restore_metadata(Context& context,
                                          const fs::path& prefix,
                                          const ChangeOptions& options);

}  // namespace gpkg::cli
