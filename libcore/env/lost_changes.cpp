#include "libcore/env/lost_changes.hpp"

#include "libcore/env/prefix.hpp"

#include <fmt/format.h>
#include <set>
#include <string_view>
#include <sys/stat.h>

namespace gpkg {
namespace {

bool look(const fs::path& path, struct stat& status) { return ::lstat(path.c_str(), &status) == 0; }

/// A hard link of the file, or a copy that kept its time.
bool is_the_same(const struct stat& a, const struct stat& b) {
    if (a.st_dev == b.st_dev && a.st_ino == b.st_ino) return true;
    return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
           a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

/// The store's file, where it still is; noarch python packages have theirs at other places.
bool look_at_source(const PrefixRecord& record, const std::string& path, struct stat& status) {
    const fs::path folder = record.extracted_package_dir;
    if (look(folder / path, status)) return true;
    const auto modules = path.find("site-packages/");
    if (modules != std::string::npos) return look(folder / path.substr(modules), status);
    return path.starts_with("bin/") && look(folder / "python-scripts" / path.substr(4), status);
}

}  // namespace

bool is_changed(const fs::path& prefix, const PrefixRecord& record, const PrefixPath& entry) {
    struct stat file {};
    if (entry.type != PrefixPathType::HardLink || entry.sha256_in_prefix.empty() ||
        !look(prefix / entry.path, file) || S_ISDIR(file.st_mode))
        return false;
    if (!S_ISREG(file.st_mode)) return true;
    struct stat source {};
    if (entry.prefix_placeholder.empty() && look_at_source(record, entry.path, source) &&
        is_the_same(file, source))
        return false;
    const auto found = sha256_of_file(prefix / entry.path);
    return found && *found != entry.sha256_in_prefix;
}

std::string lost_change(const PrefixRecord& record, const std::string& path) {
    return fmt::format("{} of {} was changed after it was installed; the change is lost",
                       path,
                       record.package.distribution());
}

Result<std::vector<std::string>> lost_changes(const fs::path& prefix,
                                              const std::vector<PrefixRecord>& leaving) {
    std::vector<std::pair<const PrefixRecord*, const std::string*>> changed;
    std::set<std::string_view> names;
    for (const auto& record : leaving) {
        names.insert(record.name());
        for (const auto& entry : record.paths) {
            if (is_changed(prefix, record, entry)) changed.emplace_back(&record, &entry.path);
        }
    }
    std::vector<std::string> warnings;
    if (changed.empty()) return warnings;
    // A file that another package has too is that one's from then on.
    GPKG_TRY(const auto installed, read_records(prefix));
    std::set<std::string_view> kept;
    for (const auto& record : installed) {
        if (!names.contains(record.name())) kept.insert(record.files.begin(), record.files.end());
    }
    for (const auto& [record, path] : changed) {
        if (!kept.contains(*path)) warnings.push_back(lost_change(*record, *path));
    }
    return warnings;
}

}  // namespace gpkg
