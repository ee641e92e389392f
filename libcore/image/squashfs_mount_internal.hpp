#pragma once

// The two ways by which an image is mounted.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

namespace gpkg {

/// Root's.
Result<void> mount_by_kernel(const fs::path& image, const fs::path& place);

/// Where squashfuse is; Unsupported where there is none, or where this user may not use FUSE.
Result<fs::path> usable_squashfuse();

}  // namespace gpkg
