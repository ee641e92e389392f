#pragma once

// Environments by name and path: how messages and command lines name one, and the list of all as
// `env list` and `info` show it.

#include "cli/context.hpp"
#include "libcore/env/environments.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace gpkg::cli {

EnvironmentFolders environment_folders(const Config& config);

/// Whether -n `name` is an environment that exists.
bool is_environment_name(const Config& config, const std::string& name);

/// "ml", or the path of an environment without a name.
std::string environment_name(const Context& context, const fs::path& prefix);

/// How a command line names an environment: "-n ml", else "-p /path".
std::string target_words(const Context& context, const fs::path& prefix);

/// All that exist, and those that an interrupted command left unfinished.
std::vector<fs::path> all_environments(const Context& context);

/// Conda's "envs" and "envs_details", and "envs_interrupted": those that an interrupted command
/// left unfinished. Of these the first two have only those that are environments.
void add_environments(nlohmann::ordered_json& document, const Context& context);

/// As a table, the active one marked with "*", and those that an interrupted command left
/// unfinished with the command that repairs them; in JSON mode as a document of its own.
/// `with_sizes`: of the files of their packages.
void print_environments(const Context& context, bool with_sizes = false);

}  // namespace gpkg::cli
