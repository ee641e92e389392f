#pragma once

// Environment variables as a parameter: tests hand in their own.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gpkg {

/// The value of a variable; nothing when it is not set.
using EnvLookup = std::function<std::optional<std::string>(std::string_view)>;

}  // namespace gpkg
