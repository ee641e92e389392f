#pragma once

// Single changes that may resolve a clash, each with what it costs the user.

#include "solver/edges.hpp"

#include <set>
#include <vector>

namespace gpkg::solver {

/// The cost of another build or channel of the same version; all else costs more.
inline constexpr int kOtherBuild = 1;

struct Suggestion {
    int cost = 0;
    ProblemChange change;
    /// The change is as wide as can be; what is told is narrowed to what the solution has.
    bool is_wide = false;
};

/// One of them at least resolves the clash, or nothing short of another request does.
std::vector<Suggestion> suggest(const Universe& universe, const Edges& edges, const EdgeSet& clash);

/// The versions that any spec on the name is about: 12.4 of ">=12.4".
std::set<Version> values_asked(const Universe& universe, NameId name);

/// Of a change of the machine: whether the solution stands with any newer version too.
bool takes_newer(const ProblemChange& change, const Solution& solution);

/// The change as narrow as it can be so that it still allows the solution: "python=3.10" for
/// "python", the oldest driver that will do.
ProblemChange narrowed(ProblemChange change, const Solution& solution);

}  // namespace gpkg::solver
