#pragma once

// A lock brought to what is asked for now, or to more machines, where all else stays as it is. Each
// class is decided as an environment with its packages would be.

#include "cli/workflow/lock/locking.hpp"
#include "cli/workflow/sources.hpp"
#include "cli/workflow/wishes/wishes.hpp"
#include "libcore/hardware/asked_spec.hpp"
#include "libcore/spec/version.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace gpkg::cli {

struct UpdateOptions {
    SourceOptions sources;
    WishOptions wishes;                 ///< without files what the lock was made for is asked again
    std::vector<std::string> machines;  ///< that are to have a class, or theirs anew
    std::set<std::string> names;        ///< of packages that may have another version
    /// What the builds of some of them are to be for from now on.
    AcceleratorWishes accelerators;
};

struct UpdatedClasses : LockedClasses {
    /// Of the named packages, the newest version that the channels have. Empty where
    /// --exclude-newer hides some.
    std::map<std::string, Version> newest;
};

/// Whether nothing is named that would change the lock.
bool asks_nothing(const UpdateOptions& options);

/// What is locked stays where what is asked for allows, in its version and build; a class that is
/// new gets the versions that others have. Divergences are those that the lock did not have.
/// Unsupported for a lock that does not say for what and for which machines it was made, and for
/// one of --for-all; NotFound for names that it does not have; Usage where nothing is to change;
/// Unsatisfiable where a class has no answer.
Result<UpdatedClasses> update_lock(Context& context,
                                   const LockFile& lock,
                                   const UpdateOptions& options);

}  // namespace gpkg::cli
