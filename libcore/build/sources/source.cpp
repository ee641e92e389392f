#include "libcore/build/sources/source.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/build/sources/git_source.hpp"
#include "libcore/package/checksums.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace gpkg {
namespace {

constexpr std::string_view kFileScheme = "file://";

Result<void> keep_times(const fs::path& from, const fs::path& to) {
    struct stat status {};
    if (::lstat(from.c_str(), &status) != 0) return {};
    const std::array times = {status.st_atim, status.st_mtim};
    if (::utimensat(AT_FDCWD, to.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0)
        return pass(io_error(to, "set the time", errno));
    return {};
}

/// Its content and its mode.
Result<void> copy_file(const fs::path& from, const fs::path& to, const Cancelled& cancelled) {
    const Descriptor source(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!source || ::fstat(source.get(), &status) != 0) return pass(io_error(from, "read", errno));
    const Descriptor target(::open(
        to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, status.st_mode & 07777U & ~07000U));
    if (!target) return pass(io_error(to, "write", errno));
    constexpr std::size_t kPiece = std::size_t{64} << 20U;
    for (;;) {
        GPKG_CHECK(check_cancelled(cancelled));
        // The kernel copies; some file systems then share what is the same.
        const auto count =
            ::copy_file_range(source.get(), nullptr, target.get(), nullptr, kPiece, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) break;
        if (count > 0) continue;
        if (::fchmod(target.get(), status.st_mode & 07777U) != 0)
            return pass(io_error(to, "set the mode", errno));
        return {};
    }
    // Not between any two file systems, nor of everything.
    std::error_code code;
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, code);
    if (code) return pass(io_error(from, "copy", code.value()));
    return {};
}

}  // namespace

Result<void> copy_entry(const fs::path& from, const fs::path& to, const Cancelled& cancelled) {
    std::error_code code;
    const auto type = fs::symlink_status(from, code).type();
    if (code) return pass(io_error(from, "read", code.value()));
    if (type == fs::file_type::directory) {
        GPKG_CHECK(make_folders(to));
        return {};
    }
    if (to.has_parent_path()) GPKG_CHECK(make_folders(to.parent_path()));
    if (type == fs::file_type::symlink) {
        fs::remove(to, code);
        fs::copy_symlink(from, to, code);
    } else if (type == fs::file_type::regular) {
        GPKG_CHECK(copy_file(from, to, cancelled));
    } else {
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: not a file, link or folder", from.native()));
    }
    if (code) return pass(io_error(from, "copy", code.value()));
    return keep_times(from, to);
}

