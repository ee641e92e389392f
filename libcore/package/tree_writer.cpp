#include "libcore/base/prefix_path.hpp"
#include "libcore/base/text.hpp"
#include "libcore/package/tree_writer_internal.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>

namespace gpkg {
namespace {

constexpr std::size_t kLongestPath = 4000;  // PATH_MAX with room for the folder
constexpr std::uint64_t kMostNameBytes = std::uint64_t{512} << 20U;
constexpr std::size_t kMostOpenFolders = 64;

const char* leaf_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return path.c_str() + (slash == std::string::npos ? 0 : slash + 1);
}

void hash_zeros(Hasher& hasher, std::uint64_t count) {
    static const std::string zeros(65536, '\0');
    while (count > 0) {
        const auto piece = std::min<std::uint64_t>(count, zeros.size());
        hasher.update(std::string_view(zeros).substr(0, piece));
        count -= piece;
    }
}

/// Payload in info/ that takes nothing over: no metadata file, nor a folder or link of its name.
bool may_accompany(std::string_view path, MemberKind kind) {
    if (path == "info") return kind == MemberKind::Directory;
    path.remove_prefix(5);
    return !is_metadata(path.substr(0, path.find('/')));
}

/// Times beyond what a file system holds are dropped; they are no reason to refuse a package.
void keep_time(int fd, const Member& member) {
    const timespec time{static_cast<time_t>(member.mtime),
                        std::clamp(member.mtime_nanoseconds, 0L, 999999999L)};
    const timespec times[2] = {time, time};
    ::futimens(fd, times);
}

/// Whether there was that much left.
bool take(std::atomic<std::uint64_t>& left, std::uint64_t count) {
    auto now = left.load();
    while (now >= count) {
        if (left.compare_exchange_weak(now, now - count)) return true;
    }
    return false;
}

tl::unexpected<Error> beyond(const std::string& archive, const Allowance& allowance) {
    return fail(ErrorKind::Conflict,
                fmt::format("{}: unpacking exceeds {}", archive, allowance.bounds),
                "the environment was not changed; gpkg clean --packages removes packages that were "
                "already unpacked");
}

mode_t mode_of(const Member& member) { return member.executable ? 0755U : 0644U; }

/// A new file; the umask takes its part of the mode.
int create_file(int folder, const char* leaf, const Member& member) {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    return ::openat(folder, leaf, kFlags, mode_of(member));
}

Result<void> copy_bytes(int from, int to, std::string_view name) {
    std::string buffer(std::size_t{256} << 10U, '\0');
    for (;;) {
        const auto count = ::read(from, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return pass(io_error(name, "read", errno));
        if (count == 0) return {};
        if (!write_fully(to, std::string_view(buffer).substr(0, static_cast<std::size_t>(count))))
            return pass(io_error(name, "write", errno));
    }
}

}  // namespace

TreeWriter::TreeWriter(Descriptor root,
                       std::string archive,
                       const UnpackOptions& options,
                       const SharedModes& modes)
    : root_(std::move(root)),
      archive_(std::move(archive)),
      options_(options),
      modes_(modes),
      byte_limit_(options.limits.bytes) {}

TreeWriter::~TreeWriter() {
    if (!options_.allowance) return;
    options_.allowance->bytes += taken_bytes_;
    options_.allowance->inodes += taken_inodes_;
}

tl::unexpected<Error> TreeWriter::refused(const Member& member, std::string_view why) const {
    return fail(
        ErrorKind::Integrity,
        fmt::format("{}: refused: member \"{}\" {}", archive_, printable(member.path), why));
}

tl::unexpected<Error> TreeWriter::failed(const Member& member, int code) const {
    const auto path = clean_relative(member.path);
    for (auto part = path; code == EEXIST && !part.empty(); part = parent_of(part)) {
        for (const auto& [other, made] : made_) {
            if (other == part || to_lower(other) != to_lower(part)) continue;
            return fail(ErrorKind::Unsupported,
                        fmt::format("{}: \"{}\" and \"{}\" differ only in the case of letters, "
                                    "which this file system ignores",
                                    archive_,
                                    printable(other),
                                    printable(part)),
                        "move the root prefix (GPKG_ROOT_PREFIX) to a file system that "
                        "distinguishes them");
        }
    }
    return pass(io_error(fmt::format("{}: member \"{}\"", archive_, printable(member.path)),
                         "unpack",
                         code == ENOENT ? EIO : code));  // the folder was taken away meanwhile
}

Result<void> TreeWriter::check_cancelled() const {
    if (!options_.cancelled || !options_.cancelled()) return {};
    return fail(ErrorKind::Interrupted, archive_ + ": unpacking was interrupted");
}

Result<void> TreeWriter::count_bytes(std::uint64_t bytes) {
    if (bytes > byte_limit_ - totals_.bytes)
        return fail(
            ErrorKind::Integrity,
            fmt::format("{}: refused: unpacks to more than {} bytes", archive_, byte_limit_));
    totals_.bytes += bytes;
    const auto& allowance = options_.allowance;
    if (allowance && !take(allowance->bytes, bytes)) return beyond(archive_, *allowance);
    taken_bytes_ += bytes;
    return {};
}

Result<void> TreeWriter::count_inode() {
    const auto& allowance = options_.allowance;
    if (allowance && !take(allowance->inodes, 1)) return beyond(archive_, *allowance);
    ++taken_inodes_;
    return {};
}

Result<std::string> TreeWriter::checked_path(const Member& member) {
    auto path = clean_relative(member.path);
    if (member.path.empty()) return refused(member, "has no name");
    if (!is_safe_relative(member.path)) return refused(member, "leads outside of the folder");
    if (path.size() > kLongestPath) return refused(member, "has a name that is too long");
    name_bytes_ += path.size();
    if (totals_.entries >= options_.limits.entries || name_bytes_ > kMostNameBytes)
        return fail(ErrorKind::Integrity,
                    fmt::format("{}: refused: more than {} members", archive_, totals_.entries));
    const bool in_info = path == "info" || path.starts_with("info/");
    if (member.part == Part::Payload && in_info && !may_accompany(path, member.kind))
        return refused(member, "is payload in the place of metadata");
    // cph puts the payload's empty folders beside the metadata.
    if (member.part == Part::Info && !in_info && member.kind != MemberKind::Directory)
        return refused(member, "is metadata outside of info/");
    return path;
}

Result<void> TreeWriter::add(const Member& member, const ReadContent& read) {
    GPKG_CHECK(check_cancelled());
    GPKG_TRY(const auto path, checked_path(member));
    ++totals_.entries;
    if (member.kind != MemberKind::File) GPKG_CHECK(count_bytes(member.size));  // is jumped over
    if (path.empty()) {                                                         // "./"
        if (member.kind == MemberKind::Directory) return {};
        return refused(member, "replaces the folder");
    }
    if (member.kind == MemberKind::Directory) return make_folder(path, member);
    if (path == "info/repodata_record.json") {  // the channel's word, not the package's
        warn(warnings(), archive_ + ": ignored info/repodata_record.json");
        return {};
    }
    if (made_.contains(path)) return refused(member, "is in the archive twice");
    if (member.set_id && member.kind == MemberKind::File)
        warn(totals_.lost_set_id, printable(path));
    switch (member.kind) {
    case MemberKind::File: return make_file(path, member, read);
    case MemberKind::SoftLink: return make_soft_link(path, member);
    case MemberKind::HardLink: return make_hard_link(path, member);
    default: return refused(member, "is not a file, link or folder");
    }
}

Result<void> TreeWriter::make_folder(const std::string& path, const Member& member) {
    if (path.empty()) return {};
    if (const auto found = made_.find(path); found != made_.end()) {
        if (found->second.type == PathType::Directory) return {};
        return refused(
            member, fmt::format("needs the folder \"{}\", which is not a folder", printable(path)));
    }
    GPKG_TRY(const int parent, folder_of(path, member));
    GPKG_CHECK(count_inode());
    if (::mkdirat(parent, leaf_of(path), modes_.folder()) != 0) return failed(member, errno);
    if (const int code = modes_.settle_folder(parent, leaf_of(path)); code != 0)
        return failed(member, code);
    made_[path].type = PathType::Directory;
    return {};
}

/// The open folder that `path` lies in, made where it is missing.
Result<int> TreeWriter::folder_of(const std::string& path, const Member& member) {
    const auto parent = parent_of(path);
    if (parent.empty()) return root_.get();
    if (const auto found = open_folders_.find(parent); found != open_folders_.end())
        return found->second.get();
    GPKG_CHECK(make_folder(parent, member));
    auto folder = open_below(root_.get(), parent, O_RDONLY | O_DIRECTORY);
    if (!folder) return failed(member, errno);
    if (open_folders_.size() >= kMostOpenFolders) open_folders_.clear();
    return open_folders_.emplace(parent, std::move(folder)).first->second.get();
}

Result<void> TreeWriter::make_file(const std::string& path,
                                   const Member& member,
                                   const ReadContent& read) {
    GPKG_TRY(const int folder, folder_of(path, member));
    GPKG_CHECK(count_inode());
    Descriptor file(create_file(folder, leaf_of(path), member));
    if (!file) return failed(member, errno);
    if (const int code = modes_.settle_file(file.get(), mode_of(member)); code != 0)
        return failed(member, code);
    auto& made = made_[path];
    const bool hashed = options_.verify && !path.starts_with("info/");
    GPKG_CHECK(fill(file.get(), made, member, read, hashed));
    keep_time(file.get(), member);
    if (!file.close()) return failed(member, errno);
    return {};
}

Result<void> TreeWriter::fill(
    int fd, MadePath& made, const Member& member, const ReadContent& read, bool hashed) {
    Hasher hasher(DigestKind::Sha256);
    const auto skip_to = [&](std::uint64_t offset) -> Result<void> {
        GPKG_CHECK(count_bytes(offset - made.size));
        if (hashed) hash_zeros(hasher, offset - made.size);
        made.size = offset;
        if (::lseek(fd, static_cast<off_t>(offset), SEEK_SET) < 0) return failed(member, errno);
        return {};
    };
    const auto put = [&](std::uint64_t offset, std::string_view block) -> Result<void> {
        GPKG_CHECK(check_cancelled());
        if (offset < made.size) return refused(member, "has overlapping content");
        if (offset > made.size) GPKG_CHECK(skip_to(offset));
        GPKG_CHECK(count_bytes(block.size()));
        if (!write_fully(fd, block)) return failed(member, errno);
        if (hashed) hasher.update(block);
        made.size += block.size();
        return {};
    };
    GPKG_CHECK(read(put));
    if (member.size > made.size) {  // a hole at the end
        GPKG_CHECK(skip_to(member.size));
        if (::ftruncate(fd, static_cast<off_t>(made.size)) != 0) return failed(member, errno);
    }
    if (hashed) made.sha256 = std::move(hasher).hex();
    return {};
}

Result<void> TreeWriter::make_soft_link(const std::string& path, const Member& member) {
    if (member.link.empty()) return refused(member, "is a symbolic link without a target");
    GPKG_TRY(const int folder, folder_of(path, member));
    GPKG_CHECK(count_inode());
    if (::symlinkat(member.link.c_str(), folder, leaf_of(path)) != 0) return failed(member, errno);
    made_[path].type = PathType::SoftLink;
    return {};
}

Result<void> TreeWriter::make_hard_link(const std::string& path, const Member& member) {
    const auto target = clean_relative(member.link);
    const auto found = made_.find(target);
    if (!is_safe_relative(member.link) || found == made_.end() ||
        found->second.type != PathType::HardLink)
        return refused(
            member,
            fmt::format("is a hard link to \"{}\", which is not an earlier file of the archive",
                        printable(member.link)));
    const auto made = found->second;
    GPKG_TRY(const int folder, folder_of(path, member));
    const auto source = open_below(root_.get(), target, O_RDONLY);
    if (!source) return failed(member, errno);
    // folder_of() may close the target's folder again: it is named from the root, whose parts
    // open_below() has just found to be folders of ours.
    if (::linkat(root_.get(), target.c_str(), folder, leaf_of(path), 0) != 0) {
        Descriptor copy(create_file(folder, leaf_of(path), member));
        if (!copy || modes_.settle_file(copy.get(), mode_of(member)) != 0)
            return failed(member, errno);
        GPKG_CHECK(count_inode());
        GPKG_CHECK(count_bytes(made.size));
        GPKG_CHECK(copy_bytes(source.get(), copy.get(), archive_));
        keep_time(copy.get(), member);
        if (!copy.close()) return failed(member, errno);
    }
    made_[path] = made;
    return {};
}

}  // namespace gpkg
