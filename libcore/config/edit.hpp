#pragma once

// Changing a configuration file the way a careful person would: only the lines of the one key,
// comments and everything else left as they are. An edit whose result could not be loaded, or would
// change another key, is refused; the file is replaced atomically.

#include "libcore/config/config.hpp"

#include <functional>

namespace gpkg {

/// The file to edit, and what is in force before.
struct ConfigTarget {
    const Config& config;
    fs::path file;
    EnvLookup environment;
};

// A key is "channels", or "custom_channels.mine" for what stands for one name of a map.

/// Sets `key` to one value, or a list key to all of them. The one value "[]" makes a list empty.
/// Makes the file where there is none.
/// Relative paths among the values must be made absolute by the caller.
Result<void> set_config(const ConfigTarget& target,
                        std::string_view key,
                        const std::vector<std::string>& values);

enum class ListEnd { Front, Back };
/// Adds a value to a list key. False: it is in the list already, nothing was changed. A list that
/// the file does not have begins with the values of the other files, or the default.
Result<bool> add_to_config(const ConfigTarget& target,
                           std::string_view key,
                           const std::string& value,
                           ListEnd end);

/// Removes one value of a list key: `value`, or the first that `shown` makes `value` of, as lists
/// hide passwords. NotFound when the file does not have it.
Result<void> remove_from_config(const ConfigTarget& target,
                                std::string_view key,
                                const std::string& value,
                                const std::function<std::string(std::string_view)>& shown = {});

/// Removes the key, so that the default counts again. NotFound when the file does not have it.
Result<void> unset_config(const ConfigTarget& target, std::string_view key);

}  // namespace gpkg
