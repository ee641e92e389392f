#pragma once

// Which class of a lock file a machine takes.

#include "libcore/lock/lock_file.hpp"
#include "libcore/spec/cascade.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg::cli {

/// How a class stands to a machine.
struct ClassFit {
    const LockedClass* locked = nullptr;
    std::vector<std::string> unmet;  ///< of its needs, and its platform
    bool is_for_gpu = false;         ///< it has builds for the GPU that is there
    Closeness closeness{};           ///< the closest that any of its packages is

    bool fits() const { return unmet.empty(); }
    /// "has builds for the GPU that is there": what puts it before the others.
    std::string advantage() const;
};

/// Every class of the default environment, the best first: those that fit; of those, with builds
/// for the GPU that is there; closer to the machine; with more needs; and then by name.
std::vector<ClassFit> fits_of(const LockFile& lock,
                              std::string_view platform,
                              const std::vector<PackageRecord>& virtual_packages);

}  // namespace gpkg::cli
