#include "libcore/build/folder_lock.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

namespace gpkg {

Result<FolderLock> FolderLock::take(const fs::path& file, const std::string& what) {
    FolderLock lock(Descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)));
    if (!lock.descriptor_) return pass(io_error(file, "open", errno));
    if (::flock(lock.descriptor_.get(), LOCK_EX | LOCK_NB) == 0) return lock;
    if (errno == EWOULDBLOCK)
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: another run of gpkg is building it", what),
                    "wait for that one, or build elsewhere: --output-dir, --work-dir");
    lock.warning_ = fmt::format(
        "{}: the file system cannot lock ({}): another gpkg building the same would not be noticed",
        file.native(),
        std::strerror(errno));
    return lock;
}

}  // namespace gpkg
