#pragma once

#include "solver/universe.hpp"

#include <string>
#include <vector>

namespace gpkg::solver {

/// NAME[accel=...] of packages that come in one form: nothing heeds it, though what they need may
/// come in several.
std::vector<std::string> notes_on_unheeded_accelerators(const Universe& universe,
                                                        const std::vector<CandidateId>& chosen);

}  // namespace gpkg::solver
