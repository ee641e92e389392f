#pragma once

// From a solution to the best solution. What is installed and nothing needs is kept where that is
// possible. Where there is a solution without, toolkits that the driver does not run are left out,
// and then packages that do not run on the machine. Then, of the requested packages, first those
// that are named now and then those that were requested earlier:
//
//   1  each with the best standing: as installed, without track_features; then, if a CUDA is
//      requested by name, builds for it, as far as no package without such builds gets older
//   2  versions that are the newest together (newest_together.hpp), then in the order of naming
//   3  builds for the preferred accelerator, in the order of naming
//   4  the toolkit that these builds go with (libcore/hardware/toolkit.hpp), and where possible GPU
//      builds of what is needed
//   5  versions of the toolkit's own parts
//   6  builds, in the order of naming
//
// Then dependencies one after the other, breadth first, and breadth first again the conditional
// ones that apply to what is settled. Whatever is settled stays: what comes later has the best that
// goes with it.

#include "solver/newest_together.hpp"
#include "solver/preference.hpp"
#include "solver/running.hpp"
#include "solver/search.hpp"

#include <vector>

namespace gpkg::solver {

/// The best solution that was found.
struct Selected {
    std::vector<CandidateId> packages;  ///< in the order in which they were settled
    NotRunning not_running;             ///< of these
    std::vector<Trade> trades;
    bool gave_up = false;  ///< a better one may exist
};

/// `first` must meet `goals`. `open` is what the solution can be made of, the request's specs and
/// constraints being known.
Selected improve(const Universe& universe,
                 Narrowing open,
                 const Ranking& ranking,
                 Search& search,
                 std::vector<Goal> goals,
                 const std::vector<CandidateId>& first);

}  // namespace gpkg::solver
