#pragma once

// Why a request has no solution, and what would help, as programs get it.

#include "libcore/solve/explanation.hpp"

#include <nlohmann/json_fwd.hpp>

namespace gpkg::cli {

nlohmann::ordered_json clashes_json(const Explanation& explanation);
/// What it changes and gives.
nlohmann::ordered_json fix_json(const Fix& fix);

}  // namespace gpkg::cli
