#pragma once

// What a lock file remembers of the request that it was decided for, and what has changed since.

#include "cli/workflow/ask/question.hpp"
#include "libcore/lock/lock_file.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

/// What is asked for, of these sources. No channel is looked at for it.
Result<LockRequest> lock_request_of(const Context& context,
                                    const SourceOptions& sources,
                                    const ChangeRequest& wanted);

/// The same as it can be asked again for the machines of one class; what pip and the variables are
/// stays with the lock.
Result<ChangeRequest> wanted_by(const LockFile& lock, const LockedClass& locked);

/// What conda-meta/gpkg/state.json is to remember of an environment that is made from a class: of
/// several accelerators the first that its packages are for.
Result<GpkgState> state_of(const LockFile& lock, const LockedClass& locked);

/// What is told of a lock that is_edited().
inline constexpr std::string_view kEdited =
    "the request in the lock was edited after it was solved";

/// What is told of a lock without a request: it comes from another tool, or was converted.
std::string no_request_text(const LockFile& lock);

/// How what is asked now, for the class of this name, differs from what the lock was made for, a
/// line for each difference. A moment counts where one is said now.
std::vector<std::string> drift_of(const LockFile& lock,
                                  const LockedClass& locked,
                                  const LockRequest& now);

}  // namespace gpkg::cli
