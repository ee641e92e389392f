#pragma once

// Which of two candidates of one name is better (conda-standards 25): the one place where the order
// is decided. The order is total and a function of the records alone, so the same problem has the
// same answer whatever order its records come in.

#include "solver/universe.hpp"

#include <vector>

namespace gpkg::solver {

/// For each candidate its place among the candidates of its name, 0 being the best.
std::vector<std::uint32_t> rank_candidates(const Universe& universe);

}  // namespace gpkg::solver
