#include "libcore/env/prefix_lock.hpp"

#include "libcore/base/text.hpp"
#include "libcore/fs/file_system.hpp"
#include "libcore/fs/process_identity.hpp"
#include "libcore/fs/system_user.hpp"

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
Result<bool> still_there(int descriptor, const fs::path& file) {
    struct stat ours {};
    struct stat named {};
    if (::fstat(descriptor, &ours) == 0 && ::stat(file.c_str(), &named) == 0)
        return ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
    if (is_absent(errno)) return false;
    return pass(io_error(file, "access", errno));
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

fs::path lock_file(const fs::path& prefix) { return prefix / "conda-meta" / ".gpkg-lock"; }

bool is_claim_of_living(const fs::path& file) {
    const auto text = read_file(file);
    return text && is_claim(*text) && !is_claim_of_dead(*text);
}

tl::unexpected<Error> in_use(const fs::path& prefix) {
    const auto text = read_file(lock_file(prefix)).value_or("");
    const auto holder = claim_holder(text);
    auto hint = std::string("wait until it finishes, then run the command again");
    // Only the holder's own machine can tell that it is gone.
    if (is_claim(text))
        hint += fmt::format("; if it was killed or its machine failed, remove {}",
                            lock_file(prefix).native());
    return fail(
        ErrorKind::Conflict,
        fmt::format(
            "{}: in use by {}", prefix.native(), holder.empty() ? "another process" : holder),
        hint);
}

tl::unexpected<Error> not_changeable(const fs::path& prefix, int code) {
    struct stat status {};
    const auto owner =
        ::stat(prefix.c_str(), &status) == 0 ? system_user(status.st_uid) : std::nullopt;
    return fail(ErrorKind::Io,
                fmt::format("{}: you cannot change this environment{}: {}",
                            prefix.native(),
                            owner ? fmt::format(" (owner: {})", owner->name) : "",
                            std::strerror(code)),
                hint_on_own_copy(prefix));
}

bool is_refusal(int code) { return code == EACCES || code == EPERM || code == EROFS; }

}  // namespace

std::string hint_on_own_copy(const fs::path& prefix) {
    return fmt::format("to make your own copy: gpkg create -n NAME --clone {}",
                       shell_word(prefix.native()));
}

Result<void> check_may_change(const fs::path& prefix) {
    const auto folder = prefix / "conda-meta";
    if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0 || !is_refusal(errno))
        return {};
    return not_changeable(prefix, errno);
}

std::string lock_holder(const fs::path& prefix) {
    return claim_holder(read_file(lock_file(prefix)).value_or(""));
}

/// What opening or making the file met.
Result<PrefixLock::Outcome> PrefixLock::trouble(int code) {
    const auto prefix = file_.parent_path().parent_path();
    if (code == ENOENT)
        return fail(
            ErrorKind::Overtaken,
            fmt::format("{}: created or removed by another process meanwhile", prefix.native()),
            "run the command again");
    if (is_refusal(code)) return not_changeable(prefix, code);
    if (code != ENOSPC && code != EDQUOT)
        return pass(io_error(file_, "open the lock file of the environment", code));
    // What frees space must work; nobody else has a lock, nor can make one.
    warning_ = fmt::format(
        "{}: the disk is full, so the environment cannot be locked; do not run another gpkg "
        "command on it now",
        prefix.native());
    return Outcome::Held;
}

Result<PrefixLock::Outcome> PrefixLock::try_flock() {
    constexpr int kHow = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    Descriptor file(::open(file_.c_str(), kHow | O_EXCL, 0666));
    const bool is_new = static_cast<bool>(file);
    if (!file && errno == EEXIST) file = Descriptor(::open(file_.c_str(), kHow, 0666));
    if (!file) return trouble(errno);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        const int code = errno;
        if (code == EWOULDBLOCK || code == EINTR) return Outcome::Busy;
        if (is_new) ::unlink(file_.c_str());
        if (cannot_lock(code)) return Outcome::CannotLock;
        return pass(io_error(file_, "lock", code));
    }
    // Another machine has what is a disk here as a network file system.
    GPKG_TRY(const bool ours, still_there(file.get(), file_));
    if (!ours || is_claim_of_living(file_)) return Outcome::Busy;
    write_holder(file.get());
    locked_ = std::move(file);
    return Outcome::Held;
}

Result<PrefixLock::Outcome> PrefixLock::try_claim() {
    auto attempt = Claim::try_to_take(file_);
    if (attempt.error != 0) return trouble(attempt.error);
    claim_ = std::move(attempt.claim);
    return claim_ ? Outcome::Held : Outcome::Busy;
}

Result<PrefixLock> PrefixLock::acquire(const fs::path& prefix, const LockWait& how) {
    const auto until = Clock::now() + how.patience;
    bool told = false;
    PrefixLock lock(lock_file(prefix));
    GPKG_CHECK(make_folders(lock.file_.parent_path()));
    bool claims = is_on_shared_file_system(lock.file_.parent_path());
    auto pause = std::chrono::milliseconds(5);
    for (;;) {
        GPKG_TRY(const auto outcome, claims ? lock.try_claim() : lock.try_flock());
        if (outcome == Outcome::Held) return lock;
        if (outcome == Outcome::CannotLock) {
            claims = true;
            continue;
        }
        if (Clock::now() >= until) return in_use(prefix);
        if (how.cancelled && how.cancelled()) return fail(ErrorKind::Interrupted, "interrupted");
        if (how.waiting && !told) {
            told = true;
            how.waiting(lock_holder(prefix));
        }
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, std::chrono::milliseconds(200));
    }
}

bool PrefixLock::is_held(const fs::path& prefix) {
    const auto file = lock_file(prefix);
    const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened) return false;
    const auto text = read_file(file);
    if (text && is_claim(*text)) return !is_claim_of_dead(*text);
    // Nobody but a server of the file system would lock it.
    if (is_on_shared_file_system(opened)) return true;
    return ::flock(opened.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

PrefixLock::PrefixLock(PrefixLock&& other) noexcept
    : file_(std::exchange(other.file_, {})),
      locked_(std::move(other.locked_)),
      claim_(std::exchange(other.claim_, std::nullopt)),
      warning_(std::exchange(other.warning_, {})) {}

PrefixLock& PrefixLock::operator=(PrefixLock&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(locked_, other.locked_);
    std::swap(claim_, other.claim_);
    std::swap(warning_, other.warning_);
    return *this;
}

PrefixLock::~PrefixLock() { release(); }

void PrefixLock::moved_to(const fs::path& prefix) {
    file_ = lock_file(prefix);
    if (claim_) claim_->moved_to(file_);
}

void PrefixLock::release() {
    claim_.reset();
    if (!locked_) return;
    // Removed while still held: who waits sees that the file is gone and makes a new one.
    if (still_there(locked_.get(), file_).value_or(false)) ::unlink(file_.c_str());
    (void)locked_.close();
}

}  // namespace gpkg
