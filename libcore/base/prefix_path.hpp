#pragma once

// Paths inside a package or a prefix: relative texts with '/', as paths.json writes them.

#include <optional>
#include <string>
#include <string_view>

namespace gpkg {

/// "a/b" of "a/b/c", "" of "a".
std::string parent_of(std::string_view path);

/// "libz.so.1" of "lib/libz.so.1".
std::string_view file_name_of(std::string_view path);

/// `rest` below `folder`, which may be empty: the top.
std::string joined_path(std::string_view folder, std::string_view rest);

/// `path` from `folder`, both relative to the same place: ("lib/x", "bin") -> "../lib/x".
std::string path_from(std::string_view path, std::string_view folder);

/// "lib/a/../b" -> "lib/b"; no value when it leads outside.
std::optional<std::string> normal_inside(std::string_view path);

}  // namespace gpkg
