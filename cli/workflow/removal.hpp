#pragma once

// Taking packages away. Needs no channel and no solver: what depends on a removed package goes with
// it, and so does what nothing that stays needs any more.

#include "cli/workflow/change.hpp"
#include "libcore/env/prefix_lock.hpp"

#include <optional>

namespace gpkg::cli {

Result<Change> removal(const fs::path& prefix, const std::vector<MatchSpec>& specs);

/// Refuses the root prefix, what holds other environments, and what the user's shell stands in.
Result<void> check_removable(const Context& context, const fs::path& path);

/// Removes what is no environment any more afterwards, and takes it off ~/.conda/environments.txt.
/// `lock`: where the caller has it already.
Result<void> remove_and_unlist(const Context& context,
                               const fs::path& path,
                               const TransactionOptions& how,
                               std::optional<PrefixLock> lock);

/// Removes a whole environment, also its record in ~/.conda/environments.txt. The root prefix and
/// folders that are no environments are refused.
Result<int> remove_environment(Context& context,
                               const fs::path& prefix,
                               const ChangeOptions& options);

}  // namespace gpkg::cli
