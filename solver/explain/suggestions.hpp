#pragma once

// Single changes that may resolve a clash, each with its cost for the user.

#include "solver/edges.hpp"

#include <set>
#include <vector>

namespace gpkg::solver {

struct Suggestion {
    int cost = 0;
    ProblemChange change;
    /// The change is as wide as possible; the message narrows it to the solution.
    bool is_wide = false;
};

/// One of them at least resolves the clash, or nothing short of another request does.
std::vector<Suggestion> suggest(const Universe& universe, const Edges& edges, const EdgeSet& clash);

/// The versions that any spec on the name takes and speaks of: 12.4 of ">=12.4,<13".
std::set<Version> values_asked(const Universe& universe, NameId name);

/// The change as narrow as it can be so that it still allows the solution: "python=3.10" for
/// "python", the oldest driver that will do.
ProblemChange narrowed(ProblemChange change, const Solution& solution);

}  // namespace gpkg::solver
