#include "libcore/build/sources/source.hpp"
#include "libcore/package/source_archive.hpp"

#include <vector>

namespace gpkg {

Result<void> unpack_source(const fs::path& archive,
                           const fs::path& to,
                           const Cancelled& cancelled) {
    std::error_code code;
    GPKG_CHECK(make_folders(to));
    const auto parent = fs::canonical(to, code);
    GPKG_TRY(const auto private_folder, TemporaryFolder::make(parent, ".unpack-"));
    GPKG_CHECK(unpack_source_archive(archive, private_folder.path(), cancelled));

    auto from = private_folder.path();
    std::vector<fs::path> top;
    for (const auto& entry : fs::directory_iterator(from, code)) top.push_back(entry.path());
    if (top.size() == 1 && fs::is_directory(fs::symlink_status(top[0], code))) from = top[0];
    for (const auto& entry : fs::directory_iterator(from, code)) {
        const auto target = parent / entry.path().filename();
        // Two sources may share a folder; only there do files have to be copied.
        if (is_there(target)) {
            if (entry.is_directory(code) && !entry.is_symlink(code)) {
                GPKG_CHECK(copy_tree(entry.path(), target, false, cancelled));
                continue;
            }
            GPKG_CHECK(remove_tree(target));
        }
        GPKG_CHECK(rename_path(entry.path(), target));
    }
    return {};
}

}  // namespace gpkg
