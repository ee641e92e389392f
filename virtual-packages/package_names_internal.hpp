#pragma once

// What virtual packages of detectors may be called, and what their versions look like.

#include "libcore/base/error.hpp"

#include <string>
#include <string_view>

namespace gpkg::virtual_packages {

/// A version of CEP 33 that starts with a number, since "yes" is one as well; or "any".
bool is_version(std::string_view text);

/// Nothing against a name like "__level_zero"; else what is wrong with it: it is no name that a
/// variable can carry, or one that gpkg or conda give a meaning to.
Result<void> check_free_name(std::string_view name);

/// "CONDA_OVERRIDE_LEVEL_ZERO" for "__level_zero".
std::string override_variable(std::string_view name);

}  // namespace gpkg::virtual_packages
