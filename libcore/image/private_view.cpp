#include "libcore/fs/descriptor.hpp"
#include "libcore/image/mount_point_internal.hpp"
#include "libcore/image/private_view_internal.hpp"
#include "libcore/image/squashfs_mount_internal.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gpkg {
namespace {

constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV;

tl::unexpected<Error> cannot_show(const fs::path& entry, int code) {
    const auto why =
        code == ENOSPC ? "too many entries to mount (fs.mount-max)" : std::strerror(code);
    return fail(ErrorKind::Unsupported,
                fmt::format("{}: cannot be shown next to the image: {}", entry.native(), why),
                "build the image with a --mount-point in a folder with few entries");
}

/// Puts every entry of the current folder but one into what covers it, which is in memory.
Result<void> take_over(const fs::path& into, const fs::path& but) {
    std::error_code code;
    for (fs::directory_iterator entry(".", code), end; !code && entry != end;
         entry.increment(code)) {
        const auto& from = entry->path();
        if (from.filename() == but) continue;
        const auto to = into / from.filename();
        std::error_code failed;
        if (entry->is_symlink(failed)) {
            fs::create_symlink(fs::read_symlink(from, failed), to, failed);
            if (failed && is_there(from)) return cannot_show(to, failed.value());
            continue;
        }
        const bool is_folder = entry->is_directory(failed);
        const bool is_made =
            is_folder ? ::mkdir(to.c_str(), 0755) == 0
                      : bool(Descriptor(::open(to.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644)));
        if (!is_made) return cannot_show(to, errno);
        if (::mount(from.c_str(), to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0) continue;
        // It is gone meanwhile, or the system shows it nowhere else: not even its name then.
        if (errno != ENOENT && errno != EINVAL) return cannot_show(to, errno);
        static_cast<void>(is_folder ? ::rmdir(to.c_str()) : ::unlink(to.c_str()));
    }
    if (code) return cannot(fmt::format("cannot list the folder of {}", (into / but).native()));
    return {};
}

Result<void> mount_in_memory(const fs::path& folder) {
    if (::mount("gpkg", folder.c_str(), "tmpfs", kFlags, "mode=755") == 0) return {};
    return cannot("cannot mount a tmpfs");
}

constexpr const char* kOldRoot = "/.gpkg-old-root";

/// A root is not mounted over, but exchanged: this process is in the old one then.
Result<void> exchange_root() {
    GPKG_CHECK(mount_in_memory("/tmp"));
    const auto old = std::string("/tmp") + kOldRoot;
    if (::mkdir(old.c_str(), 0755) != 0 || ::syscall(SYS_pivot_root, "/tmp", old.c_str()) != 0 ||
        ::chdir(kOldRoot) != 0)
        return cannot("cannot make a private root");
    return {};
}

/// From the folder that is the current one and was `view.top`, the way to the place: what is beside
/// it on the way comes along.
Result<void> lay_way(const PrivateView& view) {
    auto into = view.top;
    bool was_there = true;
    for (const auto& part : view.place.lexically_relative(view.top)) {
        struct stat status {};
        if (was_there) {
            GPKG_CHECK(take_over(into, part));
            if (::stat(".", &status) == 0) ::chmod(into.c_str(), status.st_mode & 07777U);
        }
        into /= part;
        if (::mkdir(into.c_str(), 0755) != 0) return cannot("cannot create the mount point");
        was_there = was_there && ::chdir(part.c_str()) == 0;
    }
    return {};
}

}  // namespace

PrivateView private_view_for(const fs::path& place) {
    PrivateView view;
    bool is_trusted_so_far = true;
    fs::path folder;
    for (const auto& part : place.parent_path()) {
        folder /= part;
        struct stat status {};
        // What this user may not enter cannot be shown either.
        if (::lstat(folder.c_str(), &status) != 0 || ::access(folder.c_str(), X_OK) != 0) break;
        is_trusted_so_far = is_trusted_so_far && is_trusted(status);
        if (is_trusted_so_far || folder == "/") view = {folder, place, {}, true};
        if (::access(folder.c_str(), W_OK) != 0) continue;
        view.is_readonly = false;
        if (folder != "/" && view.open.empty()) view.open = folder;
    }
    return view;
}

Result<void> enter_view(const PrivateView& view) {
    const bool is_root = view.top == "/";
    const Descriptor here(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
    std::error_code ignored;
    const auto named = fs::current_path(ignored);
    if (is_root) {
        GPKG_CHECK(exchange_root());
    } else {
        if (::chdir(view.top.c_str()) != 0) return cannot(view.top.native());
        GPKG_CHECK(mount_in_memory(view.top));
    }
    GPKG_CHECK(lay_way(view));
    if (is_root) {
        static_cast<void>(::chdir("/"));
        if (::umount2(kOldRoot, MNT_DETACH) != 0) return cannot("cannot leave the old root");
        ::rmdir(kOldRoot);
    }
    // What could not be written before is not to be lost with the view now.
    if (view.is_readonly)
        static_cast<void>(::mount(nullptr,
                                  view.top.c_str(),
                                  nullptr,
                                  MS_REMOUNT | MS_BIND | MS_RDONLY | kFlags,
                                  nullptr));
    // By its name where the root is another one, else where it was: also in what is covered now.
    if (is_root)
        fs::current_path(named, ignored);
    else if (::fchdir(here.get()) != 0)
        return cannot("cannot return to the current folder");
    return {};
}

}  // namespace gpkg
