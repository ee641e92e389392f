#pragma once

// Globs of recipes over the files of a prefix: `*` and `?` stay inside one name, `**` crosses
// folders, `[a-z]` and `[!a]` are sets. A pattern that names a folder means everything in it.

#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

bool path_glob_matches(std::string_view pattern, std::string_view path);
bool any_path_glob_matches(const std::vector<std::string>& patterns, std::string_view path);

}  // namespace gpkg