namespace {

/// As copy_entry(); patches and scripts may change the copy.
Result<void> copy_one(const fs::path& from, const fs::path& to, const Cancelled& cancelled) {
    GPKG_CHECK(check_cancelled(cancelled));
    GPKG_CHECK(copy_entry(from, to, cancelled));
    std::error_code code;
    if (fs::symlink_status(to, code).type() == fs::file_type::regular)
        fs::permissions(to, fs::perms::owner_write, fs::perm_options::add, code);
    if (code) return pass(io_error(to, "make writable", code.value()));
    return {};
}

Result<std::vector<std::string>> all_entries(const fs::path& root) {
    std::vector<std::string> found;
    std::error_code code;
    fs::recursive_directory_iterator walk(root, code);
    while (!code && walk != fs::recursive_directory_iterator()) {
        found.push_back(walk->path().lexically_relative(root).native());
        walk.increment(code);
    }
    if (code) return pass(io_error(root, "list the files", code.value()));
    std::sort(found.begin(), found.end());
    return found;
}

Result<std::vector<std::string>> entries_git_keeps(const fs::path& root,
                                                   const Cancelled& cancelled) {
    ProcessCommand command;
    command.arguments = {"git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"};
    command.folder = root;
    command.cancelled = cancelled;
    GPKG_TRY(const auto listed, run_and_capture(command));
    if (listed.exit_code != 0)
        return fail(
            ErrorKind::Io,
            fmt::format("{}: git cannot list the files: {}", root.native(), trim(listed.output)),
            "set use_gitignore: false to copy every file");
    std::vector<std::string> found;
    for (const auto name : split(listed.output, '\0')) {
        std::error_code code;
        if (!name.empty() && is_there(root / name)) found.emplace_back(name);
    }
    return found;
}

/// Inside a repository, and not in a part of it that is ignored whole: whoever names such a folder
/// as a source means what is in it.
bool heeds_gitignore(const fs::path& folder, const Cancelled& cancelled) {
    std::error_code code;
    auto at = fs::weakly_canonical(folder, code);
    while (!fs::exists(at / ".git", code) && at != at.root_path()) at = at.parent_path();
    if (at == at.root_path()) return false;
    ProcessCommand command;
    command.arguments = {"git", "check-ignore", "-q", "."};
    command.folder = folder;
    command.cancelled = cancelled;
    const auto ignored = run_and_capture(command);
    return ignored && ignored->exit_code != 0;
}

std::vector<std::string> with_mirrors(
    const std::vector<std::string>& urls,
    const std::vector<std::pair<std::string, std::string>>& mirrors) {
    std::vector<std::string> all;
    for (const auto& url : urls) {
        for (const auto& [from, to] : mirrors) {
            if (url.starts_with(from)) all.push_back(to + url.substr(from.size()));
        }
    }
    all.insert(all.end(), urls.begin(), urls.end());
    return all;
}

Result<void> check_sums(const RecipeSource& source, const Checksums& got, std::string_view url) {
    const auto wrong = [&](std::string_view kind, const auto& sum, const auto& said) {
        return fail(ErrorKind::Integrity,
                    fmt::format("{}: {} is {}, but {} in the recipe", url, kind, sum, said));
    };
    if (got.sha256 != source.sha256) return wrong("sha256", got.sha256, source.sha256);
    if (!source.md5.empty() && got.md5 != source.md5) return wrong("md5", got.md5, source.md5);
    return {};
}

Result<fs::path> download(const RecipeSource& source, const SourceFetchOptions& options) {
    auto cached = options.cache / source.sha256;
    std::error_code code;
    if (fs::exists(cached, code)) {
        GPKG_TRY(const auto sums, checksums_of(cached, options.cancelled));
        if (sums.sha256 == source.sha256) {
            GPKG_CHECK(check_sums(source, sums, source.urls.front()));
            return cached;
        }
    }
    GPKG_CHECK(make_folders(options.cache));
    // A folder of its own: another recipe or run may be fetching the same.
    GPKG_TRY(const auto arriving, TemporaryFolder::make(options.cache));
    const auto partial = arriving.path() / "file";
    Error last;
    for (const auto& url : with_mirrors(source.urls, options.mirrors)) {
        auto got = [&]() -> Result<void> {
            if (url.starts_with(kFileScheme))
                return copy_one(
                    fs::path(url.substr(kFileScheme.size())), partial, options.cancelled);
            if (options.offline)
                return fail(ErrorKind::Network,
                            fmt::format("{}: not in the source cache {}, and --offline is set",
                                        url,
                                        options.cache.native()));
            if (!options.fetch)
                return fail(ErrorKind::Unsupported, fmt::format("{}: cannot be fetched here", url));
            return options.fetch(url, partial);
        }();
        if (got) {
            GPKG_TRY(const auto sums, checksums_of(partial, options.cancelled));
            got = check_sums(source, sums, url);
            if (got) {
                GPKG_CHECK(rename_path(partial, cached));
                return cached;
            }
        }
        last = std::move(got).error();
    }
    return pass(std::move(last));
}

bool looks_like_archive(std::string_view name) {
    static constexpr std::array<std::string_view, 10> kEndings = {
        ".tar", ".tgz", ".tbz2", ".tbz", ".txz", ".zip", ".7z", ".whl", ".crate", ".tzst"};
    const auto lower = to_lower(name);
    return lower.find(".tar.") != std::string::npos ||
           std::any_of(kEndings.begin(), kEndings.end(), [&](auto ending) {
               return lower.ends_with(ending);
           });
}

Result<void> provide_url(const RecipeSource& source,
                         const fs::path& target,
                         const SourceFetchOptions& options) {
    GPKG_TRY(const auto file, download(source, options));
    const auto& url = source.urls.front();
    auto name = url.substr(url.rfind('/') + 1);
    name = name.substr(0, name.find_first_of("?#"));
    if (!source.file_name.empty())
        return copy_one(file, target / source.file_name, options.cancelled);
    if (looks_like_archive(name)) return unpack_source(file, target, options.cancelled);
    if (name.empty() || name == "." || name == "..")
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: no file name in the URL", url),
                    "set file_name for this source");
    return copy_one(file, target / name, options.cancelled);
}

