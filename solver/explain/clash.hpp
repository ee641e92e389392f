#pragma once

// Finds a minimal clash: edges that have no solution together, and have one as soon as any one of
// them is left out.

#include "solver/edges.hpp"
#include "solver/explain/parts.hpp"

namespace gpkg::solver {

/// The problem must have no solution. The clash stays as near to the request as it can.
EdgeSet minimal_clash(const Edges& edges, const Parts& parts);

/// Of a few minimal clashes the one that takes the fewest lines to tell.
EdgeSet short_clash(const Edges& edges, const Parts& parts);

}  // namespace gpkg::solver
