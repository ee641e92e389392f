#pragma once

// What a person changed in files that packages brought, and what would be lost with them.

#include "libcore/env/prefix_record.hpp"
#include "libcore/fs/file.hpp"

#include <string>
#include <vector>

namespace gpkg {

/// Whether a file, or a link, is another than was linked, as far as its record and the unpacked
/// package that this names tell. Files that are still those of the store are not read. A folder in
/// its place is none: what is in there belongs to no package.
bool is_changed(const fs::path& prefix, const PrefixRecord& record, const PrefixPath& entry);

/// The warning about such a file of a package that leaves.
std::string lost_change(const PrefixRecord& record, const std::string& path);

/// Those warnings, for all files that leave with these packages and with no other.
Result<std::vector<std::string>> lost_changes(const fs::path& prefix,
                                              const std::vector<PrefixRecord>& leaving);

}  // namespace gpkg
