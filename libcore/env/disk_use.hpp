#pragma once

// What installed packages take on the disk.

#include "libcore/env/prefix_record.hpp"

#include <cstdint>
#include <vector>

namespace gpkg {

struct DiskUse {
    std::uint64_t bytes = 0;
    std::size_t files = 0;
    std::size_t missing = 0;  ///< that the record names and nobody finds
};

/// The lengths of the files that each record names, folders aside, as they lie in `prefix` now. Of
/// files that several names stand for (hard links within the environment) the first counts, so that
/// the sum is what `du --apparent-size` says of all of them. That the store may share them with
/// other environments is not looked at.
std::vector<DiskUse> disk_use(const fs::path& prefix, const std::vector<PrefixRecord>& records);

}  // namespace gpkg
