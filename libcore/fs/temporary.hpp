#pragma once

#include "libcore/fs/file.hpp"

namespace gpkg {

/// Where files go that nobody keeps: TMPDIR, or /tmp where that is no folder.
fs::path folder_for_temporary();

}  // namespace gpkg
