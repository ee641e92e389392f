#include "libcore/package/files_internal.hpp"
#include "libcore/package/store.hpp"

#include <cerrno>
#include <map>
#include <system_error>

namespace gpkg {

Result<FolderUsage> folder_usage(const fs::path& folder) {
    struct Inode {
        std::uint64_t names_here = 0;
        std::uint64_t names = 0;
        std::uint64_t bytes = 0;
    };
    std::map<std::pair<dev_t, ino_t>, Inode> shared;  // files with several names
    FolderUsage usage;
    const auto count = [&](const fs::path& path) {
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0) return;  // went away meanwhile
        constexpr std::uint64_t kBlock = 512;  // of st_blocks, whatever the file system's are
        const auto bytes = static_cast<std::uint64_t>(status.st_blocks) * kBlock;
        if (S_ISREG(status.st_mode) && status.st_nlink > 1) {
            auto& inode = shared[{status.st_dev, status.st_ino}];
            ++inode.names_here;
            inode.names = status.st_nlink;
            inode.bytes = bytes;
            return;
        }
        ++usage.files;
        usage.bytes += bytes;
        usage.freed_bytes += bytes;
    };

    std::error_code code;
    auto walk = fs::recursive_directory_iterator(folder, code);
    if (code) return pass(io_error(folder.native(), "list", code.value()));
    count(folder);
    for (; walk != fs::recursive_directory_iterator(); walk.increment(code)) {
        if (code) return pass(io_error(folder.native(), "list", code.value()));
        count(walk->path());
    }
    for (const auto& [key, inode] : shared) {
        ++usage.files;
        usage.bytes += inode.bytes;
        if (inode.names > inode.names_here) {
            ++usage.linked_files;
        } else {
            usage.freed_bytes += inode.bytes;
        }
    }
    return usage;
}

}  // namespace gpkg
