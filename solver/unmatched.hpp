#pragma once

// Explains a spec that no candidate meets: a wrong name, a version that nobody has, records that
// are left out, a machine that lacks it.

#include "solver/universe.hpp"

namespace gpkg::solver {

/// Adds the reason to `explanation`, from `depth` on.
void say_unmatched(const Universe& universe,
                   const std::vector<std::uint32_t>& ranks,
                   SpecId spec,
                   int depth,
                   Explanation& explanation);

}  // namespace gpkg::solver
