#pragma once

// --max-closure of gpkg build: what is published brings no more than that with it.

#include "cli/workflow/build/package_tests.hpp"

#include <cstdint>

namespace gpkg::cli {

/// Weighs what each package would install from the channels that it was built with, itself
/// included, and gives those that come to more than `limit` bytes to download, or of which that
/// cannot be told. They are put aside.
Result<std::vector<FailedPackage>> check_closures(Context& context,
                                                  BuildSources& sources,
                                                  const std::vector<BuiltPackage>& packages,
                                                  std::uint64_t limit,
                                                  const Publisher& publisher);

}  // namespace gpkg::cli
