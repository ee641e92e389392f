#pragma once

// What the names tell that a site gives its machines and their GPUs, where nobody can look; and
// whether what was seen agrees with them, where somebody did.

#include "virtual-packages/profile.hpp"

#include <optional>
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

/// Says that no GPU was seen which a program can use, of a vendor that `named` (of
/// profile_of_names()) tells of, of any where it tells of none: "no GPU of NVIDIA's: the driver
/// does not answer". Nothing where `seen` has them.
std::optional<std::string> lack_of_gpu(const HardwareProfile& named, const HardwareProfile& seen);

/// The GPUs seen that are of other models than `gpu_types` mean: "NVIDIA H100 80GB HBM3". None
/// where one of the types means nothing to gpkg, which may be what it is called here, and none
/// where each type was seen: what else is there need not be the site's to give.
std::vector<std::string> other_models(std::span<const std::string> gpu_types,
                                      const HardwareProfile& seen);

}  // namespace gpkg::virtual_packages
