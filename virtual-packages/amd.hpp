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

/// "gfx90a" for 90010, KFD's gfx_target_version; nothing for 0, which marks a CPU.
std::optional<std::string> gfx_name(std::uint32_t target_version);
/// The reverse of gfx_version(): "gfx90a" of "9.0.10". Nothing for what no such device has.
std::optional<std::string> gfx_of_version(std::string_view version);
/// "9.0.10" for "gfx90a"; nothing for anything that is no such name.
std::optional<std::string> gfx_version(std::string_view gfx);

}  // namespace gpkg::virtual_packages
