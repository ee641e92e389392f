#pragma once

// The one comparison of a package with its paths.json, for trees just unpacked (remembered) and
// trees on disk (looked at).

#include "libcore/package/paths.hpp"
#include "libcore/package/verify.hpp"

#include <functional>
#include <optional>

namespace gpkg {

/// What lies at a path.
struct SeenPath {
    PathType type = PathType::HardLink;
    std::uint64_t size = 0;
    std::string sha256;  ///< empty: not known, not compared
};

/// Nothing when the path is missing. Asked for a checksum only where it settles something.
using LookAt = std::function<Result<std::optional<SeenPath>>(const PathEntry& entry)>;

Result<std::vector<PathDamage>> compare_paths(const std::vector<PathEntry>& entries,
                                              const LookAt& look_at);

/// The failure that tells of `damage` in the package called `what`.
Error damage_error(std::string_view what, const std::vector<PathDamage>& damage);

}  // namespace gpkg
