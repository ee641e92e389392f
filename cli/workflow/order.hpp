#pragma once

// The order in which packages are linked where no solver gave one.

#include "libcore/spec/package_record.hpp"

#include <cstddef>
#include <vector>

namespace gpkg::cli {

/// The places of the records, dependencies first. Ties and the entry into cycles go by name.
std::vector<std::size_t> dependencies_first(const std::vector<PackageRecord>& records);

}  // namespace gpkg::cli
