#pragma once

// What gpkg was told once and for all: defaults, then the root prefix's config.yaml, then the
// environment, later ones winning. Every value knows where it came from. What a command's flags say
// is the command's business.

#include "libcore/base/env_lookup.hpp"
#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/spec/channel_priority.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

std::string_view to_string(ChannelPriority priority);

template <typename T>
struct Setting {
    T value{};
    std::string source = "default";  ///< "default", "GPKG_CACHE_DIR", "config.yaml:3:1"
};

struct Config {
    fs::path home;  ///< of the user; "~" in values stood for it
    fs::path file;  ///< read where it exists, else written by `gpkg config set`

    Setting<fs::path> root_prefix;  ///< GPKG_ROOT_PREFIX, else ~/.local/share/gpkg
    Setting<fs::path> cache_dir;    ///< GPKG_CACHE_DIR, else the root prefix
    Setting<std::vector<std::string>> channels{{"conda-forge"}};
    Setting<ChannelPriority> channel_priority{ChannelPriority::Strict};
    Setting<std::string> channel_alias{"https://conda.anaconda.org"};
    Setting<int> channel_relations_max_depth{10};      ///< 0: what channels declare is ignored
    Setting<std::string> platform;                     ///< CONDA_SUBDIR, else this machine's
    Setting<int> download_threads{8};                  ///< transfers at a time
    Setting<std::vector<fs::path>> conda_pkgs_dirs{};  ///< CONDA_PKGS_DIRS: read, never written

    /// For people: keys nobody knows, two files where one is read.
    std::vector<std::string> warnings;

    fs::path envs() const { return root_prefix.value / "envs"; }
    fs::path package_store() const { return cache_dir.value / "pkgs"; }
    fs::path index_cache() const { return cache_dir.value / "cache"; }
};

struct ConfigSources {
    EnvLookup environment;
    fs::path home;                ///< empty: unknown, GPKG_ROOT_PREFIX must then be set
    std::string native_platform;  ///< what `platform` is when nobody says otherwise
};

/// Reads everything. A value of the wrong kind is an error with file, line and column; relative
/// paths in the file start at its folder.
Result<Config> load_config(const ConfigSources& sources);

/// One key that the config file may have.
struct ConfigKey {
    std::string_view name;
    bool is_list = false;
    std::string_view help;
};
std::span<const ConfigKey> config_keys();
/// The key of that name, or a Usage error with the near ones.
Result<ConfigKey> find_config_key(std::string_view name);

/// A setting as text, for `gpkg config list` and `get`.
struct ShownSetting {
    std::string key;
    bool is_list = false;
    std::vector<std::string> values;  ///< one for a scalar
    std::string source;
};
std::vector<ShownSetting> shown_settings(const Config& config);

}  // namespace gpkg
