#pragma once

// Whether the GPU code that an environment's libraries hold runs on the machine.

#include "cli/workflow/health/checkup.hpp"

namespace gpkg::cli {

/// Looks into the shared libraries of packages that are for GPUs, or a vendor's own; for what has
/// none, at what the records declare. `compiles_ptx`: the driver does so for what is installed.
std::vector<Finding> check_gpu_code(const Checked& checked, bool compiles_ptx);

/// What a caution of Cascade's comes to: "..., which makes no machine code for compute capability
/// 12.0: there it runs as PTX, where it has some, or not at all".
std::string at_best_as_ptx(const std::string& caution);

}  // namespace gpkg::cli
