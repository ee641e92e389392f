#pragma once

// Tells a clash as a tree: the user's own specs first, below each what its candidates ask for, at
// the ends what there is instead.

#include "solver/explain/parts.hpp"

namespace gpkg::solver {

/// Of a clash that is not minimal the tree may be longer than it needs.
Explanation::Clash tell_clash(const Universe& universe,
                              const Edges& edges,
                              const Parts& parts,
                              const EdgeSet& clash,
                              bool is_minimal);

}  // namespace gpkg::solver
