#pragma once

// What installed packages take on the disk.

#include "libcore/env/prefix_record.hpp"

#include <cstdint>
#include <set>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace gpkg {

struct DiskUse {
    std::uint64_t bytes = 0;
    std::uint64_t added_bytes = 0;  ///< of `bytes`, those of files not seen before
    std::size_t files = 0;
    std::size_t missing = 0;  ///< that the record names and nobody finds
};

/// Device and inode of files with several hard links.
using SeenFiles = std::set<std::pair<dev_t, ino_t>>;

/// The lengths of the files that each record names, folders aside, as they lie in `prefix` now. Of
/// files that several names stand for (hard links within the environment) the first counts, so that
/// the sum is what `du --apparent-size` says of all of them. `seen`: the files of other
/// environments, which may be the same through hard links; those of this one are added.
std::vector<DiskUse> disk_use(const fs::path& prefix,
                              const std::vector<PrefixRecord>& records,
                              SeenFiles* seen = nullptr);

}  // namespace gpkg
