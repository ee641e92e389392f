#pragma once

// What an environment knows of itself (conda-meta), where that was lost: damaged by others, or cut
// short when the machine failed.

#include "cli/workflow/change.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

struct RestoredMetadata {
    bool anything = false;
    /// Whose records were made again: what they say holds once these packages are linked anew.
    std::vector<std::string> packages;
};

/// Makes the history, gpkg's state and the records of packages again where they are missing or
/// cannot be read: from the last generation, and from the packages of the store, which are
/// downloaded where it lacks them. Dry, it only tells.
Result<RestoredMetadata> restore_metadata(Context& context,
                                          const fs::path& prefix,
                                          const ChangeOptions& options);

}  // namespace gpkg::cli
