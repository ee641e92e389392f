#pragma once

#include "solver/machine_limit.hpp"
#include "solver/notes/notes.hpp"
#include "solver/universe.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpkg::solver {

struct HeldKindNote {
    CandidateId on;
    std::string text;
    bool brings_accelerator = false;  ///< it tells how what is preferred is to be had
};

/// On the first that is asked for, and new or to be updated, and would be newer or for the
/// accelerator that is preferred if the CUDA, the BLAS or the MPI of what is installed might
/// change: that was tried.
std::optional<HeldKindNote> note_on_held_kinds(const Universe& universe,
                                               MachineLimit& machine,
                                               const std::vector<CandidateId>& chosen,
                                               const WithSpec& with_spec);

}  // namespace gpkg::solver
