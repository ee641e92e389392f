#pragma once

// The smallest changes that give a request a solution: a best-first search for a minimal hitting
// set. Every conflict has to lose one of its members, so each set of changes that is not enough is
// extended by each single change of its own conflict (suggestions.hpp), the cheapest set first:
// builds before versions before pins before packages. Each fix was solved.

#include "solver/edges.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace gpkg::solver {

/// What the command that asks for a changed problem would bring.
struct Decided {
    /// The changed one; without a solution the way in which it was put last.
    std::unique_ptr<const Problem> problem;
    Universe universe;  ///< of that problem
    std::optional<Solution> solution;
};
/// Any: the solution need not be the best, and may have no records.
enum class Answer { Any, Best };
using Decide = std::function<Result<Decided>(const Problem&, Answer)>;

/// At most three, the smallest change first. `clashes` are minimal conflicts of `universe`, which
/// have nothing in common. A search that takes too long ends; then the fix keeps as much of the
/// request as was found to go together, and a smaller one may exist. Once it is late, what was
/// found until then.
std::vector<Fix> find_fixes(const Universe& universe,
                            const Edges& edges,
                            const std::vector<EdgeSet>& clashes,
                            const Decide& decide,
                            Deadline deadline);

}  // namespace gpkg::solver
