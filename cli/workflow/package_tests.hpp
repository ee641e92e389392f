#pragma once

// Runs the tests that freshly built packages carry, each package in a new environment that holds it
// and what it needs.

#include "cli/context.hpp"
#include "cli/workflow/build_sources.hpp"
#include "libcore/build/builder.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

struct FailedPackage {
    std::string distribution;
    Error error;
};

/// Tests what has not passed its tests yet, and gives what failed: a test, or the making of the
/// environment for it. What failed leaves the channel, for a folder below `work`. Fails only where
/// nothing can be tested, and when interrupted.
Result<std::vector<FailedPackage>> test_packages(Context& context,
                                                 BuildSources& sources,
                                                 const std::vector<BuiltPackage>& packages,
                                                 const fs::path& work);

}  // namespace gpkg::cli
