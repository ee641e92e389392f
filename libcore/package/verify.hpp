#pragma once

// Does an unpacked package still hold what its info/paths.json promises?

#include "libcore/fs/file.hpp"

#include <string>
#include <vector>

namespace gpkg {

struct PathDamage {
    std::string path;
    std::string what;  ///< "is missing", "has 3 bytes, not 5", ...

    friend bool operator==(const PathDamage&, const PathDamage&) = default;
};

/// Content: every byte is read. Shape: types and sizes only.
enum class VerifyDepth { Shape, Content };

/// Every path that differs. Of a soft link only the type counts: its checksum is that of its
/// target, which has its own entry, or lies in another package.
Result<std::vector<PathDamage>> find_damage(const fs::path& folder, VerifyDepth depth);

/// Integrity when anything differs; the message names the first few paths.
Result<void> verify_unpacked(const fs::path& folder, VerifyDepth depth = VerifyDepth::Content);

}  // namespace gpkg
