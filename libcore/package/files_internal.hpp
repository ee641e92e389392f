#pragma once

// Files reached folder by folder without following a link.

#include "libcore/base/error.hpp"
#include "libcore/base/text.hpp"  // printable()
#include "libcore/fs/file.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace gpkg {

/// "a/b" for "./a//b/", nothing for "." and "./".
std::string clean_relative(std::string_view path);

/// Opens the file `relative` (safe, clean) below the open folder, refusing links at every step.
/// The descriptor is empty and errno set where that fails: ELOOP or ENOTDIR for a link.
Descriptor open_below(int folder, const std::string& relative, int flags);

Result<std::string> read_descriptor(int fd, std::string_view path);

/// The file that `relative` means when links are followed inside the open folder only: a clean
/// relative path, or nothing when it is missing, loops or leads outside.
std::optional<std::string> resolve_inside(int folder, std::string_view relative);

/// The text of the link, nothing when it is none.
std::optional<std::string> read_link(int folder, const std::string& relative);

}  // namespace gpkg
