#pragma once

// What a machine that failed may have left of packages: they are not synced when they are unpacked,
// and the system takes up to half a minute to write them out. The time of the file pkgs/.written
// says until when everything is known to be on the disk.

#include "libcore/fs/file.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace gpkg {

/// The packages that were unpacked after that time and before this machine was started, at
/// `booted` (Unix seconds; 0: not known): damaged ones lose their record, without which they are
/// none. Then the time is moved on. `packages` gives their folders, `record` is the file of a
/// folder that is written last. Once the time lies in this boot it is moved on and nothing else.
void settle_after_failure(const fs::path& store,
                          std::int64_t booted,
                          const std::function<std::vector<fs::path>()>& packages,
                          const fs::path& record);

}  // namespace gpkg
