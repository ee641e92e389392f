#pragma once

// gpkg build --slurm on the machine that Slurm chose: one task of a job array.

#include "cli/workflow/build/request.hpp"

namespace gpkg::cli {

/// Does what is ordered in the folder request.slurm_task, and leaves an answer there. Gives the
/// exit status.
Result<int> run_slurm_task(Context& context, const BuildRequest& request);

}  // namespace gpkg::cli
