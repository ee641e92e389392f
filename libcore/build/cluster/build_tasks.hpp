#pragma once

// A plan of builds in portions that machines can build apart from each other.

#include "libcore/build/plan_builds.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gpkg {

/// What is built by one process: the outputs of a recipe, of one variant as a rule, that begin with
/// the same staging output, or one output that inherits nothing. Where two such portions need each
/// other, they are one.
struct BuildTask {
    std::vector<std::size_t> builds;  ///< of the plan, in its order; those that are needed only
    std::vector<std::size_t> after;   ///< tasks that make what they are built with
    std::size_t wave = 0;             ///< how many tasks come after each other before this one
    /// What the environments of its tests hold is made by it, by tasks before it, or by none. Else
    /// its packages are tested when everything is built.
    bool can_test = true;
};

/// Of the builds that are needed and can be done, in the order of the plan.
std::vector<BuildTask> build_tasks(const BuildPlan& plan);

}  // namespace gpkg
