#pragma once

// From the words of a command to what is locked for each machine that they name.

#include "cli/workflow/lock/locking.hpp"
#include "cli/workflow/wishes/wishes.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

struct ClassOptions {
    SourceOptions sources;
    WishOptions wishes;
    /// Profiles or names. Without any, each platform that an environment.yml is made for, or this
    /// machine's.
    std::vector<std::string> machines;
};

/// The lock remembers what was asked for.
Result<LockedClasses> lock_for(Context& context, const ClassOptions& options);

/// An error where nothing is asked for.
Result<void> check_names_any(const LockWishes& wishes);

/// What is asked for on the machine of `sources`; channels of files are added to those.
Result<ChangeRequest> lock_wishes(Context& context,
                                  const WishOptions& options,
                                  SourceOptions& sources);

}  // namespace gpkg::cli
