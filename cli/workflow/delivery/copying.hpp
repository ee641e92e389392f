#pragma once

// Environments under another path: copies, and renaming, which is a copy that takes its original's
// place. Packages are linked anew, because their files name the path.

#include "cli/workflow/change.hpp"

namespace gpkg::cli {

/// Never overwrite: Conflict where an environment or somebody's files stand at `prefix`.
Result<void> check_free(const Context& context, const fs::path& prefix);

/// A change that makes `prefix` what `original` is.
Result<Change> copy_of(Context& context, const fs::path& original, const fs::path& prefix);

/// What no package of an environment would bring again.
struct OtherFiles {
    std::vector<std::string> files;
    std::vector<std::string> folders;  ///< in which there is nothing
    std::vector<std::string> removed;  ///< of packages that pip has replaced
};

/// What pip installed, what people put there or changed, which is told, and its pins. Where a copy
/// takes over, also whether it is frozen, and what else is in its conda-meta. What is missing
/// otherwise was lost, as on disks that are purged, and comes again with its package.
Result<OtherFiles> other_files(Context& context, const fs::path& from, bool takes_over);

Result<void> copy_other_files(Context& context,
                              const fs::path& from,
                              const fs::path& to,
                              bool takes_over);

/// copy_unowned(), which tells of the binaries that go on to name the old path.
Result<void> copy_telling(Context& context,
                          const fs::path& from,
                          const OtherFiles& others,
                          const fs::path& to,
                          const fs::path& named);

/// Makes `to` what `from` is. Nobody changes that one meanwhile, if this user may lock it; where it
/// is being changed, that is waited for.
Result<int> clone_environment(Context& context,
                              const fs::path& from,
                              const fs::path& to,
                              const ChangeOptions& options);

/// Moves an environment. At every instant there is the old one, or both, or the new one; nobody
/// else changes the old one meanwhile.
Result<int> rename_environment(Context& context,
                               const fs::path& from,
                               const fs::path& to,
                               const ChangeOptions& options);

}  // namespace gpkg::cli
