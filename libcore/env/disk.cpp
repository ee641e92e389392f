#include "libcore/env/disk_internal.hpp"
#include "libcore/fs/file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <system_error>
#include <unistd.h>

namespace gpkg {
namespace {

int result_of(int returned) { return returned == 0 ? 0 : errno; }

int copy_bytes(int from, int to) {
    static constexpr std::size_t kPiece = std::size_t{1} << 18;
    std::string piece(kPiece, '\0');
    for (;;) {
        const auto count = ::read(from, piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno;
        if (count == 0) return 0;
        if (!write_fully(to, {piece.data(), static_cast<std::size_t>(count)})) return errno;
    }
}

/// What open(2) is to make of a mode. Where no mode can be set later, this is what the file has.
mode_t mode_to_create(mode_t mode) { return (mode & 0777U) | 0600U; }

}  // namespace

/// File systems without modes (CIFS, FUSE) refuse to set one, and have their own for every file.
/// That is good enough where the owner may do what the mode allows.
int Disk::set_mode(int file, mode_t mode) {
    if (::fchmod(file, mode) == 0) return 0;
    const int code = errno;
    struct stat status {};
    const bool refused = code == EPERM || code == EOPNOTSUPP || code == ENOSYS || code == EINVAL;
    if (!refused || ::fstat(file, &status) != 0 || (mode & 0700U & ~status.st_mode) != 0)
        return code;
    *refused_modes_ = true;
    return 0;
}

/// Permission bits and times of `from`. The times keep shipped .pyc files valid.
int Disk::copy_properties(int from, int to) {
    struct stat status {};
    if (::fstat(from, &status) != 0) return errno;
    if (const int code = set_mode(to, status.st_mode & 07777); code != 0) return code;
    const std::array<timespec, 2> times{status.st_atim, status.st_mtim};
    return result_of(::futimens(to, times.data()));
}

Result<Disk> Disk::open(const fs::path& prefix, FaultHook fault) {
    GPKG_TRY(auto root, open_folder(prefix));
    return Disk(std::move(root), prefix, std::move(fault));
}

int Disk::announce(std::string_view change, const fs::path& path) const {
    return fault_ ? fault_(change, path) : 0;
}

int Disk::before(std::string_view change, const std::string& path) const {
    return fault_ ? fault_(change, prefix_ / path) : 0;
}

int Disk::make_folder(const std::string& path) {
    if (const int code = before("make folder", path); code != 0) return code;
    return result_of(::mkdirat(root(), path.c_str(), 0777));
}

int Disk::remove_folder(const std::string& path) {
    if (const int code = before("remove folder", path); code != 0) return code;
    return result_of(::unlinkat(root(), path.c_str(), AT_REMOVEDIR));
}

int Disk::remove(const std::string& path) {
    if (const int code = before("remove", path); code != 0) return code;
    return result_of(::unlinkat(root(), path.c_str(), 0));
}

int Disk::rename(const std::string& from, const std::string& to) {
    if (const int code = before("rename", from); code != 0) return code;
    return result_of(::renameat(root(), from.c_str(), root(), to.c_str()));
}

int Disk::symlink(const std::string& target, const std::string& path) {
    if (const int code = before("soft link", path); code != 0) return code;
    return result_of(::symlinkat(target.c_str(), root(), path.c_str()));
}

int Disk::hard_link(int source, const std::string& from, const std::string& path) {
    if (const int code = before("hard link", path); code != 0) return code;
    return result_of(::linkat(source, from.c_str(), root(), path.c_str(), 0));
}

int Disk::reflink(int source, const std::string& from, const std::string& path) {
    if (const int code = before("reflink", path); code != 0) return code;
    const Descriptor in(::openat(source, from.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!in) return errno;
    Descriptor out(::openat(root(), path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!out) return errno;
    int code = result_of(::ioctl(out.get(), FICLONE, in.get()));
    if (code == 0) code = copy_properties(in.get(), out.get());
    if (!out.close() && code == 0) code = errno;
    if (code != 0) ::unlinkat(root(), path.c_str(), 0);
    return code;
}

int Disk::copy(int source, const std::string& from, const std::string& path) {
    if (const int code = before("copy", path); code != 0) return code;
    const Descriptor in(::openat(source, from.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!in) return errno;
    struct stat status {};
    if (::fstat(in.get(), &status) != 0) return errno;
    Descriptor out(::openat(root(),
                            path.c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                            mode_to_create(status.st_mode)));
    if (!out) return errno;
    if (const int code = before("copy into", path); code != 0) return code;
    int code = copy_bytes(in.get(), out.get());
    if (code == 0) code = copy_properties(in.get(), out.get());
    if (!out.close() && code == 0) code = errno;
    return code;
}

int Disk::copy_changed(int source,
                       const std::string& from,
                       const std::string& path,
                       const std::vector<ByteChange>& changes,
                       mode_t mode) {
    if (const int code = before("write", path); code != 0) return code;
    const Descriptor in(::openat(source, from.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!in) return errno;
    Descriptor out(::openat(
        root(), path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_to_create(mode)));
    if (!out) return errno;
    if (const int code = before("write into", path); code != 0) return code;
    int code = copy_bytes(in.get(), out.get());
    for (const auto& change : changes) {
        if (code != 0) break;
        code = ::lseek(out.get(), static_cast<off_t>(change.at), SEEK_SET) < 0 ? errno : 0;
        if (code == 0 && !write_fully(out.get(), change.bytes)) code = errno;
    }
    if (code == 0) code = set_mode(out.get(), mode);
    if (!out.close() && code == 0) code = errno;
    return code;
}

int Disk::write(const std::string& path, std::string_view bytes, mode_t mode) {
    return write_pieces(path, mode, [&](const Put& put) { return put(bytes); });
}

int Disk::write_pieces(const std::string& path,
                       mode_t mode,
                       const std::function<int(const Put& put)>& fill) {
    if (const int code = before("write", path); code != 0) return code;
    Descriptor out(::openat(
        root(), path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_to_create(mode)));
    if (!out) return errno;
    if (const int code = before("write into", path); code != 0) return code;
    int code =
        fill([&](std::string_view piece) { return write_fully(out.get(), piece) ? 0 : errno; });
    if (code == 0) code = set_mode(out.get(), mode);
    if (!out.close() && code == 0) code = errno;
    return code;
}

int Disk::write_durably(const std::string& path, std::string_view bytes) {
    const auto temporary = path + ".tmp";
    if (const int code = before("write", temporary); code != 0) return code;
    Descriptor out(
        ::openat(root(), temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!out) return errno;
    if (const int code = before("write into", temporary); code != 0) return code;
    int code = write_fully(out.get(), bytes) ? 0 : errno;
    if (code == 0) code = result_of(::fsync(out.get()));
    if (!out.close() && code == 0) code = errno;
    if (code == 0) code = rename(temporary, path);
    if (code != 0) ::unlinkat(root(), temporary.c_str(), 0);
    return code;
}

int Disk::remove_tree(const std::string& path) {
    if (const int code = before("remove tree", path); code != 0) return code;
    std::error_code code;
    fs::remove_all(prefix_ / path, code);
    return code.value();
}

int Disk::look(const std::string& path, struct stat& status) const {
    return result_of(::fstatat(root(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW));
}

Result<bool> Disk::exists(const std::string& path) const {
    struct stat status {};
    const int code = look(path, status);
    if (code == 0 || is_absent(code)) return code == 0;
    return pass(error(path, "access", code));
}

}  // namespace gpkg
