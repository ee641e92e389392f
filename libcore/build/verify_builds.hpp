#pragma once

// Building twice, to see whether the same inputs make the same bytes.

#include "libcore/build/builder.hpp"

namespace gpkg {

struct BuildDifference {
    std::string distribution;
    std::string what;  ///< the first difference: "lib/a.so: differs at byte 1204"
};

/// Builds the recipes of `built` once more, in other folders below options.work, and compares the
/// packages. options.timestamp or options.reproduce_at must be that of the first build. Fails where
/// a build does.
Result<std::vector<BuildDifference>> verify_builds(const std::vector<fs::path>& recipes,
                                                   const BuildSummary& built,
                                                   const BuildOptions& options);

}  // namespace gpkg
