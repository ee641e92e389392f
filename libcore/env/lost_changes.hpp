#pragma once

// What a person changed in files that packages brought, and what would be lost with them.

#include "libcore/env/prefix_record.hpp"
#include "libcore/fs/file.hpp"

#include <string>
#include <vector>

namespace gpkg {

/// Whether the file holds something else than what was linked, as far as its record tells. Files
/// that are still those of the store are not read.
bool is_changed(const fs::path& prefix, const PrefixRecord& record, const PrefixPath& entry);

/// The warning about such a file of a package that leaves.
std::string lost_change(const PrefixRecord& record, const std::string& path);

/// Those warnings, for all files that leave with these packages and with no other.
Result<std::vector<std::string>> lost_changes(const fs::path& prefix,
                                              const std::vector<PrefixRecord>& leaving);

}  // namespace gpkg
