#pragma once

// Whether what is installed is for the GPU that is there: builds for CPUs beside a GPU, and builds
// for a GPU that is not there.

#include "cli/workflow/doctor/finding.hpp"

#include <vector>

namespace gpkg::cli {

/// One finding for what hangs together: of pytorch and libtorch, pytorch.
std::vector<Finding> check_accelerators(const Checked& checked);

}  // namespace gpkg::cli
