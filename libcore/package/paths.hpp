#pragma once

// The files of a package as info/paths.json tells them (CEP 34), with the fallback of old packages
// (info/files, has_prefix, no_link).

#include "libcore/base/cancelled.hpp"
#include "libcore/fs/file.hpp"

#include <cstdint>
#include <string>
#include <string_view>
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

    friend bool operator==(const PathEntry&, const PathEntry&) = default;
};

/// Whether the list can name such a file, and read_paths() would take it: UTF-8 (it is JSON),
/// without what is_safe_relative() refuses.
bool is_package_path(std::string_view path);

/// The clean form of a payload path; refuses unsafe ones, info/ and the records in conda-meta/.
Result<std::string> checked_payload_path(std::string_view path, std::string_view what);

/// Reads the file list of the package unpacked at `folder`. Refuses unsafe paths and duplicates.
Result<std::vector<PathEntry>> read_paths(const fs::path& folder);

/// Reads the text of a paths.json; `what` names it in errors. The same refusals. An entry without
/// a checksum (dangling links, directories) has an empty `sha256`.
Result<std::vector<PathEntry>> parse_paths_json(std::string_view text, std::string_view what);

/// The text of a paths.json, sorted by path: the same entries give the same bytes.
std::string paths_json(std::vector<PathEntry> entries);

/// What info/paths.json says of `files` (relative to `folder`): checksums, sizes and types, and for
/// every file that holds `placeholder` how to replace it: one with a NUL byte is binary. A soft
/// link has the checksum of its target where that is a file inside `folder`, else that of an empty
/// file, as conda-build writes it.
/// Unsafe and missing paths are refused. An empty placeholder: nothing is searched for.
Result<std::vector<PathEntry>> describe_paths(const fs::path& folder,
                                              const std::vector<std::string>& files,
                                              std::string_view placeholder,
                                              const Cancelled& cancelled = {});

}  // namespace gpkg
