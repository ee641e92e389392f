#pragma once

// What the names tell that a site gives its machines and their GPUs, where nobody can look.

#include "virtual-packages/profile.hpp"

#include <span>
#include <string>
#include <vector>

namespace gpkg::virtual_packages {

struct NamedParts {
    HardwareProfile profile;          ///< known_by_names
    std::vector<std::string> unread;  ///< types of GPUs that gpkg knows nothing of
};

/// `features` are words for a machine, as Slurm's: "zen4", "x86-64-v3", "a100", "cuda12.4";
/// `gpu_types` are what a site calls its GPUs: "a100", "nvidia_h100_80gb_hbm3", "tesla_v100-sxm2".
/// Words that mean nothing are passed over. The driver of a GPU is assumed to be of the branch that
/// gpkg's own machine of that name has, unless a word tells the CUDA.
NamedParts profile_of_names(const std::string& platform,
                            std::span<const std::string> features,
                            std::span<const std::string> gpu_types);

}  // namespace gpkg::virtual_packages
