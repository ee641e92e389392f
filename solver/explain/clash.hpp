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

/// The problem must have no solution. The clash stays as near to the request as it can.
FoundClash minimal_clash(const Edges& edges, const Parts& parts);

/// Of a few minimal clashes the one that takes the fewest lines to tell.
FoundClash short_clash(const Edges& edges, const Parts& parts);

}  // namespace gpkg::solver
