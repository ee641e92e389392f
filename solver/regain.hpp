#pragma once

// The best build of what is settled early may leave nothing but builds for CPUs of what comes after
// it: cupy for CUDA 13 goes with no pytorch for 12.9, cupy of the same version for 12 does.

#include "solver/running.hpp"
#include "solver/search.hpp"

#include <cstdint>
#include <vector>

namespace gpkg::solver {

/// An answer, and what was settled before all builds in it.
struct Regained {
    std::vector<CandidateId> chosen;  ///< as improve() gives it
    std::vector<NameId> names;        ///< what became a build for the preferred accelerator
    /// What was asked for of a vendor's own parts, and was newer before that.
    std::vector<CandidateId> given_up;
    NotRunning not_running;  ///< of `chosen`
    bool gave_up = false;    ///< as Search::gave_up()
};

/// `chosen` is what improve() makes of `open` and `goals`: name by name the best, so that the first
/// may have cost the next its build for the GPU. What of it is asked for, and is there for another
/// accelerator than is preferred, becomes a build of its version or of a newer one that is, and
/// what does not run (not_running_in) one of whatever version that does, where all else that is
/// asked for keeps its version and accelerator, a vendor's own parts aside. What that needs
/// directly does where nothing but such parts gets older, and all else where nothing does.
///
/// Of cupy and pytorch the newest cupy goes with a CUDA that pytorch has no build for: another
/// build of that cupy does, and pytorch comes for the GPU. For a colmap for the GPU an older
/// cuda-core is taken, a vendor's own part.
Regained regain_accelerators(const Universe& universe,
                             Narrowing open,
                             const std::vector<std::uint32_t>& ranks,
                             Search& search,
                             const std::vector<Goal>& goals,
                             std::vector<CandidateId> chosen);

}  // namespace gpkg::solver
