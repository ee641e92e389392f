#pragma once

// `$NAME` and `${NAME}` in texts that people write.

#include "libcore/base/env_lookup.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gpkg::manifest {

/// Puts the values of variables in their places. What `env` does not know stays as written, as in
/// Python's os.path.expandvars, which conda uses. Values are not expanded again.
std::string expand_variables(std::string_view text, const EnvLookup& env);

}  // namespace gpkg::manifest
