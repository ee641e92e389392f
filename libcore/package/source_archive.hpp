#pragma once

// Source archives as they come, of any kind that libarchive reads: .tar.*, .zip, .7z and so on.

#include "libcore/base/cancelled.hpp"
#include "libcore/fs/file.hpp"

namespace gpkg {

/// Unpacks `archive` into the folder `to`, which should be empty and private: what lies there may
/// be replaced. A member that leads out of it, and damage, is an Integrity error.
Result<void> unpack_source_archive(const fs::path& archive,
                                   const fs::path& to,
                                   const Cancelled& cancelled = {});

}  // namespace gpkg
