#pragma once

// What lies in an environment and belongs to no package: what pip installed, what people put there.

#include "libcore/env/prefix_record.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// Files and links that no record names, relative to the prefix, sorted. conda-meta and byte code,
/// which python renews, are left out. Folders that are links are not entered.
Result<std::vector<std::string>> unowned_files(const fs::path& prefix,
                                               const std::vector<PrefixRecord>& records);

/// Folders in which there is nothing, likewise.
Result<std::vector<std::string>> empty_folders(const fs::path& prefix);

/// Copies files, links and empty folders to another prefix, with their times and permissions and
/// those of the folders that are made for them. Text that names `from`, and absolute links into it,
/// name `named` there; what only begins like it stays. What is at `to` already is replaced, a
/// folder with all that is in it by a file or link, and these by a folder. Returns the binary files
/// that name `from`: they are copied as they are.
Result<std::vector<std::string>> copy_unowned(const fs::path& from,
                                              const std::vector<std::string>& files,
                                              const fs::path& to,
                                              const fs::path& named);

/// A text in which a folder of this path has another. "/e/ml" of "/e/ml2", "/e/ml-old" and
/// "/mnt/e/ml" is another folder; of "-I/e/ml/include" and "file:///e/ml" it is this one.
std::string with_folder_renamed(std::string_view text, std::string_view from, std::string_view to);

}  // namespace gpkg
