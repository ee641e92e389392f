#pragma once

// Whether the GPU code that an environment's libraries hold runs on the machine.

#include "cli/workflow/doctor/finding.hpp"

namespace gpkg::cli {

/// Looks into the shared libraries of packages that are for GPUs, or a vendor's own; for what has
/// none, at what the records declare. `compiles_ptx`: the driver does so for what is installed.
std::vector<Finding> check_gpu_code(const Checked& checked, bool compiles_ptx);

}  // namespace gpkg::cli
