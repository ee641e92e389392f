#pragma once

// Finds a minimal clash: edges that have no solution together, and have one as soon as any one of
// them is left out.

#include "solver/edges.hpp"
#include "solver/explain/parts.hpp"

namespace gpkg::solver {

struct FoundClash {
    EdgeSet edges;
    bool is_minimal = true;  ///< proven; else a limit was reached before that
};

/// Any minimal clash. The problem must have no solution.
EdgeSet minimal_clash(const Edges& edges, const Parts& parts);

/// The shortest to print of a few minimal clashes. No part of the request is in it without need,
/// however far from the request the clash is then.
FoundClash short_clash(const Edges& edges, const Parts& parts);

}  // namespace gpkg::solver
