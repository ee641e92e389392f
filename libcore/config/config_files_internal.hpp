#pragma once

// Which files hold a configuration, in the order in which they count.

#include "libcore/config/config.hpp"

namespace gpkg {

/// gpkg's own files, whether they exist or not: /etc/gpkg/config.yaml (or what GPKG_SYSTEM_CONFIG
/// names), ~/.config/gpkg/config.yaml (XDG_CONFIG_HOME), config.yaml of the root prefix. Warns
/// where config.yml stands beside config.yaml.
std::vector<ConfigFile> own_config_files(const ConfigSources& sources,
                                         const fs::path& root_prefix,
                                         std::vector<std::string>& warnings);

/// Those of conda's files that exist, in the order of its SEARCH_PATH, later ones winning.
std::vector<fs::path> conda_config_files(const ConfigSources& sources, const fs::path& root_prefix);

/// A variable of the environment; one that is set to nothing counts as not set.
std::optional<std::string> variable(const ConfigSources& sources, std::string_view name);

}  // namespace gpkg
