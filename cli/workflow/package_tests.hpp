#pragma once

// Runs the tests that freshly built packages carry, each package in a new environment that holds it
// and what it needs.

#include "cli/context.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/build/builder.hpp"

#include <cstddef>
#include <vector>

namespace gpkg::cli {

/// Tests what was built, not what was found unchanged. Failures are told as they come; gives their
/// number.
Result<std::size_t> test_packages(Context& context,
                                  const SourceOptions& sources,
                                  const std::vector<BuiltPackage>& packages);

}  // namespace gpkg::cli
