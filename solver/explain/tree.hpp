#pragma once

// Tells a clash as a tree: the user's own specs first, below each what its candidates ask for, at
// the ends what there is instead.

#include "solver/explain/parts.hpp"

namespace gpkg::solver {

/// `clash` must be minimal.
Explanation::Clash tell_clash(const Universe& universe,
                              const Edges& edges,
                              const Parts& parts,
                              const EdgeSet& clash);

}  // namespace gpkg::solver
