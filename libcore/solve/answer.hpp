#pragma once

// The answer to a problem that may be put to the solver in several ways. A request may be for one
// accelerator or else another, may hold to something only where that is possible, and may be for
// building with a CUDA that the driver does not run.

#include "libcore/solve/solve.hpp"

namespace gpkg {

struct Answered {
    Problem problem;  ///< the way it was put: for which accelerator, without what held
    Outcome outcome;
};

/// The first way that has an answer counts. They are, the earlier the more of the request holds:
///
///   with all that holds where possible; without one of it, each by itself; without any of it;
///   each of these for every accelerator in turn (Accelerators::in_turn);
///   and last, for an environment that only builds for NVIDIA's GPUs (only_compiles_for_nvidia),
///   without what cuda-version asks of the driver. That comes first where the environment was
///   decided so.
///
/// Where none has, the explanation is about the accelerator that is wanted most.
Result<Answered> answer(const Problem& problem, const Solve& solve);

/// Whether that is what the solver finds for the problem as it is: there is one way, and all
/// counts.
bool is_answered_as_it_stands(const Problem& problem);

}  // namespace gpkg
