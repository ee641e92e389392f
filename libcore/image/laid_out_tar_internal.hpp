#pragma once

#include "libcore/env/laid_out.hpp"
#include "libcore/package/tar_stream.hpp"

#include <string>

namespace gpkg {

/// Adds a file of an environment to a tar, under `path`.
Result<void> add_laid_out(TarStream& tar, const LaidOutFile& file, const std::string& path);

}  // namespace gpkg
