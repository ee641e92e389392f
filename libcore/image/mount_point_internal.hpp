#pragma once

// The folder that an image is mounted over. In a namespace of its own a mount does not keep others
// from taking away the folder below it, with which it goes: a lock on the folder does.

#include "libcore/base/error.hpp"
#include "libcore/fs/descriptor.hpp"
#include "libcore/fs/file.hpp"

#include <sys/stat.h>
#include <utility>

namespace gpkg {

/// Of root's or of this user's.
bool is_ours(const struct stat& status);

/// And nobody else may write to it, or nobody may take others' from it: who can replace a folder
/// above the programs can replace these.
bool is_trusted(const struct stat& status);

/// mkdir(2), but with this mode whatever the umask.
bool make_folder(const fs::path& folder, mode_t mode);

/// Whether it is still the one that has this name.
bool is_at(const Descriptor& open, const fs::path& path);

/// Not taken away by any gpkg while this is there, made where it was not. Afterwards what gpkg made
/// is gone, unless others still use it: then it goes with the last of this user's.
class MountPoint {
public:
    /// Unsupported where this user cannot make it, and where it is another user's: then only a
    /// private view has it.
    static Result<MountPoint> take(const fs::path& place);
    /// One that is there already.
    static MountPoint hold(const fs::path& folder);

    MountPoint(MountPoint&& other) noexcept
        : place_(std::exchange(other.place_, {})), held_(std::move(other.held_)) {}
    MountPoint& operator=(MountPoint&&) = delete;
    MountPoint(const MountPoint&) = delete;
    MountPoint& operator=(const MountPoint&) = delete;
    ~MountPoint();

private:
    MountPoint(fs::path place, Descriptor held)
        : place_(std::move(place)), held_(std::move(held)) {}
    fs::path place_;
    Descriptor held_;
};

/// The folders that gpkg made for this user to mount there, as far as nobody uses them.
void remove_mount_point(const fs::path& place);

}  // namespace gpkg
