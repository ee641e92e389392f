#pragma once

// The files of a package as info/paths.json tells them (CEP 34), with the fallback of old packages
// (info/files, has_prefix, no_link).

#include "libcore/fs/file.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpkg {

enum class PathType { HardLink, SoftLink, Directory };
enum class FileMode { Text, Binary };

struct PathEntry {
    std::string path;  ///< relative to the prefix, "/" between parts, safe to join
    PathType type = PathType::HardLink;
    FileMode mode = FileMode::Text;  ///< matters only with a placeholder
    std::string prefix_placeholder;  ///< what to replace by the prefix; empty: nothing
    bool no_link = false;            ///< must be copied
    std::string sha256;              ///< of the content; of the target's content for a soft link
    std::uint64_t size_in_bytes = 0;
};

/// Reads the file list of the package unpacked at `folder`. Refuses unsafe paths and duplicates.
Result<std::vector<PathEntry>> read_paths(const fs::path& folder);

}  // namespace gpkg
