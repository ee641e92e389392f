#pragma once

// What the answer to what is asked is, as libcore/solve/answer.hpp has it of a problem.

#include "libcore/asking/posed_request.hpp"

#include <optional>
#include <string>

namespace gpkg {

/// What there would be, or why there is no such thing. The problem then is as it was answered.
/// Where only what is needed is wanted (ReachOptions::only_deps), packages may be taken from the
/// answer's records, and others stand in their place in `wanted.specs`.
Result<Outcome> answer_to(PosedRequest& posed, const Solve& solve);

/// Just that, where there is one: no reasons, and no notes.
Result<std::optional<Solution>> solution_of(PosedRequest& posed, const Solve& solve);

/// Where the machine has GPUs of two vendors, has the builds of one preferred: of the one that
/// builds run there. Says what is in doubt where there are of both, and the answer depends on
/// which is meant.
Result<std::optional<std::string>> prefer_vendor(PosedRequest& posed, const Solve& solve);

}  // namespace gpkg
