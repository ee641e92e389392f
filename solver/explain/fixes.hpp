#pragma once

// What could be changed so that a request has a solution. Every change takes part in a clash; each
// set of changes that is given was solved. Cheap ones are tried first, and what fails is extended
// by what its own clash suggests, so that the first answers are the least intrusive ones.

#include "solver/edges.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace gpkg::solver {

/// The best solution of a universe, where it has one.
using Decide = std::function<Result<std::optional<Solution>>(const Universe&)>;

/// At most three. `clash` is a minimal clash of `universe`.
std::vector<Fix> find_fixes(const Universe& universe,
                            const Edges& edges,
                            const EdgeSet& clash,
                            const Decide& decide);

}  // namespace gpkg::solver
