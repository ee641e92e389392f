#pragma once

// An image mounted where this user's shells see it, until none of them uses it: what the module of
// an image does when it is loaded and unloaded.

#include "libcore/image/image.hpp"

#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace gpkg {

struct ImageMountOptions {
    /// Folder of a disk of this machine that the image is brought to first. Empty: only where it
    /// lies on a file system that machines share, and then into `temporary`.
    fs::path disk{};
    fs::path temporary{};
    /// The shell that uses it from now on. 0: it stays until somebody has it unmounted.
    pid_t shell = 0;
    std::function<void(const std::string&)> note{};
    std::function<bool()> cancelled{};
};

struct ImageMount {
    fs::path file;             ///< what is mounted: the image or its copy
    bool was_mounted = false;  ///< by another shell
};

/// By squashfuse for a user, by the kernel for root, over an empty folder or one that is made for
/// it. What was left of a mount whose server is gone is cleared first. Conflict where another image
/// is used at its mount point, and where something else is in it.
Result<ImageMount> mount_image(const fs::path& image,
                               const ImageInfo& info,
                               const ImageMountOptions& options);

struct ImageUnmount {
    bool was_mounted = false;
    bool is_roots = false;             ///< root mounted it for all, and it stays
    std::vector<std::string> users{};  ///< "process 4711 (bash)": because of them it stays
};

/// `shell` uses what is mounted there no more, and neither does whoever had it mounted by hand, for
/// 0. Unmounts it where nobody else of this user does: no other shell that said so, and no process
/// that has it as its environment or has a file of it open.
Result<ImageUnmount> unmount_image(const fs::path& mount_point, pid_t shell);

/// The shell that a module system runs for, above this process; 0 where there is none.
pid_t shell_of_module_system();

/// That it is not where the system has what is its own, as in /etc, /usr and /run: an image says
/// itself where it belongs, and root would mount it there for all. Below a folder in which users
/// may make theirs, as /dev/shm, they could put anything anyway. Unsupported where it is.
Result<void> check_not_of_system(const fs::path& mount_point);

/// Whether users of a machine can mount something there: it is a folder, or can be made in one that
/// everybody, or this user, may write to. Unsupported, with what helps, where not.
Result<void> check_users_can_mount(const fs::path& mount_point);

}  // namespace gpkg
