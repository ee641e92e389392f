#pragma once

// Why a request has no solution: the fewest of the user's specs that clash, then what each of them
// leads to, as a short tree.

#include "solver/universe.hpp"

namespace gpkg::solver {

/// `universe` must have no solution for its request. Works on the unreduced problem, so that the
/// reasons are those of the records and not of an optimisation.
Explanation explain(const Universe& universe);

}  // namespace gpkg::solver
