#pragma once

// What could be changed so that a request has a solution. Every change takes part in a clash; each
// set of changes that is given was solved. Cheap ones are tried first, and what fails is extended
// by what its own clash suggests, so that the first answers are the least intrusive ones.

#include "solver/edges.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace gpkg::solver {

/// What the command that asks for a changed problem would bring.
struct Decided {
    std::optional<Solution> solution;
    /// Without one: the problem as it was put last, which has none, where that is not the changed
    /// one itself.
    std::optional<Problem> unsolved{};
};
using Decide = std::function<Result<Decided>(const Universe&)>;

/// At most three. `clashes` are minimal clashes of `universe`, which have nothing in common. Where
/// no few changes help and a part of the requested specs has a solution, it is what the last fix
/// keeps. Once it is late, what was found until then.
std::vector<Fix> find_fixes(const Universe& universe,
                            const Edges& edges,
                            const std::vector<EdgeSet>& clashes,
                            const Decide& decide,
                            Deadline deadline);

}  // namespace gpkg::solver
