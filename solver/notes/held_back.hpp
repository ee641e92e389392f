#pragma once

#include "solver/machine_limit.hpp"
#include "solver/universe.hpp"

#include <string>
#include <vector>

namespace gpkg::solver {

/// What was to move and would be newer if it might change in kind, and for no other reason.
std::vector<std::string> notes_on_held_back(const Universe& universe,
                                            MachineLimit& machine,
                                            const std::vector<CandidateId>& chosen);

}  // namespace gpkg::solver
