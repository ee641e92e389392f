#pragma once

#include "libcore/build/builder.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpkg {

struct PlannedBuild {
    fs::path recipe;
    std::string distribution;
    std::string reason;  ///< why it is to be built; empty when it is as it was
    /// It cannot be told: its sources cannot be read. `reason` is empty then.
    std::optional<Error> error;
    std::string name;   ///< what no other has: "linux-64/numpy-1.24.2-hb0f4dca_0"
    std::string place;  ///< those of one place begin with the same staging output
    std::map<std::string, std::string> variant;  ///< the values that it depends on
    BuildInputs inputs;
    std::vector<std::size_t> after;         ///< builds that make what its environments hold
    std::vector<std::size_t> after_others;  ///< and what that brings along, if they can come first
    std::vector<std::size_t> tested_with;   ///< builds that make what its tests' environments hold
    BuiltPackage package;                   ///< as it is when it is as it was; see package_now()

    bool is_needed() const { return !reason.empty(); }
};

struct BuildPlan {
    std::vector<PlannedBuild> builds;
    std::vector<FailedBuild> failures;  ///< recipes that cannot be read
    std::vector<fs::path> skipped;      ///< recipes of which build.skip leaves no output
};

/// What build_all() would build, and why, without building it. In the order of the recipes. What
/// was built and is not published is put into options.staging, as build_all() does.
Result<BuildPlan> plan_builds(const std::vector<fs::path>& recipes, const BuildOptions& options);

/// The package of a build as it lies in the work folder, or else in the channel, by now.
BuiltPackage package_now(const PlannedBuild& build, const BuildOptions& options);

/// The claim that build_all() takes, for who has them built elsewhere.
Result<std::shared_ptr<const RunClaim>> claim_builds(const std::vector<fs::path>& recipes,
                                                     const BuildOptions& options);

}  // namespace gpkg
