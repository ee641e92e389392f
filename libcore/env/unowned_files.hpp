#pragma once

// What lies in an environment and belongs to no package: what pip installed, what people put there.

#include "libcore/env/prefix_record.hpp"

#include <string>
#include <vector>

namespace gpkg {

/// Files and links that no record names, relative to the prefix, sorted. conda-meta and byte code,
/// which python renews, are left out. Folders that are links are not entered.
Result<std::vector<std::string>> unowned_files(const fs::path& prefix,
                                               const std::vector<PrefixRecord>& records);

/// Copies such files to another prefix, with their times and permissions. Text that names `from` as
/// its prefix, and absolute links into it, name `named` there. What is at `to` already stays.
/// Returns the binary files that name `from`: they are copied as they are.
Result<std::vector<std::string>> copy_unowned(const fs::path& from,
                                              const std::vector<std::string>& files,
                                              const fs::path& to,
                                              const fs::path& named);

}  // namespace gpkg
