#pragma once

// Python distributions in an environment that no conda package owns: what pip and its kin
// installed.

#include "libcore/env/prefix_record.hpp"
#include "libcore/hardware/wheel.hpp"

#include <vector>

namespace gpkg::cli {

/// Sorted by name. What cannot be read is left out: it is pip's, not ours.
std::vector<Wheel> pip_packages(const fs::path& prefix, const std::vector<PrefixRecord>& installed);

}  // namespace gpkg::cli
