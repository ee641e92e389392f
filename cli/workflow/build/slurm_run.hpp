#pragma once

// gpkg build --slurm on the machine where the user is: plans, submits, waits and gathers.

#include "cli/workflow/build/outcome.hpp"
#include "cli/workflow/build/request.hpp"
#include "cli/workflow/progress.hpp"

#include <vector>

namespace gpkg::cli {

/// Has what is to be built made and tested by tasks of job arrays. Tasks that an earlier run left,
/// cut off, are gathered or waited for. What came of it is in `outcome`, as if it had been built
/// here; nothing is published yet. Interrupted by Ctrl-C, it cancels what it submitted; by SIGTERM
/// and SIGHUP, it leaves that to the next run.
Result<void> build_by_slurm(Context& context,
                            const BuildRequest& request,
                            const std::vector<fs::path>& recipes,
                            BuildOptions& options,
                            Progress& progress,
                            BuildOutcome& outcome);

}  // namespace gpkg::cli
