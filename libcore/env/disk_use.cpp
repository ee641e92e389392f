#include "libcore/env/disk_use.hpp"

#include <set>
#include <sys/stat.h>
#include <utility>

namespace gpkg {

std::vector<DiskUse> disk_use(const fs::path& prefix, const std::vector<PrefixRecord>& records) {
    std::set<std::pair<dev_t, ino_t>> counted;
    std::vector<DiskUse> uses;
    uses.reserve(records.size());
    for (const auto& record : records) {
        DiskUse use;
        for (const auto& file : record.files) {
            struct stat status {};
            if (::lstat((prefix / file).c_str(), &status) != 0) {
                ++use.missing;
                continue;
            }
            if (S_ISDIR(status.st_mode)) continue;
            ++use.files;
            // Of most files the store has the other name, not the environment.
            if (status.st_nlink > 1 && !counted.emplace(status.st_dev, status.st_ino).second)
                continue;
            use.bytes += static_cast<std::uint64_t>(status.st_size);
        }
        uses.push_back(use);
    }
    return uses;
}

}  // namespace gpkg
