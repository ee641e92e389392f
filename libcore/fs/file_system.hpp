#pragma once

// Which file system a path is on, and whether other machines see it too. Locks of a shared one
// depend on a server that may be missing or hang, and each small file costs it a round trip.

#include "libcore/base/error.hpp"
#include "libcore/fs/descriptor.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct FileSystem {
    std::string type;   ///< as the system's list of mounts has it: "ext4", "nfs4", "fuse.sshfs"
    std::string title;  ///< for a person: "ext4", "NFS", "Lustre"
    bool is_shared = false;  ///< other machines may see it as well
    fs::path mount_point;
    std::string source;                   ///< a device, or a server's name of it
    std::optional<unsigned> fuse_user{};  ///< whose program answers for it, where one does
    std::string number{};                 ///< "8:1": the same wherever it is mounted
};

/// Of a path that need not be there yet.
FileSystem file_system_of(const fs::path& path);

/// All of a text such as /proc/self/mountinfo, in its order.
std::vector<FileSystem> file_systems_in(std::string_view mounts);

/// The same in a text such as /proc/self/mountinfo, for a path without links in it.
std::optional<FileSystem> file_system_in(std::string_view mounts, const fs::path& path);

/// The same question by what statfs(2) calls the file system; nothing where that does not tell:
/// every FUSE file system has one number.
std::optional<bool> is_shared_kind(unsigned long magic);

/// The types that are shared, and of FUSE's those that are not (without "fuse."), with blanks
/// between: for a script that has to judge on another machine.
std::string shared_types();
std::string local_fuse_types();

/// Quick, for those that are about to lock. False where the system does not tell.
bool is_on_shared_file_system(const Descriptor& file);
bool is_on_shared_file_system(const fs::path& path);

/// The path, or the folder above it that is there.
fs::path nearest_existing(fs::path path);

/// Whether next to nothing has room on its disk: programs tell that in words of their own, or not.
bool is_full(const fs::path& folder);

/// Fails where this user could not make files in a folder, which need not be there yet.
Result<void> check_writable_folder(const fs::path& folder);

}  // namespace gpkg
