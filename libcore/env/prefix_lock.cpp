#include "libcore/env/prefix_lock.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace gpkg {
namespace {

using Clock = std::chrono::steady_clock;

/// The lock file may have been removed by its holder between our opening and our locking it.
bool still_there(int descriptor, const fs::path& file) {
    struct stat ours {};
    struct stat named {};
    return ::fstat(descriptor, &ours) == 0 && ::stat(file.c_str(), &named) == 0 &&
           ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

/// flock is missing (Lustre without -o flock, odd FUSE mounts) or its server is (NFS).
bool cannot_lock(int code) {
    return code == ENOLCK || code == ENOSYS || code == EOPNOTSUPP || code == EINVAL;
}

void write_holder(int descriptor) {
    const auto text = this_process() + "\n";
    // On a full disk the lock holds all the same; it is only nameless.
    if (::ftruncate(descriptor, 0) != 0) return;
    [[maybe_unused]] const auto written = ::pwrite(descriptor, text.data(), text.size(), 0);
}

}  // namespace

std::string this_process() {
    char host[256] = "";
    if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
    return fmt::format("process {} on {}", ::getpid(), host[0] != '\0' ? host : "this machine");
}

std::string lock_holder(const fs::path& prefix) {
    const auto text = read_file(prefix / "conda-meta" / ".gpkg-lock");
    return text ? std::string(trim(*text)) : std::string();
}

Result<PrefixLock> PrefixLock::acquire(const fs::path& prefix, const LockWait& how) {
    const auto until = Clock::now() + how.patience;
    bool told = false;
    PrefixLock lock;
    lock.file_ = prefix / "conda-meta" / ".gpkg-lock";
    GPKG_CHECK(make_folders(lock.file_.parent_path()));
    auto pause = std::chrono::milliseconds(5);
    for (;;) {
        lock.descriptor_ =
            ::open(lock.file_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (lock.descriptor_ < 0 && errno == ENOENT)
            return fail(
                ErrorKind::Conflict,
                fmt::format("{}: made or removed by another process meanwhile", prefix.native()),
                "run the command again");
        if (lock.descriptor_ < 0 && (errno == ENOSPC || errno == EDQUOT)) {
            // What frees space must work; nobody else has a lock, nor can make one.
            lock.warning_ = fmt::format(
                "{}: there is no room for its lock file: another gpkg at "
                "work on this environment would not be noticed",
                prefix.native());
            return lock;
        }
        if (lock.descriptor_ < 0)
            return pass(io_error(lock.file_, "open the lock of the environment", errno));
        if (::flock(lock.descriptor_, LOCK_EX | LOCK_NB) == 0) {
            if (still_there(lock.descriptor_, lock.file_)) {
                write_holder(lock.descriptor_);
                return lock;
            }
        } else if (cannot_lock(errno)) {
            lock.warning_ = fmt::format(
                "{}: the file system cannot lock ({}): another gpkg at work on this environment "
                "would not be noticed",
                prefix.native(),
                std::strerror(errno));
            return lock;
        }
        ::close(std::exchange(lock.descriptor_, -1));
        if (Clock::now() >= until) break;
        if (how.cancelled && how.cancelled()) return fail(ErrorKind::Interrupted, "interrupted");
        if (how.waiting && !told) {
            told = true;
            how.waiting(lock_holder(prefix));
        }
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, std::chrono::milliseconds(200));
    }
    const auto holder = lock_holder(prefix);
    return fail(
        ErrorKind::Conflict,
        fmt::format(
            "{}: in use by {}", prefix.native(), holder.empty() ? "another process" : holder),
        "wait until it has ended and run the command again");
}

bool PrefixLock::is_held(const fs::path& prefix) {
    const auto file = prefix / "conda-meta" / ".gpkg-lock";
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    const bool held = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(descriptor);
    return held;
}

PrefixLock::PrefixLock(PrefixLock&& other) noexcept
    : file_(std::exchange(other.file_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      warning_(std::exchange(other.warning_, {})) {}

PrefixLock& PrefixLock::operator=(PrefixLock&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(warning_, other.warning_);
    return *this;
}

PrefixLock::~PrefixLock() { release(); }

void PrefixLock::moved_to(const fs::path& prefix) { file_ = prefix / "conda-meta" / ".gpkg-lock"; }

void PrefixLock::release() {
    if (descriptor_ < 0) return;
    // Removed while still held: who waits sees that the file is gone and makes a new one.
    if (still_there(descriptor_, file_)) ::unlink(file_.c_str());
    ::close(std::exchange(descriptor_, -1));
}

}  // namespace gpkg
