#pragma once

// What several machines have in common: a decision that holds on each of them.

#include "virtual-packages/profile.hpp"

#include <optional>
#include <span>

namespace gpkg::virtual_packages {

/// The least of each fact: the lowest versions, the microarchitecture that all others descend from,
/// of NVIDIA's devices the one with the lowest compute capability; of AMD's, whose targets have no
/// order, one only where all are the same. What one of them lacks, or is not known of one, is not
/// in it. Nothing for machines of different platforms.
std::optional<HardwareProfile> common_profile(std::span<const HardwareProfile> machines);

}  // namespace gpkg::virtual_packages
