#pragma once

// What a user should know of an answer, in a line each.

#include "solver/newest_together.hpp"
#include "solver/running.hpp"
#include "solver/universe.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpkg::solver {

/// What the request brings of a package.
struct Brought {
    Version version;
    Accelerator accelerator;
    bool runs = true;                  ///< on the machine, with what is brought beside it
    bool needs_build_for_gpu = false;  ///< directly
    /// What else is asked for, by name.
    std::map<std::string, std::pair<Version, Accelerator>> requested{};
};

/// The same where `spec` may change what is installed, as ProblemChange::LetChange has it, or is
/// the name of what holds where possible, which then does not; nothing where the request has no
/// answer then, or one without the package. That takes another solve.
using WithSpec =
    std::function<std::optional<Brought>(const std::string& name, const std::string& spec)>;

std::vector<std::string> notes_on(const Universe& universe,
                                  const std::vector<CandidateId>& chosen,
                                  const NotRunning& not_running,
                                  const std::vector<Trade>& trades,
                                  const WithSpec& with_spec);

}  // namespace gpkg::solver
