#include "libcore/image/image_mount.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/file_system.hpp"
#include "libcore/image/image_copy.hpp"
#include "libcore/image/image_users_internal.hpp"
#include "libcore/image/mount_point_internal.hpp"
#include "libcore/image/squashfs_mount_internal.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <thread>
#include <unistd.h>

namespace gpkg {
namespace {

constexpr std::string_view kSource = "gpkg:";

/// What is mounted somewhere.
struct Mount {
    fs::path place;
    std::string content;  ///< of an image of gpkg's; else empty
    std::string what;     ///< for a person
    bool is_fuse = false;
};

/// The file behind a loop device; as the kernel has it, " (deleted)" stands behind one that is
/// gone.
std::string file_of_loop(const fs::path& device) {
    const auto file =
        read_file(fmt::format("/sys/block/{}/loop/backing_file", device.filename().native()));
    return file ? std::string(trim(*file)) : std::string();
}

/// "gpkg:CONTENT" of squashfuse, or a loop device that has an image. The device has it also when
/// another file has taken its name, but only root may read devices.
std::string content_of(std::string_view type, const std::string& source) {
    if (source.starts_with(kSource)) return source.substr(kSource.size());
    if (type != "squashfs" || !source.starts_with("/dev/loop")) return {};
    for (const auto& file : {source, file_of_loop(source)}) {
        if (const auto info = read_image_info(file)) return info->content;
    }
    return {};
}

std::optional<Mount> mounted_at(const fs::path& place) {
    const auto mounts = read_file("/proc/self/mountinfo");
    const auto system = mounts ? file_system_in(*mounts, place) : std::nullopt;
    if (!system || system->mount_point != place) return std::nullopt;
    // What another user's program shows may be anything, whatever it is called.
    const bool is_of_others = system->fuse_user && *system->fuse_user != 0 &&
                              *system->fuse_user != static_cast<unsigned>(::geteuid());
    const auto file = system->source.starts_with("/dev/loop") ? file_of_loop(system->source) : "";
    return Mount{place,
                 is_of_others ? "" : content_of(system->type, system->source),
                 file.empty() ? system->source : file,
                 system->type.starts_with("fuse")};
}

/// Contents of all images that are mounted.
std::set<std::string> contents_mounted() {
    std::set<std::string> contents;
    const auto mounts = read_file("/proc/self/mountinfo").value_or("");
    for (const auto& system : file_systems_in(mounts)) {
        auto content = content_of(system.type, system.source);
        if (!content.empty()) contents.insert(std::move(content));
    }
    return contents;
}

bool may_unmount() { return ::geteuid() == 0; }

/// For users the one with the right to mount FUSE.
std::string fuse_program() {
    for (const auto* name : {"fusermount3", "fusermount"}) {
        if (!find_program(name).empty()) return name;
    }
    return {};
}

/// 0, EBUSY, or what else stands in the way, as text.
Result<void> unmount(const fs::path& place, bool lazily) {
    if (may_unmount()) {
        if (::umount2(place.c_str(), lazily ? MNT_DETACH : 0) == 0) return {};
        return pass(
            errno == EBUSY
                ? Error{ErrorKind::Conflict, fmt::format("{}: in use", place.native()), {}, {}}
                : io_error(place, "unmount", errno));
    }
    ProcessCommand command;
    command.arguments = {fuse_program(), "-u"};
    if (command.arguments.front().empty())
        return fail(ErrorKind::NotFound,
                    "fusermount3 is not on PATH",
                    "install FUSE, which users need to mount images");
    if (lazily) command.arguments.emplace_back("-z");
    command.arguments.push_back(place.native());
    GPKG_TRY(const auto done, run_and_capture(command));
    if (done.exit_code == 0) return {};
    return fail(done.output.find("busy") != std::string::npos ? ErrorKind::Conflict : ErrorKind::Io,
                fmt::format("{}: {}", place.native(), last_lines(done.output, 1)));
}

/// A mount whose server was killed. What stat(2) asks is remembered, this is not.
Result<void> clear_stale(const fs::path& place) {
    struct statfs system {};
    if (::statfs(place.c_str(), &system) == 0 || (errno != ENOTCONN && errno != EIO)) return {};
    return unmount(place, true);
}

Result<void> check_trusted_way(const fs::path& place) {
    fs::path above;
    for (const auto& part : place) {
        above /= part;
        struct stat status {};
        if (::lstat(above.c_str(), &status) != 0)
            return errno == ENOENT ? Result<void>() : pass(io_error(above, "access", errno));
        // Into the last one others may put what they like: the image lies over it.
        if (above == place) status.st_mode &= ~mode_t{022};
        if (!is_trusted(status))
            return fail(
                ErrorKind::Unsupported,
                fmt::format(
                    "{}: other users can change this folder, so nothing is mounted below it",
                    above.native()));
    }
    return {};
}

/// What is in a folder would be covered without a word, for everybody.
Result<void> check_empty(const fs::path& place) {
    std::error_code code;
    const bool is_empty = fs::is_empty(place, code);
    if (code) return pass(io_error(place, "list", code.value()));
    if (is_empty) return {};
    return fail(ErrorKind::Conflict,
                fmt::format("{}: not empty; the image would hide its contents", place.native()),
                "move the contents, or build the image with another --mount-point");
}

/// Whether this user sees what is mounted there.
Result<void> check_seen(const fs::path& place) {
    struct stat status {};
    if (::stat(place.c_str(), &status) == 0 || errno != EACCES) return {};
    fs::path folder;
    for (const auto& part : place.parent_path()) {
        folder /= part;
        if (::access(folder.c_str(), X_OK) == 0) continue;
        return fail(
            ErrorKind::Conflict,
            fmt::format("{}: no permission to enter this folder, below which the image is mounted",
                        folder.native()),
            "ask its owner for chmod a+x, or build the image with a mount point that all users can "
            "reach");
    }
    return fail(
        ErrorKind::Conflict,
        fmt::format("{}: mounted by another user, who is the only one to see it", place.native()),
        "build the image with a mount point for each user, or let root mount it for all users");
}

/// Held while a mount is made or taken away. With it goes the folder of its users where there are
/// none.
class Turn {
public:
    static Result<Turn> take(const fs::path& folder, const std::function<bool()>& cancelled);
    Turn(Turn&&) noexcept = default;
    Turn& operator=(Turn&&) = delete;
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn();

private:
    Turn(fs::path file, Descriptor held) : file_(std::move(file)), held_(std::move(held)) {}
    fs::path file_;
    Descriptor held_;
};

Result<Turn> Turn::take(const fs::path& folder, const std::function<bool()>& cancelled) {
    const auto file = folder / "lock";
    constexpr int kMostTries = 3000;
    for (int i = 0; i < kMostTries; ++i) {
        // Who had it last may just take it away.
        for (const auto& made : {folder.parent_path(), folder}) {
            if (::mkdir(made.c_str(), 0755) != 0 && errno != EEXIST)
                return pass(io_error(made, "make the folder", errno));
        }
        Descriptor held(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
        if (!held && errno != ENOENT) return pass(io_error(file, "open", errno));
        if (held && (::flock(held.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
            is_at(held, file))
            return Turn(file, std::move(held));
        if (cancelled && cancelled()) return fail(ErrorKind::Interrupted, "interrupted");
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return fail(ErrorKind::Conflict,
                fmt::format("{}: timed out waiting for another process that mounts an image",
                            folder.native()));
}

Turn::~Turn() {
    if (!held_) return;
    std::error_code code;
    for (fs::directory_iterator entry(file_.parent_path(), code), end; !code && entry != end;
         entry.increment(code)) {
        if (entry->path() != file_) return;
    }
    if (code) return;
    ::unlink(file_.c_str());
    ::rmdir(file_.parent_path().c_str());
}

Result<void> by_squashfuse(const fs::path& file, const fs::path& place, std::string_view content) {
    GPKG_TRY(const auto program, usable_squashfuse());
    if (!may_unmount() && fuse_program().empty())
        return fail(ErrorKind::Unsupported, "fusermount3 is not on PATH");
    ProcessCommand command;
    // It goes on by itself once the mount is there.
    command.arguments = {
        program.native(),
        "-o",
        fmt::format("ro,nodev,nosuid,subtype=squashfuse,fsname={}{}", kSource, content),
        file.native(),
        place.native()};
    command.folder = "/";
    GPKG_TRY(const auto done, run_and_capture(command));
    if (done.exit_code == 0 && mounted_at(place)) return {};
    const auto said = last_lines(done.output, 1);
    return fail(ErrorKind::Unsupported,
                fmt::format("squashfuse: {}", said.empty() ? "cannot mount it" : said));
}

Result<void> mount(const fs::path& file, const fs::path& place, std::string_view content) {
    std::string reasons;
    if (may_unmount()) {
        auto done = mount_by_kernel(file, place);
        if (done) return {};
        reasons = done.error().message + "; ";
    }
    auto done = by_squashfuse(file, place, content);
    if (done) return {};
    return fail(ErrorKind::Unsupported,
                fmt::format("{}: cannot mount it at {}: {}{}",
                            file.native(),
                            place.native(),
                            reasons,
                            done.error().message),
                "users need squashfuse, fusermount3 and access to /dev/fuse");
}

/// At a place that is fit for it.
Result<void> mount_at(const fs::path& place, const fs::path& file, std::string_view content) {
    GPKG_CHECK(check_trusted_way(place));
    GPKG_TRY(const auto folder, MountPoint::take(place));
    GPKG_CHECK(check_empty(place));
    return mount(file, place, content);
}

/// The file to mount: the image itself where it lies on a disk of this machine.
Result<fs::path> file_to_mount(const fs::path& image,
                               const ImageInfo& info,
                               const ImageMountOptions& options) {
    if (options.disk.empty() && !is_on_shared_file_system(image)) return image;
    ImageCopyOptions how;
    how.disk = options.disk.empty() ? options.temporary : options.disk;
    how.in_use = contents_mounted();
    how.note = options.note;
    how.cancelled = options.cancelled;
    if (options.disk.empty() && is_on_shared_file_system(how.disk)) return image;
    auto copy = local_copy(image, info, how);
    if (copy) return copy;
    // Slower, but right; a damaged image is neither.
    const auto kind = copy.error().kind;
    if (kind == ErrorKind::Integrity || kind == ErrorKind::Interrupted) return copy;
    if (options.note)
        options.note(
            fmt::format("{}: used without a local copy: {}", image.native(), copy.error().message));
    return image;
}

tl::unexpected<Error> taken(const Mount& there, const std::vector<std::string>& users) {
    if (there.content.empty())
        return fail(
            ErrorKind::Conflict,
            fmt::format(
                "{}: {} is mounted here and is not a gpkg image", there.place.native(), there.what),
            "whoever mounted it can unmount it");
    return fail(ErrorKind::Conflict,
                fmt::format("{}: another image is mounted here, in use by {}",
                            there.place.native(),
                            fmt::join(users, ", ")),
                "try again when those have ended");
}

/// Whether another image makes room for this one.
Result<void> check_may_go(const Mount& there,
                          const ImageUsers& users,
                          const ImageMountOptions& options) {
    const auto others = users.living(options.shell);
    if (there.content.empty() || !others.empty()) return taken(there, others);
    return {};
}

}  // namespace

Result<ImageMount> mount_image(const fs::path& image,
                               const ImageInfo& info,
                               const ImageMountOptions& options) {
    const auto& place = info.mount_point;
    GPKG_CHECK(check_not_of_system(place));
    std::error_code code;
    const auto file = fs::canonical(image, code);
    if (code) return pass(io_error(image, "open", code.value()));
    GPKG_TRY(auto users, ImageUsers::at(place));
    ImageMount use{file, true};
    auto there = mounted_at(place);
    if (there && there->content != info.content) GPKG_CHECK(check_may_go(*there, users, options));
    // Not while the lock is held: that takes time.
    if (!there || there->content != info.content) {
        GPKG_TRY(use.file, file_to_mount(file, info, options));
    }
    GPKG_TRY(const auto turn, Turn::take(users.folder(), options.cancelled));
    GPKG_CHECK(clear_stale(place));
    there = mounted_at(place);
    if (there && there->content != info.content) {
        GPKG_CHECK(check_may_go(*there, users, options));
        GPKG_CHECK(unmount(place, false));
        there.reset();
    }
    if (there) GPKG_CHECK(check_seen(place));
    // Before: what cannot be noted is not to stay mounted.
    GPKG_CHECK(users.add(options.shell));
    if (!there) {
        use.was_mounted = false;
        auto mounted = mount_at(place, use.file, info.content);
        if (!mounted) users.remove(options.shell);
        GPKG_CHECK(mounted);
    }
    return use;
}

Result<ImageUnmount> unmount_image(const fs::path& mount_point, pid_t shell) {
    GPKG_TRY(auto users, ImageUsers::at(mount_point));
    GPKG_TRY(const auto turn, Turn::take(users.folder(), {}));
    users.remove(shell);
    GPKG_CHECK(clear_stale(mount_point));
    const auto there = mounted_at(mount_point);
    if (!there) {
        remove_mount_point(mount_point);
        return ImageUnmount{};
    }
    ImageUnmount left{true, false, {}};
    left.is_roots = !there->is_fuse && !may_unmount();
    if (left.is_roots) return left;
    if (there->content.empty()) return taken(*there, {});
    left.users = users.living(shell);
    if (!left.users.empty()) return left;
    auto done = unmount(mount_point, false);
    if (!done && done.error().kind != ErrorKind::Conflict) return pass(std::move(done).error());
    if (!done) left.users.emplace_back("a process with an open file in it");
    if (done) remove_mount_point(mount_point);
    return left;
}

Result<void> check_not_of_system(const fs::path& mount_point) {
    static const std::set<std::string> of_system = {"bin",
                                                    "boot",
                                                    "dev",
                                                    "etc",
                                                    "lib",
                                                    "lib32",
                                                    "lib64",
                                                    "libx32",
                                                    "proc",
                                                    "root",
                                                    "run",
                                                    "sbin",
                                                    "sys",
                                                    "tmp",
                                                    "usr",
                                                    "var"};
    const auto way = mount_point.relative_path();
    if (!way.empty() && !of_system.contains(way.begin()->native())) return {};
    fs::path folder;
    for (const auto& part : mount_point.parent_path()) {
        folder /= part;
        struct stat status {};
        if (::stat(folder.c_str(), &status) != 0) break;
        if (status.st_uid != 0 || (status.st_mode & 01002U) == 01002U) return {};
    }
    return fail(
        ErrorKind::Unsupported,
        fmt::format("{}: a system folder, where images cannot be mounted", mount_point.native()),
        "build the image with another --mount-point");
}

Result<void> check_users_can_mount(const fs::path& mount_point) {
    GPKG_CHECK(check_not_of_system(mount_point));
    std::error_code code;
    if (fs::is_directory(mount_point, code)) {
        if (mounted_at(mount_point)) return {};
        return check_empty(mount_point);
    }
    const auto above = nearest_existing(mount_point);
    struct stat status {};
    if (::stat(above.c_str(), &status) == 0) {
        const bool is_for_all = (status.st_mode & 01002U) == 01002U;
        const bool is_own = ::geteuid() != 0 && ::access(above.c_str(), W_OK | X_OK) == 0;
        if (S_ISDIR(status.st_mode) && (is_for_all || is_own)) return {};
    }
    return fail(
        ErrorKind::Unsupported,
        fmt::format("{}: users cannot create this mount point of the image: {} is not writable for "
                    "all users (mode 1777)",
                    mount_point.native(),
                    above.native()),
        "for all users: create the folder as root on every machine; for you alone: build the image "
        "with --mount-point /tmp/ml-$USER (your shell replaces $USER by your name)");
}

}  // namespace gpkg
