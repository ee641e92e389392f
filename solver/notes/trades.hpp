#pragma once

#include "solver/newest_together.hpp"
#include "solver/notes/notes.hpp"

#include <string>
#include <vector>

namespace gpkg::solver {

/// Of requested packages that are more than a month older than they could be, so that others are
/// newer: what was given for what, and the spec that decides the other way.
std::vector<std::string> notes_on_trades(const Universe& universe,
                                         const std::vector<CandidateId>& chosen,
                                         const std::vector<Trade>& trades,
                                         const WithSpec& with_spec);

}  // namespace gpkg::solver
