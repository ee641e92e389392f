#pragma once

#include "solver/machine_limit.hpp"
#include "solver/notes/notes.hpp"
#include "solver/universe.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpkg::solver {

/// What was to move and would be newer if it might change in kind, and for no other reason: that
/// was tried. Of what was named, else that there is something newer.
std::vector<std::string> notes_on_held_back(const Universe& universe,
                                            MachineLimit& machine,
                                            const std::vector<CandidateId>& chosen,
                                            const WithSpec& with_spec,
                                            std::optional<CandidateId> told);

}  // namespace gpkg::solver
