#pragma once

// Which environments there are, and what they are called: the root prefix, those in the folders of
// environments, and those that conda's ~/.conda/environments.txt names.

#include "libcore/fs/file.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// Refuses names that conda refuses: empty, with "/", space, ":" or "#", "base" and "root", "." and
/// "..", leading "-".
Result<void> check_environment_name(std::string_view name);

/// Where environments have their names.
struct EnvironmentFolders {
    fs::path root_prefix;        ///< "base"; may be empty
    std::vector<fs::path> envs;  ///< of several environments of one name the first's counts

    /// The environment of that name, else where it would be made: in the first folder that can be
    /// written to.
    fs::path path_of(std::string_view name) const;
    /// Where a new one of that name is made: the same, but an environment that this user cannot
    /// change, of a site say, is no reason not to have one in a folder that goes before its own.
    fs::path path_for_new(std::string_view name) const;
    /// Whether path_of() finds it, or it is the root prefix.
    bool has(const fs::path& prefix) const;
    /// What CONDA_DEFAULT_ENV calls it: "base" for the root prefix, the last part in a folder of
    /// environments or in one called envs, else the whole path.
    std::string name_of(const fs::path& prefix) const;
};

/// Paths of all environments that exist, the root prefix first, then sorted, each once.
std::vector<fs::path> list_environments(const EnvironmentFolders& folders, const fs::path& home);

/// Paths of environments that an interrupted command left unfinished, in the same order. Some are
/// not environments yet, or not any more.
std::vector<fs::path> interrupted_environments(const EnvironmentFolders& folders,
                                               const fs::path& home);

/// Hidden folders beside environments that killed or failed commands left, and in which no command
/// is at work (prefix_of_rest() tells of which environment each is).
std::vector<fs::path> unfinished_folders(const EnvironmentFolders& folders);

/// Environments inside the folder, at any depth, itself left out. Links are not followed.
std::vector<fs::path> environments_inside(const fs::path& folder);

/// Whether ~/.conda/environments.txt has the path.
bool is_registered(const fs::path& prefix, const fs::path& home);
/// Adds or removes a line of ~/.conda/environments.txt. Adding what is there changes nothing.
Result<void> register_environment(const fs::path& prefix, const fs::path& home);
Result<void> unregister_environment(const fs::path& prefix, const fs::path& home);

}  // namespace gpkg
