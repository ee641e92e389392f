#pragma once

// The keys of a configuration: what each is called, how its value is read and shown. Loading and
// editing share them, so that an edit that could not be loaded is refused.

#include "libcore/config/config.hpp"
#include "libcore/yaml/node.hpp"

#include <array>

namespace gpkg {

/// Where a value is read from.
struct Reading {
    std::string_view key;
    fs::path folder;  ///< relative paths begin here; empty: the current folder
    fs::path home;
    fs::path root_prefix;   ///< for $GPKG_ROOT_PREFIX, also where the variable is not set
    EnvLookup environment;  ///< for $NAME
    /// A value is joined to what stands there: lists and maps grow at their end, all else stays.
    bool joins = false;
    bool skips_invalid = false;  ///< as in ConfigSources
};

struct KeyRow {
    ConfigKey key;
    /// Its names in conda's files, and with CONDA_ before them in the environment.
    std::array<std::string_view, 2> conda_names;
    std::string_view separators;  ///< of a list in the environment
    Result<void> (*apply)(const yaml::Node& value, const Reading& reading, Config& config);
    ShownSetting (*show)(const Config& config);
};
std::span<const KeyRow> key_rows();
/// The row of a key by its own name or one of conda's; null without one.
const KeyRow* find_row(std::string_view name);
/// The environment variables that set a key: gpkg's first, then conda's. None for a Map.
std::vector<std::string> variables_of(const KeyRow& row);
/// The settings with their values as they are, secrets included.
std::vector<ShownSetting> settings_as_text(const Config& config);

/// Checks that one key of the document `text`, which stands at `file`, can be loaded. Other keys
/// may be invalid.
Result<void> check_config_key(std::string_view text,
                              const fs::path& file,
                              std::string_view key,
                              const EnvLookup& environment,
                              Config config);

/// The folder that `text` names. "~" is home, $NAME a variable; `where` begins every error.
Result<fs::path> folder_from(std::string_view text, std::string_view where, const Reading& reading);

}  // namespace gpkg
