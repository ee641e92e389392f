#pragma once

// What runs when an environment with nvcc is activated and deactivated, for shells of the sh
// family: as conda-forge's cuda-nvcc does it, nvcc compiles host code with the environment's
// compiler, and compilers find what CUDA's packages have put into targets/.

#include <string>

namespace gpkg {

/// `target` is "targets/x86_64-linux".
std::string compiler_activation(const std::string& target);
/// Every variable becomes what it was before.
std::string compiler_deactivation();

}  // namespace gpkg
