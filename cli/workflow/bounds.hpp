#pragma once

// What may come to the disk: as much as the user said, and as there is room for this user.

#include "cli/context.hpp"
#include "cli/workflow/change.hpp"
#include "libcore/env/room.hpp"
#include "libcore/package/unpack.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace gpkg::cli {

/// Refuses downloads that are too much whatever is in them, and returns the room that they have in
/// the store; nothing where none are needed, or nobody tells.
Result<std::optional<Room>> check_downloads(const fs::path& store,
                                            const std::vector<PackageRecord>& fetch,
                                            const ChangeOptions& options);

/// What unpacking them may take; none where everything may come.
std::shared_ptr<Allowance> allowance_of(const ChangeOptions& options,
                                        const std::optional<Room>& room);

}  // namespace gpkg::cli
