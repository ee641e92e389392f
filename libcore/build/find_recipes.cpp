#include "libcore/build/find_recipes.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {

Result<std::vector<fs::path>> find_recipes(const fs::path& folder) {
    std::error_code code;
    if (fs::is_regular_file(folder, code)) return std::vector{folder};
    if (fs::is_regular_file(folder / "recipe.yaml", code))
        return std::vector{folder / "recipe.yaml"};
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(folder, code)) {
        if (entry.is_directory(code) && !entry.is_symlink(code)) folders.push_back(entry.path());
    }
    if (code)
        return fail(
            code == std::errc::no_such_file_or_directory ? ErrorKind::NotFound : ErrorKind::Io,
            fmt::format("{}: cannot read the folder: {}", folder.native(), code.message()));
    std::sort(folders.begin(), folders.end());
    std::vector<fs::path> recipes;
    for (const auto& inner : folders) {
        GPKG_TRY(const auto found, find_recipes(inner));
        recipes.insert(recipes.end(), found.begin(), found.end());
    }
    return recipes;
}

}  // namespace gpkg
