#pragma once

// What packages ask of a machine, together.

#include "libcore/spec/package_record.hpp"

#include <string>
#include <vector>

namespace gpkg {

/// The least that records ask of a machine: for each virtual package the range in which all that
/// they ask holds.
std::vector<std::string> least_needs(const std::vector<PackageRecord>& records);

}  // namespace gpkg
