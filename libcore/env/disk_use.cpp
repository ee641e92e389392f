#include "libcore/env/disk_use.hpp"

#include <sys/stat.h>

namespace gpkg {

std::vector<DiskUse> disk_use(const fs::path& prefix,
                              const std::vector<PrefixRecord>& records,
                              SeenFiles* seen) {
    SeenFiles counted;
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
            const bool is_linked = status.st_nlink > 1;
            if (is_linked && !counted.emplace(status.st_dev, status.st_ino).second) continue;
            const auto size = static_cast<std::uint64_t>(status.st_size);
            use.bytes += size;
            const bool is_new =
                seen == nullptr || !is_linked || seen->emplace(status.st_dev, status.st_ino).second;
            if (is_new) use.added_bytes += size;
        }
        uses.push_back(use);
    }
    return uses;
}

}  // namespace gpkg
