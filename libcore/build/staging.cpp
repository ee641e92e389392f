#include "libcore/build/staging.hpp"

#include "libcore/build/sources/source.hpp"
#include "libcore/fs/temporary.hpp"

namespace gpkg {

Result<StagedOutput> set_aside(const BuildPlace& place,
                               const std::set<std::string>& before,
                               const fs::path& aside) {
    StagedOutput staged;
    staged.files = aside / "files";
    staged.work = aside / "work";
    GPKG_CHECK(remove_tree(aside));
    GPKG_CHECK(make_folders(staged.files));
    GPKG_TRY(staged.paths, new_files(place.prefix, before, {}));
    for (const auto& path : staged.paths) {
        const auto target = staged.files / path;
        GPKG_CHECK(make_folders(target.parent_path()));
        GPKG_CHECK(rename_path(place.prefix / path, target));
    }
    GPKG_CHECK(rename_path(place.work, staged.work));
    return staged;
}

Result<void> restore_files(const StagedOutput& staged,
                           const fs::path& prefix,
                           const std::function<bool(const std::string&)>& wanted,
                           const Cancelled& cancelled) {
    for (const auto& path : staged.paths) {
        std::error_code code;
        if (!wanted(path) || is_there(prefix / path)) continue;
        GPKG_CHECK(check_cancelled(cancelled));
        GPKG_CHECK(copy_entry(staged.files / path, prefix / path, cancelled));
    }
    return {};
}

Result<FileStamps> stamps_of(const fs::path& folder) {
    FileStamps stamps;
    std::error_code code;
    for (fs::recursive_directory_iterator walk(folder, code);
         !code && walk != fs::recursive_directory_iterator();
         walk.increment(code)) {
        std::error_code ignored;
        if (walk->is_symlink(ignored) || !walk->is_regular_file(ignored)) continue;
        stamps[walk->path().lexically_relative(folder).native()] = {walk->file_size(ignored),
                                                                    walk->last_write_time(ignored)};
    }
    if (code) return pass(io_error(folder, "list the files", code.value()));
    return stamps;
}

Result<std::vector<std::string>> overwritten(const FileStamps& before, const fs::path& folder) {
    GPKG_TRY(const auto after, stamps_of(folder));
    std::vector<std::string> changed;
    for (const auto& [path, stamp] : before) {
        const auto now = after.find(path);
        if (now == after.end() || now->second != stamp) changed.push_back(path);
    }
    return changed;
}

}  // namespace gpkg
