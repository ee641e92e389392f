#pragma once

// The builder: recipes in, packages out. Sources, environments, script, what the script left,
// package: one after the other for one output, several outputs at a time. The packages wait in the
// work folder until somebody publishes them (publishing.hpp).
//
// A build sees a clean environment and a prefix whose path is kPlaceholderLength long; the packages
// name canonical_placeholder() instead, so that the same inputs make the same bytes anywhere.

#include "libcore/build/build_options.hpp"
#include "libcore/build/built_package.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gpkg {

class RunClaim;

struct FailedBuild {
    fs::path recipe;
    std::string distribution;  ///< empty where the recipe could not be read
    Error error;
};

struct BuildSummary {
    std::vector<BuiltPackage> packages;  ///< in the order of `recipes`
    std::vector<FailedBuild> failures;
    std::vector<fs::path> skipped;  ///< recipes of which build.skip leaves no output
    /// Until it is gone, other runs that build one of these outputs wait: they will find what was
    /// published.
    std::shared_ptr<const RunClaim> claim;
};

/// Builds every output that is not skipped, each after those that make its build and host packages.
/// Outputs that inherit the same are built in the same place, one after the other. One failure does
/// not stop those that do not need it. Fails only where nothing could be started, and when
/// cancelled; what is built by then is not built again.
Result<BuildSummary> build_all(const std::vector<fs::path>& recipes, const BuildOptions& options);

}  // namespace gpkg
