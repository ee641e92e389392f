#include "libcore/build/folder_lock.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace gpkg {

Result<FolderLock> FolderLock::take(const fs::path& file, const std::string& what) {
    FolderLock lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (lock.descriptor_ < 0)
        return fail(ErrorKind::Io,
                    fmt::format("{}: cannot open: {}", file.native(), std::strerror(errno)));
    if (::flock(lock.descriptor_, LOCK_EX | LOCK_NB) == 0) return lock;
    if (errno == EWOULDBLOCK)
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: another run of gpkg is building it", what));
    lock.warning_ = fmt::format(
        "{}: the file system cannot lock ({}): another gpkg building the same would not be noticed",
        file.native(),
        std::strerror(errno));
    return lock;
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      warning_(std::exchange(other.warning_, {})) {}

FolderLock::~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace gpkg
