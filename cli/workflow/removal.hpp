#pragma once

// Removing packages. Needs no channel and no solver: what depends on a removed package is removed
// too, and so are dependencies that no remaining package needs.

#include "cli/workflow/change.hpp"
#include "libcore/env/prefix_lock.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gpkg::cli {

Result<Change> removal(const fs::path& prefix, const std::vector<MatchSpec>& specs);

/// Names that a question shows.
inline constexpr std::size_t kMostNames = 8;

/// Whether the user may miss what is removed: the default answer is no then.
enum class Loss { No, Yes };

/// Asks before `what` is removed ("3 packages from ml"); `details` are shown in the question. Fails
/// where the answer is no, and where nobody can be asked.
Result<void> confirm_removal(Context& context,
                             const std::string& what,
                             const std::vector<std::string>& details,
                             Loss loss);

/// Refuses the root prefix, a folder that holds other environments, and the active environment.
Result<void> check_removable(const Context& context, const fs::path& path);

/// Removes the environment and its line in ~/.conda/environments.txt. `lock`: where the caller has
/// it already.
Result<void> remove_and_unlist(const Context& context,
                               const fs::path& path,
                               const TransactionOptions& how,
                               std::optional<PrefixLock> lock);

/// Removes a whole environment after asking. The root prefix and folders that are not environments
/// are refused.
Result<int> remove_environment(Context& context,
                               const fs::path& prefix,
                               const ChangeOptions& options);

}  // namespace gpkg::cli