Result<void> apply_patch(const fs::path& patch,
                         const fs::path& folder,
                         const Cancelled& cancelled) {
    // Patches are made with one leading folder (git) or with none.
    std::string said;
    for (const auto* strip : {"-p1", "-p0"}) {
        ProcessCommand command;
        command.arguments = {
            "patch", strip, "--batch", "--forward", "--dry-run", "-i", patch.native()};
        command.folder = folder;
        command.umask = 022;
        command.cancelled = cancelled;
        GPKG_TRY(const auto tried, run_and_capture(command));
        if (said.empty()) said = tried.output;
        if (tried.exit_code != 0) continue;
        command.arguments.erase(command.arguments.begin() + 4);
        GPKG_TRY(const auto done, run_and_capture(command));
        if (done.exit_code == 0) return {};
        said = done.output;
        break;
    }
    return fail(ErrorKind::Io,
                fmt::format("{}: patch does not apply: {}", patch.native(), trim(said)));
}

/// Takes away what two checkouts of the same differ in: modes, which follow a umask, and times, of
/// all files or of those that are newer than `time`.
Result<void> settle(const fs::path& folder,
                    std::int64_t time,
                    bool all_times,
                    const Cancelled& cancelled) {
    GPKG_TRY(const auto entries, all_entries(folder));
    const std::array times = {timespec{time, 0}, timespec{time, 0}};
    for (const auto& entry : entries) {
        GPKG_CHECK(check_cancelled(cancelled));
        const auto path = folder / entry;
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0) return pass(io_error(path, "read", errno));
        const bool is_open = S_ISDIR(status.st_mode) || (status.st_mode & S_IXUSR) != 0;
        if (!S_ISLNK(status.st_mode) && ::chmod(path.c_str(), is_open ? 0755 : 0644) != 0)
            return pass(io_error(path, "set the mode", errno));
        if (!all_times && status.st_mtim.tv_sec < time) continue;
        if (::utimensat(AT_FDCWD, path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0)
            return pass(io_error(path, "set the time", errno));
    }
    return {};
}

/// The same for the folders that sources were put into, down to the work folder.
Result<void> settle_folders(const std::vector<RecipeSource>& sources,
                            const SourceFetchOptions& options) {
    std::set<fs::path> folders{options.work};
    for (const auto& source : sources) {
        auto folder = options.work;
        for (const auto& part : fs::path(source.target_directory)) {
            folder /= part;
            folders.insert(folder);
        }
    }
    const std::array times = {timespec{*options.time, 0}, timespec{*options.time, 0}};
    for (const auto& folder : folders) {
        if (::chmod(folder.c_str(), 0755) != 0)
            return pass(io_error(folder, "set the mode", errno));
        if (::utimensat(AT_FDCWD, folder.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0)
            return pass(io_error(folder, "set the time", errno));
    }
    return {};
}

Result<void> provide(const RecipeSource& source, const SourceFetchOptions& options) {
    const auto target = options.work / source.target_directory;
    GPKG_CHECK(make_folders(target));
    std::error_code code;
    if (!source.git.empty()) {
        GPKG_CHECK(provide_git(source, target, options));
    } else if (source.path.empty()) {
        GPKG_CHECK(provide_url(source, target, options));
    } else if (fs::is_directory(source.path, code)) {
        GPKG_CHECK(copy_tree(source.path, target, source.use_gitignore, options.cancelled));
    } else if (looks_like_archive(source.path.filename().native()) && source.file_name.empty()) {
        GPKG_CHECK(unpack_source(source.path, target, options.cancelled));
    } else {
        const auto name =
            source.file_name.empty() ? source.path.filename() : fs::path(source.file_name);
        GPKG_CHECK(copy_one(source.path, target / name, options.cancelled));
    }
    for (const auto& patch : source.patches)
        GPKG_CHECK(apply_patch(patch, target, options.cancelled));
    if (options.time)
        GPKG_CHECK(settle(target, *options.time, source.urls.empty(), options.cancelled));
    return {};
}

}  // namespace

