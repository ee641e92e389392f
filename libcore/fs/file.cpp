#include "libcore/fs/file.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/byte_source.hpp"
#include "libcore/fs/input_file_internal.hpp"
#include "libcore/fs/system_user.hpp"
#include "libcore/fs/temporary.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <zstd.h>

namespace gpkg {
namespace {

tl::unexpected<Error> io_failure(const fs::path& path,
                                 std::string_view doing,
                                 int code,
                                 std::string_view more = {}) {
    auto error = io_error(path, doing, code);
    error.message += more;
    return pass(std::move(error));
}

/// A device or a pipe would be replaced by a file.
Result<void> check_regular(const fs::path& path, const fs::file_status& status) {
    if (!fs::exists(status) || fs::is_regular_file(status)) return {};
    return fail(ErrorKind::Io,
                fmt::format("{}: exists and is not a regular file", path.native()),
                "choose another file");
}

}  // namespace

Result<std::string> read_file(const fs::path& path, std::size_t limit) {
    GPKG_TRY(auto file, InputFile::open(path));
    // Read until the end, whatever the size promises.
    std::string bytes;
    bytes.resize(file.size() + 1);
    std::size_t used = 0;
    for (;;) {
        if (used == bytes.size()) bytes.resize(bytes.size() + 65536);
        GPKG_TRY(const auto count, file.read(bytes.data() + used, bytes.size() - used));
        if (count == 0) break;
        used += count;
        if (limit > 0 && used > limit)
            return fail(ErrorKind::Usage,
                        fmt::format("{}: larger than {} MiB", path.native(), limit >> 20U));
    }
    bytes.resize(used);
    return bytes;
}

NewFile::NewFile(fs::path path, std::string temporary, Descriptor file)
    : path_(std::move(path)), temporary_(std::move(temporary)), file_(std::move(file)) {}

NewFile::~NewFile() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<NewFile> NewFile::make(fs::path path) {
    if (path.has_parent_path()) GPKG_CHECK(make_folders(path.parent_path()));
    // Not mkostemp: its files are the owner's alone, and the umask cannot be asked without changing
    // it for every thread.
    std::string temporary;
    Descriptor file;
    do {
        temporary = temporary_name(path);
        file = Descriptor(::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    } while (file ? !keep_from_removal(file) : errno == EEXIST);
    if (!file) return io_failure(path, "write", errno);
    return NewFile(std::move(path), std::move(temporary), std::move(file));
}

Result<void> NewFile::write(std::string_view bytes) {
    if (!write_fully(file_.get(), bytes)) return io_failure(path_, "write", errno);
    return {};
}

Result<void> NewFile::make_private() {
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0 || ::fchmod(file_.get(), 0600) != 0)
        return io_failure(path_, "set the permissions of", errno);
    mode_ = status.st_mode & 07777U;
    return {};
}

Result<void> NewFile::finish(bool to_disk) {
    if (mode_ && ::fchmod(file_.get(), *mode_) != 0)
        return io_failure(path_, "set the mode of", errno);
    // Closing tells, over NFS, whether the bytes arrived. A second descriptor is closed for that:
    // the mark of a living writer lasts as long as the first, and is needed until the file has its
    // name.
    Descriptor second(::dup(file_.get()));
    const bool done = (!to_disk || ::fsync(file_.get()) == 0) && second && second.close() &&
                      ::rename(temporary_.c_str(), path_.c_str()) == 0;
    if (!done) return io_failure(path_, "write", errno);
    (void)file_.close();
    temporary_.clear();
    return {};
}

fs::path behind_links(fs::path file) {
    constexpr int kMostLinks = 40;
    std::error_code ignored;
    for (int i = 0; i < kMostLinks && fs::is_symlink(file, ignored); ++i)
        file = file.parent_path() / fs::read_symlink(file, ignored);
    return file;
}

Result<void> check_replaceable(const fs::path& path,
                               std::string_view kind,
                               const std::function<bool(const fs::path&)>& is_of_kind) {
    std::error_code code;
    const auto status = fs::status(path, code);
    GPKG_CHECK(check_regular(path, status));
    if (!fs::exists(status) || fs::file_size(path, code) == 0 || is_of_kind(path)) return {};
    return fail(ErrorKind::Conflict,
                fmt::format("{}: exists and is not {}", path.native(), kind),
                "choose another file, or remove this one");
}

Result<void> write_file_atomically(const fs::path& path, std::string_view bytes) {
    std::error_code code;
    const auto status = fs::status(path, code);
    GPKG_CHECK(check_regular(path, status));
    GPKG_TRY(auto file, NewFile::make(path));
    // On file systems without modes there is none to keep.
    if (fs::exists(status))
        (void)::fchmod(file.fd(), static_cast<mode_t>(status.permissions()) & 07777U);
    GPKG_CHECK(file.write(bytes));
    return file.finish(true);
}

unsigned kept_from(const fs::path& path) {
    std::error_code code;
    const auto mode = fs::status(path, code).permissions();
    if (code || (mode & fs::perms::others_read) != fs::perms::none) return 0;
    return (mode & fs::perms::group_read) != fs::perms::none ? 007 : 077;
}

Result<bool> path_exists(const fs::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) == 0) return true;
    if (is_absent(errno)) return false;
    return io_failure(path, "access", errno);
}

