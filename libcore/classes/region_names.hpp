#pragma once

#include "libcore/classes/regions.hpp"
#include "libcore/solve/solve.hpp"

#include <vector>

namespace gpkg {

/// Names regions, which have their needs: "cuda12-glibc2.28". Each by the GPU that its answer is
/// for and by needs; where those are the same, by what it holds as well.
void name_regions(std::vector<Region>& regions, const Request& request);

}  // namespace gpkg
