#include "libcore/fs/file_system.hpp"

#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>

namespace gpkg {
namespace {

struct Kind {
    std::string_view type;
    std::string_view title;
};

/// Types that several machines may have mounted at once.
constexpr auto kShared = std::to_array<Kind>({
    {"9p", "9P"},
    {"acfs", "ACFS"},
    {"afs", "AFS"},
    {"beegfs", "BeeGFS"},
    {"ceph", "CephFS"},
    {"cifs", "SMB"},
    {"coda", "Coda"},
    {"cvfs", "StorNext"},
    {"dvs", "DVS"},
    {"fhgfs", "BeeGFS"},
    {"gfs2", "GFS2"},
    {"glusterfs", "GlusterFS"},
    {"gpfs", "GPFS (Spectrum Scale)"},
    {"lustre", "Lustre"},
    {"ncpfs", "NCP"},
    {"nfs", "NFS"},
    {"nfs4", "NFS"},
    {"ocfs2", "OCFS2"},
    {"orangefs", "OrangeFS"},
    {"panfs", "PanFS"},
    {"pvfs2", "OrangeFS"},
    {"smb3", "SMB"},
    {"smbfs", "SMB"},
    {"virtiofs", "virtiofs"},
    {"wekafs", "WekaFS"},
});

/// FUSE file systems whose files are on this machine; all others may be a server's.
constexpr auto kLocalFuse = std::to_array<std::string_view>({
    "bindfs",
    "encfs",
    "fuse-overlayfs",
    "fuse2fs",
    "gocryptfs",
    "lxcfs",
    "mergerfs",
    "ntfs-3g",
    "squashfuse",
    "squashfuse_ll",
    "unionfs",
});
constexpr auto kFuse = std::to_array<Kind>({
    {"ceph-fuse", "CephFS"},
    {"cvmfs2", "CVMFS"},
    {"glusterfs", "GlusterFS"},
    {"sshfs", "SSHFS"},
});

template <typename List>
std::string title_in(const List& list, std::string_view type) {
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const Kind& kind) { return kind.type == type; });
    return found == list.end() ? std::string() : std::string(found->title);
}

void judge(FileSystem& system) {
    const std::string_view type = system.type;
    if (type == "fuse" || type.starts_with("fuse.")) {
        // CVMFS has no type of its own, and names itself as what is mounted.
        const auto kind = type == "fuse" ? std::string_view(system.source) : type.substr(5);
        system.title = title_in(kFuse, kind);
        if (system.title.empty()) system.title = fmt::format("FUSE ({})", kind);
        system.is_shared =
            std::find(kLocalFuse.begin(), kLocalFuse.end(), kind) == kLocalFuse.end();
        return;
    }
    system.title = title_in(kShared, type);
    system.is_shared = !system.title.empty();
    if (!system.is_shared) system.title = type;
}

/// Spaces and the like are "\040" there.
std::string without_escapes(std::string_view text) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '7'; };
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size() && is_digit(text[i + 1]) &&
            is_digit(text[i + 2]) && is_digit(text[i + 3])) {
            plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                       (text[i + 3] - '0'));
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

bool is_below(const fs::path& path, const fs::path& folder) {
    const auto [in_folder, in_path] =
        std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    return in_folder == folder.end() || (*in_folder).empty();
}

std::optional<bool> is_shared_by_mounts(const fs::path& path) {
    const auto mounts = read_file("/proc/self/mountinfo");
    const auto system = mounts ? file_system_in(*mounts, path) : std::nullopt;
    return system ? std::optional(system->is_shared) : std::nullopt;
}

/// "rw,user_id=1000,group_id=1000" of the kernel's FUSE.
std::optional<unsigned> fuse_user_in(std::string_view options) {
    constexpr std::string_view kUser = "user_id=";
    for (const auto option : split(options, ',')) {
        if (!option.starts_with(kUser)) continue;
        if (const auto user = whole_number<unsigned>(option.substr(kUser.size()))) return user;
    }
    return std::nullopt;
}

}  // namespace

std::string shared_types() {
    std::string types;
    for (const auto& kind : kShared)
        types += fmt::format("{}{}", types.empty() ? "" : " ", kind.type);
    return types;
}

std::string local_fuse_types() { return fmt::format("{}", fmt::join(kLocalFuse, " ")); }

fs::path nearest_existing(fs::path path) {
    std::error_code code;
    while (!fs::exists(path, code) && path.has_relative_path()) path = path.parent_path();
    return path.empty() ? fs::path(".") : path;
}

bool is_full(const fs::path& folder) {
    constexpr std::uintmax_t kLittle = std::uintmax_t{1} << 20U;
    std::error_code code;
    const auto space = fs::space(nearest_existing(folder), code);
    return !code && space.available < kLittle;
}

