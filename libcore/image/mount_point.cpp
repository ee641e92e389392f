#include "libcore/fs/file_system.hpp"
#include "libcore/image/mount_point_internal.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace gpkg {
namespace {

using namespace std::chrono_literals;

/// The sticky bit says nothing of a folder that its owner alone writes to: it tells what gpkg made,
/// also to who ends later than the one that made it.
constexpr mode_t kMade = S_ISVTX | 0755;

bool is_made_by_this_user(const fs::path& folder) {
    struct stat status {};
    return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == ::geteuid() && (status.st_mode & S_ISVTX) != 0 &&
           (status.st_mode & 022U) == 0;
}

Descriptor open_to_lock(const fs::path& folder) {
    return Descriptor(
        ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
}

/// False while others hold it otherwise. What knows no locks is locked.
bool lock_folder(const Descriptor& folder, int how, std::chrono::milliseconds patience) {
    for (auto waited = 0ms;; waited += 5ms) {
        if (::flock(folder.get(), how | LOCK_NB) == 0 || errno != EWOULDBLOCK) return true;
        if (waited >= patience) return false;
        std::this_thread::sleep_for(5ms);
    }
}

/// Locked against those who use it; nothing where there are any.
std::optional<Descriptor> claim(const fs::path& folder, std::chrono::milliseconds patience) {
    auto opened = open_to_lock(folder);
    // Who cannot open it cannot have locked it.
    if (!opened) return Descriptor();
    if (!lock_folder(opened, LOCK_EX, patience) || !is_at(opened, folder)) return std::nullopt;
    return opened;
}

/// Another image may be mounted there, which is then in the way of a lock.
bool is_mounted_over(const fs::path& place) {
    struct stat here {};
    struct stat above {};
    return ::stat(place.c_str(), &here) == 0 && ::stat(place.parent_path().c_str(), &above) == 0 &&
           here.st_dev != above.st_dev;
}

tl::unexpected<Error> not_for_this_user(const fs::path& folder, std::string_view why) {
    return fail(
        ErrorKind::Unsupported,
        fmt::format("{}: not usable as the mount point of the image: {}", folder.native(), why));
}

/// False where a folder was taken away meanwhile.
Result<bool> make_folders_to(const fs::path& place) {
    fs::path folder;
    for (const auto& part : place) {
        folder /= part;
        struct stat status {};
        if (::lstat(folder.c_str(), &status) == 0) continue;
        if (errno == ENOENT && make_folder(folder, kMade)) continue;
        if (errno == EEXIST) continue;
        if (errno == ENOENT) return false;
        // The last: what served a mount there is gone.
        const bool is_forbidden =
            errno == EACCES || errno == EPERM || errno == EROFS || errno == ENOTCONN;
        if (!is_forbidden) return pass(io_error(folder, "make the mount point", errno));
        return not_for_this_user(folder, fmt::format("cannot create it: {}", std::strerror(errno)));
    }
    return true;
}

/// What somebody else could put elsewhere is no place for programs; nor do links of others lead to
/// one.
Result<void> check_owners(const fs::path& place) {
    fs::path folder;
    for (const auto& part : place) {
        folder /= part;
        struct stat status {};
        if (::lstat(folder.c_str(), &status) != 0) return {};
        if (!is_ours(status) && (S_ISLNK(status.st_mode) || folder == place))
            return not_for_this_user(folder, "it does not belong to you or root");
        if (folder == place && !S_ISDIR(status.st_mode))
            return fail(
                ErrorKind::Conflict,
                fmt::format("{}: the mount point of the image is not a folder", folder.native()));
    }
    return {};
}

}  // namespace

bool is_ours(const struct stat& status) {
    return status.st_uid == 0 || status.st_uid == ::geteuid();
}

bool is_trusted(const struct stat& status) {
    const bool is_open = (status.st_mode & 022U) != 0 && (status.st_mode & S_ISVTX) == 0;
    return S_ISDIR(status.st_mode) && is_ours(status) && !is_open;
}

bool is_at(const Descriptor& open, const fs::path& path) {
    struct stat opened {};
    struct stat named {};
    return ::fstat(open.get(), &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

bool make_folder(const fs::path& folder, mode_t mode) {
    if (::mkdir(folder.c_str(), mode) != 0) return false;
    // Another may have its name already, where anybody may rename.
    const auto made = open_to_lock(folder);
    struct stat status {};
    if (made && ::fstat(made.get(), &status) == 0 && status.st_uid == ::geteuid())
        ::fchmod(made.get(), mode);
    return true;
}

Result<MountPoint> MountPoint::take(const fs::path& place) {
    for (int tries = 0; tries < 200; ++tries) {
        GPKG_CHECK(check_owners(place));
        const auto is_made = make_folders_to(place);
        if (!is_made) remove_mount_point(place);
        if (!is_made) return pass(is_made.error());
        if (!*is_made) continue;
        GPKG_CHECK(check_owners(place));
        // The lock is on the folder above where only that can be had: who removes asks for both.
        const auto lockable = is_mounted_over(place) ? place.parent_path() : place;
        auto point = hold(lockable);
        if (!is_there(place)) continue;
        if (point.held_ && !is_at(point.held_, lockable)) continue;
        point.place_ = place;
        return point;
    }
    // In /proc folders cannot be made either, and the system says the same of that.
    return fail(
        ErrorKind::Conflict,
        fmt::format(
            "{}: cannot create the mount point of the image, or another process keeps removing it",
            place.native()),
        "build the image with another --mount-point");
}

MountPoint MountPoint::hold(const fs::path& folder) {
    auto opened = open_to_lock(folder);
    // Nobody removes for long.
    if (opened) static_cast<void>(lock_folder(opened, LOCK_SH, 1s));
    return {{}, std::move(opened)};
}

MountPoint::~MountPoint() {
    if (place_.empty()) return;
    held_.close();
    remove_mount_point(place_);
}

void remove_mount_point(const fs::path& place) {
    // Other machines may use them there, which no lock tells for certain.
    if (is_on_shared_file_system(place)) return;
    auto path = nearest_existing(place);
    if (!is_made_by_this_user(path)) return;
    auto claimed = claim(path, 0ms);
    while (claimed && is_made_by_this_user(path)) {
        const auto above = path.parent_path();
        auto next = claim(above, 100ms);
        if (!next || ::rmdir(path.c_str()) != 0) return;
        claimed = std::move(next);
        path = above;
    }
}

}  // namespace gpkg
