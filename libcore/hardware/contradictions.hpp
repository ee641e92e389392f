#pragma once

// Packages of one environment that do not go together though their records allow it.

#include "libcore/spec/package_record.hpp"

#include <string>
#include <vector>

namespace gpkg {

/// "pyg" "2.0.4 is a CUDA build and cannot be used with pytorch 1.11.0, a CPU build"
struct Contradiction {
    std::string subject;  ///< a toolkit or a package
    std::string message;
    std::vector<std::string> packages;  ///< that contradict each other
    bool is_certain = true;  ///< else they fail only where they load each other's libraries
};

/// Packages that were made for releases of a toolkit that do not go together, and GPU builds that
/// extend a framework (is_framework) of which there is a build for CPUs.
std::vector<Contradiction> contradictions_in(const std::vector<PackageRecord>& records);

}  // namespace gpkg
