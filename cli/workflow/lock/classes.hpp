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

struct LockedFor {
    LockedClasses locked;
    std::vector<Channel> channels;  ///< of all classes, with the user's logins
};

/// The lock remembers what was asked for.
Result<LockedFor> lock_for(Context& context, const ClassOptions& options);

/// Decides them. Unsupported where they are to have different channels, of which a lock has one
/// list.
Result<LockedFor> lock_of(Context& context, std::vector<AskedClass> asked);

/// A machine that is to have a class: what it is called, and how that is said.
struct NamedClass {
    std::string machine;
    SourceOptions sources;

    /// "node" of "./node.yaml", "a100-glibc-2.36" of "a100,glibc=2.36": a class is named as --for
    /// names its machine.
    std::string class_name() const;
};

/// Those that are asked for; without any, platforms, for which this machine stands.
Result<std::vector<NamedClass>> named_classes(Context& context, const ClassOptions& options);

/// Of a lock whose classes are platforms, those that the files are for and no class is.
Result<std::vector<std::string>> missing_platforms(Context& context,
                                                   const LockFile& lock,
                                                   const WishOptions& wishes,
                                                   bool offline);

/// Usage errors for classes without a name, and for two of one.
Result<void> check_class_names(const std::vector<NamedClass>& named);

/// An error where nothing is asked for.
Result<void> check_names_any(const LockWishes& wishes);

/// What is asked for on the machine of `sources`; channels of files are added to those. Where a
/// file has any, configured channels do not count: who reads the lock may have others.
Result<ChangeRequest> lock_wishes(Context& context,
                                  const WishOptions& options,
                                  SourceOptions& sources);

}  // namespace gpkg::cli
