#include "libcore/build/payload.hpp"

#include "libcore/base/path_glob.hpp"
#include "libcore/base/prefix_path.hpp"
#include "libcore/base/text.hpp"
#include "libcore/binary/rpath.hpp"
#include "libcore/package/paths.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpkg {
namespace {

bool is_in(std::string_view path, std::string_view folder) {
    return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

/// Faults of many files, told at once.
class Refusals {
public:
    void add(std::string fault) { faults_.push_back(std::move(fault)); }
    Result<void> result() const {
        if (faults_.empty()) return {};
        constexpr std::size_t kShown = 5;
        std::string text;
        for (std::size_t i = 0; i < std::min(kShown, faults_.size()); ++i)
            text += (i > 0 ? "\n" : "") + faults_[i];
        if (faults_.size() > kShown)
            text += fmt::format("\nand {} more files", faults_.size() - kShown);
        return fail(ErrorKind::Unsupported, text);
    }

private:
    std::vector<std::string> faults_;
};

Result<void> fix_link(const fs::path& prefix, const std::string& file, Refusals& refusals) {
    const auto path = prefix / file;
    std::error_code code;
    const auto target = fs::read_symlink(path, code);
    if (code) return pass(io_error(path, "read the link", code.value()));
    const auto folder = parent_of(file);
    if (!target.is_absolute()) {
        if (!normal_inside(joined_path(folder, target.native())))
            refusals.add(fmt::format(
                "{}: the link points outside the prefix, to {}", file, target.native()));
        return {};
    }
    auto inside = target.lexically_normal().lexically_relative(prefix).native();
    if (inside.empty() || is_in(inside, ".."))
        inside = target.lexically_normal().lexically_relative(canonical_placeholder()).native();
    if (inside.empty() || is_in(inside, "..")) {
        refusals.add(
            fmt::format("{}: the link points outside the prefix, to {}", file, target.native()));
        return {};
    }
    auto relative = path_from(inside == "." ? "" : inside, folder);
    if (relative.empty()) relative = ".";
    fs::remove(path, code);
    if (!code) fs::create_symlink(relative, path, code);
    if (code) return pass(io_error(path, "make the link relative", code.value()));
    return {};
}

Result<void> check_and_fix(const fs::path& prefix, const std::vector<std::string>& files) {
    Refusals refusals;
    for (const auto& file : files) {
        if (is_in(file, "conda-meta") || is_in(file, "info")) {
            refusals.add(fmt::format("{}: this folder is reserved for the package manager", file));
            continue;
        }
        if (!is_package_path(file)) {
            refusals.add(
                fmt::format("{}: invalid file name (not UTF-8, or with a backslash); rename the "
                            "file, or exclude it with build.files.exclude",
                            printable(file)));
            continue;
        }
        const auto path = prefix / file;
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0) return pass(io_error(path, "read", errno));
        if (S_ISLNK(status.st_mode)) {
            GPKG_CHECK(fix_link(prefix, file, refusals));
        } else if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
            refusals.add(fmt::format("{}: not a file, link or folder", file));
        } else if (S_ISREG(status.st_mode) && (status.st_mode & (S_ISUID | S_ISGID)) != 0) {
            refusals.add(
                fmt::format("{}: set-user-ID and set-group-ID programs cannot be packaged", file));
        }
    }
    return refusals.result();
}

/// Where the text is in the file.
Result<std::vector<std::uint64_t>> places_of(std::string_view text, const fs::path& path) {
    std::vector<std::uint64_t> places;
    GPKG_CHECK(read_in_pieces(path, text.size() - 1, [&](auto piece, std::uint64_t at) {
        for (auto found = piece.find(text); found != std::string_view::npos;
             found = piece.find(text, found + text.size()))
            places.push_back(at + found);
        return true;
    }));
    return places;
}

// Both texts have the same length, so that offsets in binary files stay.
Result<void> replace_in_file(const fs::path& path, std::string_view from, std::string_view to) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
    GPKG_TRY(const auto places, places_of(from, path));
    if (places.empty()) return {};
    std::error_code code;
    fs::permissions(path, fs::perms::owner_write, fs::perm_options::add, code);
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file) return pass(io_error(path, "open for writing", errno));
    for (const auto place : places) {
        for (std::size_t written = 0; written < to.size();) {
            const auto left = to.substr(written);
            const auto count =
                ::pwrite(file.get(), left.data(), left.size(), static_cast<off_t>(place + written));
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) return pass(io_error(path, "write", errno));
            written += static_cast<std::size_t>(count);
        }
    }
    return {};
}