Result<void> check_writable_folder(const fs::path& folder) {
    const auto there = nearest_existing(folder);
    std::error_code code;
    if (!fs::is_directory(there, code)) return pass(io_error(there, "create files there", ENOTDIR));
    if (::faccessat(AT_FDCWD, there.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return {};
    return pass(io_error(there, "create files there", errno));
}

std::vector<FileSystem> file_systems_in(std::string_view mounts) {
    std::vector<FileSystem> found;
    // "36 35 98:0 /in/it /mounted/at rw,noatime master:1 - ext4 /dev/sda1 rw"
    for (const auto line : split(mounts, '\n')) {
        const auto words = split(line, ' ');
        const auto dash = std::find(words.begin(), words.end(), "-");
        if (words.size() < 5 || words.end() - dash < 3) continue;
        auto& system = found.emplace_back();
        system.type = *(dash + 1);
        system.number = words[2];
        system.source = without_escapes(*(dash + 2));
        system.mount_point = without_escapes(words[4]);
        if (words.end() - dash > 3) system.fuse_user = fuse_user_in(*(dash + 3));
        judge(system);
    }
    return found;
}

std::optional<FileSystem> file_system_in(std::string_view mounts, const fs::path& path) {
    std::optional<FileSystem> found;
    for (auto& system : file_systems_in(mounts)) {
        // Of mounts at one place the last is what is seen.
        const auto length = system.mount_point.native().size();
        if (is_below(path, system.mount_point) &&
            (!found || length >= found->mount_point.native().size()))
            found = std::move(system);
    }
    return found;
}

FileSystem file_system_of(const fs::path& path) {
    std::error_code code;
    auto there = fs::canonical(nearest_existing(path), code);
    if (code) there = path;
    const auto mounts = read_file("/proc/self/mountinfo");
    if (mounts) {
        if (auto system = file_system_in(*mounts, there)) return *std::move(system);
    }
    FileSystem unknown;
    unknown.type = unknown.title = "unknown";
    unknown.mount_point = "/";
    unknown.is_shared = is_on_shared_file_system(there);
    return unknown;
}

std::optional<bool> is_shared_kind(unsigned long magic) {
    switch (magic & 0xffffffffUL) {
    case 0x0BD00BD0UL:  // Lustre
    case 0x47504653UL:  // GPFS
    case 0x19830326UL:  // BeeGFS
    case 0x00c36400UL:  // CephFS
    case 0x6969UL:      // NFS
    case 0x517BUL:      // SMB
    case 0xFF534D42UL:  // CIFS
    case 0xFE534D42UL:  // SMB2
    case 0x5346414FUL:  // AFS (OpenAFS)
    case 0x6B414653UL:  // AFS (the kernel's)
    case 0xaad7aaeaUL:  // PanFS
    case 0x20030528UL:  // OrangeFS
    case 0x01021997UL:  // 9P
    case 0x01161970UL:  // GFS2
    case 0x7461636fUL:  // OCFS2
    case 0x61636673UL:  // ACFS
    case 0x73757245UL:  // Coda
    case 0xBEEFDEADUL:  // StorNext
        return true;
    case 0xEF53UL:      // ext2 to ext4
    case 0x58465342UL:  // XFS
    case 0x9123683eUL:  // btrfs
    case 0xca451a4eUL:  // bcachefs
    case 0x01021994UL:  // tmpfs
    case 0x858458f6UL:  // ramfs
    case 0x794c7630UL:  // overlayfs
    case 0x2fc12fc1UL:  // ZFS
    case 0xF2F52010UL:  // F2FS
    case 0x73717368UL:  // squashfs
        return false;
    default: return std::nullopt;
    }
}

bool is_on_shared_file_system(const Descriptor& file) {
    struct statfs system {};
    if (::fstatfs(file.get(), &system) != 0) return false;
    if (const auto known = is_shared_kind(static_cast<unsigned long>(system.f_type))) return *known;
    std::error_code code;
    const auto path = fs::read_symlink(fmt::format("/proc/self/fd/{}", file.get()), code);
    return !code && is_shared_by_mounts(path).value_or(false);
}

bool is_on_shared_file_system(const fs::path& path) {
    const auto there = nearest_existing(path);
    struct statfs system {};
    if (::statfs(there.c_str(), &system) != 0) return false;
    if (const auto known = is_shared_kind(static_cast<unsigned long>(system.f_type))) return *known;
    std::error_code code;
    const auto real = fs::canonical(there, code);
    return !code && is_shared_by_mounts(real).value_or(false);
}

}  // namespace gpkg
