#pragma once

// Why a request has no solution: a minimal clash, told as a short tree, and what would help.

#include "solver/explain/fixes.hpp"
#include "solver/universe.hpp"

namespace gpkg::solver {

/// `universe` must have no solution for its request. Works on the unreduced problem, so that the
/// reasons are those of the records and not of an optimisation.
Explanation explain(const Universe& universe, const Decide& decide);

}  // namespace gpkg::solver