void apply_detection(const PrefixDetection& detection, std::vector<PathEntry>& paths) {
    for (auto& entry : paths) {
        if (entry.prefix_placeholder.empty()) continue;
        if (any_path_glob_matches(detection.force_text, entry.path)) entry.mode = FileMode::Text;
        if (any_path_glob_matches(detection.force_binary, entry.path))
            entry.mode = FileMode::Binary;
        // Python puts the right path there when it loads the file. Texts in it have their length
        // written before them: to replace one by a shorter one would break it.
        if (entry.path.ends_with(".pyc")) entry.prefix_placeholder.clear();
        if (detection.ignore || any_path_glob_matches(detection.ignore_globs, entry.path) ||
            (detection.ignore_binary_files && entry.mode == FileMode::Binary))
            entry.prefix_placeholder.clear();
    }
}

}  // namespace

Result<fs::path> build_prefix_below(const fs::path& folder) {
    auto path = (folder / "host_env").native();
    if (path.size() + kPlaceholderFill.size() > kPlaceholderLength)
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: the path of the work folder is too long ({} characters, at "
                                "most {})",
                                folder.native(),
                                folder.native().size(),
                                kPlaceholderLength - kPlaceholderFill.size() - 9),
                    "choose a shorter path with --work-dir");
    return fs::path(filled_to_placeholder(std::move(path)));
}

Result<std::set<std::string>> list_prefix(const fs::path& prefix) {
    std::set<std::string> found;
    std::error_code code;
    fs::recursive_directory_iterator walk(prefix, code);
    const auto skip = prefix.native().size() + 1;
    while (!code && walk != fs::recursive_directory_iterator()) {
        found.insert(walk->path().native().substr(skip));
        walk.increment(code);
    }
    if (code) return pass(io_error(prefix, "list the files", code.value()));
    return found;
}

bool is_chosen(const std::string& path, const RecipeBuild& build) {
    if (any_path_glob_matches(build.files_exclude, path)) return false;
    return build.files_include.empty() || any_path_glob_matches(build.files_include, path);
}

Result<std::vector<std::string>> new_files(const fs::path& prefix,
                                           const std::set<std::string>& before,
                                           const RecipeBuild& build) {
    GPKG_TRY(const auto after, list_prefix(prefix));
    std::vector<std::string> files;
    for (auto at = after.begin(); at != after.end(); ++at) {
        const auto& path = *at;
        if (before.contains(path) && !any_path_glob_matches(build.always_include_files, path))
            continue;
        if (!is_chosen(path, build)) continue;
        std::error_code code;
        const auto type = fs::symlink_status(prefix / path, code).type();
        // Of folders only the empty ones need to be told; a full one comes with its files.
        if (type == fs::file_type::directory && !fs::is_empty(prefix / path, code)) continue;
        if (code) return pass(io_error(prefix / path, "read", code.value()));
        files.push_back(path);
    }
    return files;
}

Result<Payload> post_process(const fs::path& prefix,
                             std::vector<std::string> files,
                             const RecipeBuild& build,
                             int jobs,
                             const Cancelled& cancelled) {
    Payload payload;
    payload.files = std::move(files);
    GPKG_CHECK(check_and_fix(prefix, payload.files));
    const auto& linking = build.dynamic_linking;
    if (linking.binary_relocation) {
        RelocateRequest request;
        request.prefix = prefix;
        request.files = payload.files;
        request.library_folders = linking.rpaths;
        request.only = linking.relocate_only;
        request.kept_entries = linking.rpath_allowlist;
        request.jobs = jobs;
        request.cancelled = cancelled;
        GPKG_TRY(payload.warnings, relocate(request));
    }
    for (const auto& file : payload.files) {
        GPKG_CHECK(check_cancelled(cancelled));
        GPKG_CHECK(replace_in_file(prefix / file, prefix.native(), canonical_placeholder()));
    }
    GPKG_TRY(payload.paths,
             describe_paths(prefix, payload.files, canonical_placeholder(), cancelled));
    apply_detection(build.prefix_detection, payload.paths);
    for (auto& entry : payload.paths)
        entry.no_link = entry.no_link || any_path_glob_matches(build.always_copy_files, entry.path);
    return payload;
}

}  // namespace gpkg
