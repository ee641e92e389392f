#pragma once

// Which environments there are: those below the root prefix's envs/, the root prefix itself, and
// those that conda's ~/.conda/environments.txt names.

#include "libcore/fs/file.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// Refuses names that conda refuses: empty, with "/", space, ":" or "#", "base" and "root", "." and
/// "..", leading "-".
Result<void> check_environment_name(std::string_view name);

/// Paths of all environments that exist, the root prefix first, then sorted, each once.
std::vector<fs::path> list_environments(const fs::path& root_prefix, const fs::path& home);

/// Environments inside the folder, at any depth, itself left out. Links are not followed.
std::vector<fs::path> environments_inside(const fs::path& folder);

/// What CONDA_DEFAULT_ENV calls it: "base" for the root prefix, the last part below an envs/
/// folder, else the whole path.
std::string environment_name(const fs::path& prefix, const fs::path& root_prefix);

/// Adds or removes a line of ~/.conda/environments.txt. Adding what is there changes nothing.
Result<void> register_environment(const fs::path& prefix, const fs::path& home);
Result<void> unregister_environment(const fs::path& prefix, const fs::path& home);

}  // namespace gpkg
