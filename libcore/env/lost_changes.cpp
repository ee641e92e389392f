#include "libcore/env/lost_changes.hpp"

#include "libcore/env/link_plan_internal.hpp"
#include "libcore/env/prefix.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <set>
#include <string_view>
#include <sys/stat.h>

namespace gpkg {
namespace {

/// lstat of what may not be there.
Result<bool> look(const fs::path& path, struct stat& status) {
    if (::lstat(path.c_str(), &status) == 0) return true;
    if (is_absent(errno)) return false;
    return pass(io_error(path, "access", errno));
}

/// A hard link of the file, or a copy that kept its time.
bool is_the_same(const struct stat& a, const struct stat& b) {
    if (a.st_dev == b.st_dev && a.st_ino == b.st_ino) return true;
    return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
           a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

/// The store's file, where it still is; noarch python packages have theirs at other places. Empty:
/// nobody knows.
Result<fs::path> source_of(const PrefixRecord& record,
                           const std::string& path,
                           struct stat& status) {
    const fs::path folder = record.extracted_package_dir;
    if (folder.empty()) return fs::path();
    std::vector<fs::path> places{folder / path};
    const auto modules = path.find("site-packages/");
    if (modules != std::string::npos) places.push_back(folder / path.substr(modules));
    if (path.starts_with("bin/")) places.push_back(folder / "python-scripts" / path.substr(4));
    for (auto& place : places) {
        GPKG_TRY(const bool there, look(place, status));
        if (there) return std::move(place);
    }
    return fs::path();
}

/// A file that its owner may not read is taken for unchanged; a disk that fails is an error.
Result<bool> differs(const fs::path& file, const std::string& sha256) {
    const Descriptor readable(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!readable && errno == EACCES) return false;
    GPKG_TRY(const auto found, sha256_of_file(file));
    return found != sha256;
}

/// Records do not tell where a link leads; the store's link does.
Result<bool> is_link_changed(const fs::path& prefix,
                             const PrefixRecord& record,
                             const PrefixPath& entry,
                             const struct stat& status) {
    const auto path = prefix / entry.path;
    // Some tools copy what soft links lead to.
    if (S_ISREG(status.st_mode))
        return entry.sha256.empty() ? Result<bool>(true) : differs(path, entry.sha256);
    if (!S_ISLNK(status.st_mode)) return true;
    struct stat source {};
    GPKG_TRY(const auto original, source_of(record, entry.path, source));
    if (original.empty() || !S_ISLNK(source.st_mode)) return false;
    std::error_code code;
    PathEntry of_package;
    of_package.prefix_placeholder = entry.prefix_placeholder;
    const auto wanted =
        link_with_prefix(of_package, fs::read_symlink(original, code).native(), prefix);
    return fs::read_symlink(path, code).native() != wanted && !code;
}

/// Records of an unpacked archive have no checksums of texts that name their prefix: what
/// bin/gpkg-relocate makes of the package's is known.
Result<bool> is_relocated_changed(const fs::path& prefix,
                                  const PrefixRecord& record,
                                  const PrefixPath& entry) {
    if (entry.prefix_placeholder.empty() || entry.binary) return false;
    const auto place = read_file(prefix / "conda-meta/gpkg/pack/place");
    struct stat status {};
    GPKG_TRY(const auto source, source_of(record, entry.path, status));
    if (!place || source.empty()) return false;
    PathEntry of_package;
    of_package.prefix_placeholder = entry.prefix_placeholder;
    const auto wanted = bytes_with_prefix(of_package, source, *place);
    const auto found = read_file(prefix / entry.path);
    return wanted && found && *wanted != *found;
}

Result<bool> is_file_changed(const fs::path& prefix,
                             const PrefixRecord& record,
                             const PrefixPath& entry,
                             const struct stat& status) {
    if (entry.sha256_in_prefix.empty()) return is_relocated_changed(prefix, record, entry);
    if (!S_ISREG(status.st_mode)) return true;
    struct stat source {};
    if (entry.prefix_placeholder.empty()) {
        GPKG_TRY(const auto original, source_of(record, entry.path, source));
        if (!original.empty() && is_the_same(status, source)) return false;
    }
    return differs(prefix / entry.path, entry.sha256_in_prefix);
}

}  // namespace

Result<bool> is_changed(const fs::path& prefix,
                        const PrefixRecord& record,
                        const PrefixPath& entry) {
    struct stat status {};
    GPKG_TRY(const bool there, look(prefix / entry.path, status));
    if (!there || S_ISDIR(status.st_mode)) return false;
    switch (entry.type) {
    case PrefixPathType::HardLink:
    case PrefixPathType::UnixPythonEntryPoint:
        return is_file_changed(prefix, record, entry, status);
    case PrefixPathType::SoftLink: return is_link_changed(prefix, record, entry, status);
    case PrefixPathType::Directory: return true;
    case PrefixPathType::PycFile:
    case PrefixPathType::Other: break;
    }
    return false;
}

std::string lost_change(const LostFile& file) {
    return fmt::format("{} of {} was changed after it was installed; the change will be lost",
                       file.path,
                       file.distribution);
}

Result<std::vector<LostFile>> lost_files(const fs::path& prefix,
                                         const std::vector<PrefixRecord>& leaving) {
    std::vector<LostFile> lost;
    std::set<std::string_view> names;
    for (const auto& record : leaving) {
        names.insert(record.name());
        for (const auto& entry : record.paths) {
            GPKG_TRY(const bool changed, is_changed(prefix, record, entry));
            if (changed) lost.push_back({record.package.distribution(), entry.path});
        }
    }
    if (lost.empty()) return lost;
    // A file that another package has too belongs to that package from then on.
    GPKG_TRY(const auto installed, read_records(prefix));
    std::set<std::string_view> kept;
    for (const auto& record : installed) {
        if (!names.contains(record.name())) kept.insert(record.files.begin(), record.files.end());
    }
    std::erase_if(lost, [&](const LostFile& file) { return kept.contains(file.path); });
    return lost;
}

}  // namespace gpkg
