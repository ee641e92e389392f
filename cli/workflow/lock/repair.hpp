#pragma once

// Locked packages that their channels no longer have, and what can stand in their place.

#include "cli/workflow/lock/locking.hpp"
#include "cli/workflow/sources.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gpkg::cli {

struct GonePackage {
    std::size_t place = 0;  ///< in LockFile::packages
    std::string why;        ///< "its channel has it no more"
};

/// Looked up in the channels that the packages are from; `sources` has what is needed to reach
/// them. Network errors where one gives no answer, whatever is known of it.
Result<std::vector<GonePackage>> gone_packages(Context& context,
                                               const LockFile& lock,
                                               const SourceOptions& sources);

struct RepairOptions {
    SourceOptions sources;
    std::set<std::string> free;  ///< names of packages that may have other versions
};

/// The lock with other builds of the same versions in place of what is gone; what is there stays,
/// as far as it goes with them. Where nothing is gone, named or flawed, it is the lock as it is.
/// Divergences are those that the lock did not have before.
/// Unsupported for a lock that does not say which machines it is for; NotFound for names in `free`
/// that it does not have; Unsatisfiable where what is left of a version will not do, with the
/// reason, and with what may then have another version.
Result<LockedClasses> repair(Context& context,
                             const LockFile& lock,
                             const std::vector<GonePackage>& gone,
                             const RepairOptions& options);

}  // namespace gpkg::cli
