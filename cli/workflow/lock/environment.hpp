#pragma once

// An environment as a lock file has it for a machine.

#include "cli/options.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/machine.hpp"
#include "libcore/classes/class_fit.hpp"
#include "libcore/lock/lock_file.hpp"
#include "libcore/lock/lock_format.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpkg::cli {

/// Reads a lock file of any format. Prints its warnings.
Result<ReadLock> read_lock_file(Context& context, const std::string& file);

/// The class that fits the machine of `sources` best; which it is and why is told. Unsatisfiable
/// where none fits, with what keeps the machine from each.
Result<ExactRequest> locked_request(Context& context,
                                    const SourceOptions& sources,
                                    const LockedOptions& options,
                                    const fs::path& prefix);

/// The environment of the flags, else the one that the lock names, else the one of the
/// environment.yml beside it. As given where none of them says.
Result<TargetOptions> target_of_lock(Context& context,
                                     const TargetOptions& target,
                                     const std::string& file);

/// The lock with what --environment names in place of its default environment; as it is without.
Result<LockFile> environment_in(LockFile lock, const LockedOptions& options);

/// What is said of a lock without a class that an environment could be made of: that `default` is
/// missing or empty, and which others have packages.
tl::unexpected<Error> no_class(const LockFile& lock,
                               const std::string& platform,
                               const std::string& file);

/// What to do where a class of this platform does not hold together. In a file of another tool an
/// environment of which the default one is a part may.
std::string mending_hint(const LockFile& lock, LockFormat format, const std::string& platform);

/// The virtual packages by which the machine takes a class. Variables override those of this
/// machine, and not of one named with --for, as where the lock is made.
Result<std::vector<PackageRecord>> packages_for_class(Context& context, const Machine& machine);

/// assumed_note() if a class needs another value than an assumed one.
std::optional<std::string> assumed_in_the_way(const Machine& machine,
                                              const std::vector<PackageRecord>& virtual_packages,
                                              const std::vector<ClassFit>& fits);

}  // namespace gpkg::cli
