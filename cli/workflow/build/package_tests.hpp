#pragma once

// Runs the tests that freshly built packages carry, each package in a new environment that holds it
// and what it needs.

#include "cli/context.hpp"
#include "cli/workflow/build/sources.hpp"
#include "libcore/build/publishing.hpp"

#include <set>
#include <string>
#include <vector>

namespace gpkg::cli {

struct FailedPackage {
    std::string distribution;
    Error error;
};

/// Tests what has not passed its tests yet, and gives what failed: a test, or the making of the
/// environment for it. What failed is put aside. Fails only where nothing can be tested, and when
/// interrupted.
Result<std::vector<FailedPackage>> test_packages(Context& context,
                                                 BuildSources& sources,
                                                 const std::vector<BuiltPackage>& packages,
                                                 const Publisher& publisher);

/// Puts aside what was built with a package that will not be published, and gives it.
Result<std::vector<FailedPackage>> withhold_heirs(const std::vector<BuiltPackage>& packages,
                                                  const std::set<std::string>& gone,
                                                  const Publisher& publisher);

}  // namespace gpkg::cli