bool is_there(const fs::path& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 || !(is_absent(errno) || errno == EACCES);
}

Result<std::vector<fs::path>> paths_in(const fs::path& folder) {
    std::vector<fs::path> paths;
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
         entry.increment(code))
        paths.push_back(entry->path());
    if (code && !is_absent(code.value())) return io_failure(folder, "list", code.value());
    std::sort(paths.begin(), paths.end());
    return paths;
}

Result<void> make_folders(const fs::path& path) {
    std::error_code code;
    // Another process may take away a folder above it that was there a moment ago.
    constexpr int kAttempts = 10;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        fs::create_directories(path, code);
        if (code != std::errc::no_such_file_or_directory) break;
    }
    if (!code) return {};
    std::error_code ignored;
    if (fs::is_symlink(path, ignored) && !fs::exists(path, ignored))
        return fail(ErrorKind::Io,
                    fmt::format("{}: broken symbolic link", path.native()),
                    "create the folder it points to, or remove the link");
    return io_failure(path, "create the folder", code.value());
}

namespace {

/// Lets the owner of read-only folders take away what is in them.
void make_writable(const fs::path& tree) {
    std::error_code ignored;
    constexpr auto kOwner = fs::perms::owner_all;
    fs::permissions(tree, kOwner, fs::perm_options::add | fs::perm_options::nofollow, ignored);
    fs::recursive_directory_iterator item(tree, ignored);
    for (; item != fs::recursive_directory_iterator(); item.increment(ignored)) {
        if (item->symlink_status(ignored).type() == fs::file_type::directory)
            fs::permissions(item->path(), kOwner, fs::perm_options::add, ignored);
    }
}

/// What stands in the way, as far down as it can be told.
fs::path deepest_left(fs::path path) {
    std::error_code code;
    while (fs::is_directory(fs::symlink_status(path, code))) {
        const fs::directory_iterator item(path, code);
        if (code || item == fs::directory_iterator()) break;
        path = item->path();
    }
    return path;
}

/// " (in a folder of root)": who can do what this user may not.
std::string owner_text(const fs::path& left, int code) {
    struct stat status {};
    if ((code != EACCES && code != EPERM) || ::lstat(left.parent_path().c_str(), &status) != 0 ||
        status.st_uid == ::geteuid())
        return {};
    const auto owner = system_user(status.st_uid);
    return fmt::format(" (in a folder of {})",
                       owner ? owner->name : fmt::format("user {}", status.st_uid));
}

}  // namespace

Result<void> remove_tree(const fs::path& path) {
    std::error_code code;
    std::error_code ignored;
    // Another may be at it as well, and is faster.
    constexpr int kMostTries = 10;
    for (int i = 0; i < kMostTries; ++i) {
        fs::remove_all(path, code);
        if (!code) return {};
        if (code != std::errc::no_such_file_or_directory) break;
    }
    if (code == std::errc::permission_denied &&
        fs::is_directory(fs::symlink_status(path, ignored))) {
        make_writable(path);
        fs::remove_all(path, code);
        if (!code) return {};
    }
    const auto left = deepest_left(path);
    return io_failure(left, "remove", code.value(), owner_text(left, code.value()));
}

