#pragma once

// gpkg build --plan --slurm.

#include "cli/workflow/build/request.hpp"
#include "libcore/build/plan_builds.hpp"

namespace gpkg::cli {

/// What would be submitted, in which order. Gives the exit status.
Result<int> print_slurm_plan(Context& context,
                             const BuildRequest& request,
                             const BuildPlan& plan,
                             const BuildOptions& options);

}  // namespace gpkg::cli
