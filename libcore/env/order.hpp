#pragma once

// The order in which packages are linked where no solver gave one, and unlinked.

#include "libcore/env/prefix_record.hpp"

#include <cstddef>
#include <vector>

namespace gpkg {

/// The places of the records, dependencies first. Ties and the entry into cycles go by name.
std::vector<std::size_t> dependencies_first(const std::vector<PackageRecord>& records);

/// Installed packages in the order in which they may leave.
std::vector<PrefixRecord> dependents_first(std::vector<PrefixRecord> installed);

}  // namespace gpkg
