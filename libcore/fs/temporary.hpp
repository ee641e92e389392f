#pragma once

#include "libcore/fs/file.hpp"

namespace gpkg {

/// Where files go that nobody keeps: TMPDIR, or /tmp where that is no folder.
fs::path folder_for_temporary();

/// Eight hexadecimal digits that nobody guesses, for the name of a file that is not yet there.
std::string random_suffix();

}  // namespace gpkg
