#pragma once

#include "libcore/build/builder.hpp"

#include <string>
#include <vector>

namespace gpkg {

struct PlannedBuild {
    fs::path recipe;
    std::string distribution;
    std::string reason;  ///< why it is to be built; empty when it is as it was
};

struct BuildPlan {
    std::vector<PlannedBuild> builds;
    std::vector<FailedBuild> failures;  ///< recipes that cannot be read
};

/// What build_all() would build, and why, without building it. In the order of the recipes.
Result<BuildPlan> plan_builds(const std::vector<fs::path>& recipes, const BuildOptions& options);

}  // namespace gpkg
