#pragma once

// The two ways by which an image is mounted.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <cerrno>
#include <string_view>

namespace gpkg {

/// What this machine does not do, and what it says of that.
tl::unexpected<Error> cannot(std::string_view what, int code = errno);

/// Root's.
Result<void> mount_by_kernel(const fs::path& image, const fs::path& place);

/// Where squashfuse is; Unsupported where there is none, or where this user may not use FUSE.
Result<fs::path> usable_squashfuse();

}  // namespace gpkg