Result<void> provide_sources(const std::vector<RecipeSource>& sources,
                             const SourceFetchOptions& options) {
    GPKG_CHECK(make_folders(options.work));
    for (const auto& source : sources) {
        GPKG_CHECK(check_cancelled(options.cancelled));
        GPKG_CHECK(provide(source, options));
    }
    return options.time ? settle_folders(sources, options) : Result<void>();
}

Result<std::string> source_digest(const RecipeSource& source, const SourceFetchOptions& options) {
    Hasher hasher(DigestKind::Sha256);
    const auto add = [&](std::string_view text) {
        hasher.update(fmt::format("{}:{}", text.size(), text));
    };
    add(source.sha256);
    add(source.use_gitignore ? "ignore" : "all");
    if (!source.git.empty()) {
        GPKG_TRY(const auto commit, resolve_git(source, options));
        add(commit);
    }
    if (!source.path.empty()) {
        GPKG_TRY(const auto tree, tree_digest(source.path, options.cancelled));
        add(tree);
    }
    for (const auto& patch : source.patches) {
        GPKG_TRY(const auto text, read_file(patch));
        add(text);
    }
    return std::move(hasher).hex();
}

Result<void> copy_tree(const fs::path& from,
                       const fs::path& to,
                       bool leave_out_ignored,
                       const Cancelled& cancelled) {
    const bool git = leave_out_ignored && heeds_gitignore(from, cancelled);
    GPKG_TRY(const auto entries, git ? entries_git_keeps(from, cancelled) : all_entries(from));
    for (const auto& entry : entries) GPKG_CHECK(copy_one(from / entry, to / entry, cancelled));
    return {};
}

Result<std::string> tree_digest(const fs::path& tree, const Cancelled& cancelled) {
    constexpr std::uintmax_t kSmall = std::uintmax_t{64} * 1024;
    std::error_code code;
    Hasher hasher(DigestKind::Sha256);
    std::vector<std::string> entries{""};
    if (fs::is_directory(tree, code)) {
        GPKG_TRY(entries, all_entries(tree));
    }
    for (const auto& entry : entries) {
        GPKG_CHECK(check_cancelled(cancelled));
        const auto path = entry.empty() ? tree : tree / entry;
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0) return pass(io_error(path, "read", errno));
        std::string detail;
        if (S_ISLNK(status.st_mode)) {
            detail = fs::read_symlink(path, code).native();
        } else if (S_ISREG(status.st_mode) &&
                   static_cast<std::uintmax_t>(status.st_size) <= kSmall) {
            GPKG_TRY(const auto bytes, read_file(path));
            detail = hex_digest(DigestKind::Sha256, bytes);
        } else if (S_ISREG(status.st_mode)) {
            detail = fmt::format(
                "{} {}.{:09}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
        }
        hasher.update(fmt::format("{}{}{:o} {}", entry, '\0', status.st_mode, detail));
        hasher.update(std::string_view("\0", 1));
    }
    return std::move(hasher).hex();
}

}  // namespace gpkg
