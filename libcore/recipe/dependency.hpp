#pragma once

// Dependencies as a package states them: positional MatchSpecs, "name", "name version" or "name
// version build" (CEP 34).

#include "libcore/base/error.hpp"

#include <string>
#include <string_view>

namespace gpkg {

/// The positional form of any spelling of a spec: "numpy>=1.26" -> "numpy >=1.26", "python=3.11" ->
/// "python 3.11.*". Refuses what has no such form, and names that are patterns.
Result<std::string> dependency_text(std::string_view spec);

/// The name a dependency begins with.
std::string_view dependency_name(std::string_view spec);

/// ">=1.2.3,<2.0a0" of version 1.2.3 (CEP 39, pins). A bound is an expression of `x` and `.`, a
/// version, or empty for none.
Result<std::string> pin_bounds(std::string_view version,
                               std::string_view lower,
                               std::string_view upper);

}  // namespace gpkg
