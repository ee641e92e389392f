#pragma once

// `$NAME` and `${NAME}` in texts that people write.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gpkg::manifest {

/// Puts the values of variables in their places. What `env` does not know stays as written, as in
/// Python's os.path.expandvars, which conda uses. Values are not expanded again.
std::string expand_variables(
    std::string_view text, const std::function<std::optional<std::string>(std::string_view)>& env);

}  // namespace gpkg::manifest
