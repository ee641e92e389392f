#pragma once

// AMD GPUs from the kernel's KFD topology in sysfs, their presence alone from DRM, and the ROCm
// installation. No library is opened.

#include "virtual-packages/profile.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::virtual_packages {

struct AmdFacts {
    std::optional<Fact> driver;  ///< set when the kernel driver has a device
    std::vector<GpuDevice> devices;
    std::optional<Fact> rocm;
    std::vector<std::string> warnings;
};

AmdFacts detect_amd(const Host& host);

}  // namespace gpkg::virtual_packages