Result<void> rename_path(const fs::path& from, const fs::path& to) {
    if (::rename(from.c_str(), to.c_str()) == 0) return {};
    return io_failure(from, "rename to " + to.native(), errno);
}

Result<std::string> sha256_of_file(const fs::path& path) {
    Hasher hasher(DigestKind::Sha256);
    GPKG_CHECK(read_in_pieces(path, 0, [&](std::string_view piece, std::uint64_t) {
        hasher.update(piece);
        return true;
    }));
    return std::move(hasher).hex();
}

Result<void> read_in_pieces(
    const fs::path& path,
    std::size_t overlap,
    const std::function<bool(std::string_view piece, std::uint64_t at)>& look) {
    GPKG_TRY(auto file, InputFile::open(path));
    // Most files are small; those of /proc say that they are empty.
    constexpr std::size_t kLeast = 4096;
    constexpr std::size_t kMost = std::size_t{1} << 20U;
    const auto piece = std::clamp(file.size() + 1, kLeast, kMost);
    std::string buffer(overlap + piece, '\0');
    std::size_t kept = 0;  // the end of the piece before, at the front of the buffer
    for (std::uint64_t at = 0;;) {
        GPKG_TRY(const auto count, file.read(buffer.data() + kept, buffer.size() - kept));
        if (count == 0) return {};
        const auto used = kept + count;
        if (!look(std::string_view(buffer).substr(0, used), at)) return {};
        kept = std::min(overlap, used);
        std::copy_n(
            buffer.begin() + static_cast<std::ptrdiff_t>(used - kept), kept, buffer.begin());
        at += used - kept;
    }
}

Result<std::string> zstd_decompress(std::string_view bytes,
                                    std::string_view what,
                                    std::size_t limit) {
    std::string out;
    const auto known = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
    if (known < (std::uint64_t{1} << 32U) && (limit == 0 || known <= limit)) out.reserve(known);

    const ByteSource packed = [left = bytes](char* into, std::size_t room) mutable {
        const auto count = left.copy(into, room);
        left.remove_prefix(count);
        return Result<std::size_t>(count);
    };
    const auto source = zstd_source(packed, std::string(what), {limit == 0 ? ~0ULL : limit, 0});
    std::string piece(ZSTD_DStreamOutSize(), '\0');
    while (true) {
        GPKG_TRY(const auto count, source(piece.data(), piece.size()));
        if (count == 0) return out;
        out.append(piece, 0, count);
    }
}

std::string zstd_compress(std::string_view bytes, int level) {
    std::string out(ZSTD_compressBound(bytes.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), level));
    return out;
}

Result<TemporaryFolder> TemporaryFolder::make(const fs::path& parent, std::string_view stem) {
    GPKG_CHECK(make_folders(parent));
    std::string path = (parent / stem).native() + "XXXXXX";
    if (::mkdtemp(path.data()) == nullptr)
        return io_failure(parent, "create a folder in it", errno);
    return TemporaryFolder(fs::path(path));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
}

TemporaryFolder::~TemporaryFolder() {
    if (path_.empty()) return;
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

fs::path TemporaryFolder::release() { return std::exchange(path_, {}); }

std::vector<std::string> near_files(const fs::path& path) {
    std::vector<std::string> names;
    std::error_code code;
    const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
         entry.increment(code))
        names.push_back(entry->path().filename().native());
    return near_names(path.filename().native(), names);
}

fs::path absolute_path(std::string_view path, const fs::path& home) {
    fs::path result(path);
    if (path == "~") {
        result = home;
    } else if (path.starts_with("~/")) {
        result = home / path.substr(2);
    }
    std::error_code ignored;
    result = fs::absolute(result, ignored).lexically_normal();
    return result.has_filename() ? result : result.parent_path();
}

bool is_safe_relative(std::string_view relative) {
    if (relative.empty() || relative.front() == '/') return false;
    if (relative.find('\0') != std::string_view::npos) return false;
    if (relative.size() > 1 && relative[1] == ':') return false;
    for (const auto piece : split(relative, '/')) {
        if (piece == "..") return false;
    }
    return true;
}

}  // namespace gpkg
