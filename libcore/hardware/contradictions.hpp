#pragma once

// Packages of one environment that do not go together though their records allow it.

#include "libcore/spec/package_record.hpp"

#include <string>
#include <vector>

namespace gpkg {

/// In a line each: packages that were made for different major versions of a toolkit, or for
/// releases that do not go together, and GPU builds that extend a framework (is_framework) of which
/// there is a build for CPUs. Empty where all goes together.
std::vector<std::string> contradictions_in(const std::vector<PackageRecord>& records);

}  // namespace gpkg
