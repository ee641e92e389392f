#pragma once

// Of several processes that change files of one folder, each in its turn.

#include "libcore/fs/descriptor.hpp"

#include <chrono>
#include <functional>
#include <optional>

namespace gpkg {

/// Waits until no other process has its turn in the folder, which is there; while what comes back
/// is kept, none gets one. The lock is flock(2) on the folder itself, so nothing lies there after,
/// and the kernel drops it with the process. An empty descriptor where there is no such lock: the
/// file system has none, or is one that machines share, where a dead server would hang it; work
/// then goes on without. Nothing where another has its turn still when `cancelled` says so, or
/// after `longest`.
std::optional<Descriptor> wait_for_turn(
    const fs::path& folder,
    const std::function<bool()>& cancelled = {},
    std::chrono::milliseconds longest = std::chrono::milliseconds::max());

}  // namespace gpkg
