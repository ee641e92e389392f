#pragma once

// environment.yml (CEP 24): the packages, channels and variables of an environment as a person
// writes them. Both kinds of platform selectors are understood: `# [linux and x86_64]` behind a
// line and `- sel(win): pywin32`. Lock files and text spec files are not read here.

#include "libcore/base/env_lookup.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/hardware/asked_spec.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// What an environment.yml means on one platform.
struct Manifest {
    std::optional<std::string> name;  ///< a preference; -n and -p win
    std::optional<fs::path> prefix;   ///< a preference, absolute
    std::string ignored_name;         ///< as written, with ManifestOptions::ignore_name
    std::vector<std::string> channels;
    bool nodefaults = false;  ///< the configured channels are not to be added
    std::vector<MatchSpec> dependencies;
    /// Of the key `accelerator`, which conda ignores, and of selectors among the dependencies.
    AcceleratorWishes accelerators;
    std::vector<std::string>
        pip;  ///< requirements as pip reads them, relative to the file's folder
    std::map<std::string, std::string> variables;
    std::vector<std::string> platforms;  ///< empty: not said
    std::optional<std::string> category;
    std::vector<std::string> warnings;  ///< each begins with its place

    /// The channels of the file, then the configured ones unless `nodefaults` was said.
    std::vector<std::string> channels_before(const std::vector<std::string>& configured) const;
};

struct ManifestOptions {
    std::string platform;  ///< the target, which selectors ask about
    fs::path home;         ///< stands for `~`
    /// Variables in name, prefix and channels; where it is null, or knows none, they stay as
    /// written.
    EnvLookup env;
    /// The environment is named by other means: `name` and `prefix` are neither checked nor
    /// returned, but for `ignored_name`.
    bool ignore_name = false;
};

/// True for the extensions that CEP 24 demands, .yml and .yaml, and for .json: conda also writes
/// environment.json, with the same keys, and JSON is YAML.
bool is_environment_yml(const fs::path& path);

/// `where`, the file's name, begins every error: "env.yml:3:5: ...".
Result<Manifest> parse_environment_yml(std::string_view text,
                                       const std::string& where,
                                       const ManifestOptions& options);

}  // namespace gpkg
