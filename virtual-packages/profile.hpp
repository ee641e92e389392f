#pragma once

// A HardwareProfile is what a machine is: facts alone, detected here or read from a file that
// another machine wrote. What follows from the facts for a solve is in virtual_package.hpp.

#include "virtual-packages/host.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::virtual_packages {

/// A fact and where it came from: "uname", "libcuda.so.1 cuDriverGetVersion", "a100.yaml".
struct Fact {
    std::string value;
    std::string source;
};

enum class GpuVendor { Nvidia, Amd };

struct GpuDevice {
    GpuVendor vendor = GpuVendor::Nvidia;
    std::string name;                 ///< as the driver says it; may be empty
    std::string architecture;         ///< compute capability "9.0", or "gfx90a"
    std::uint64_t memory_mib = 0;     ///< 0: unknown
    std::uint32_t compute_units = 0;  ///< AMD's; 0: unknown

    friend bool operator==(const GpuDevice&, const GpuDevice&) = default;
};

/// A fact that is not there is unknown.
struct HardwareProfile {
    std::string platform;           ///< what the machine is, e.g. "linux-64"
    std::optional<Fact> cpu_model;  ///< "AMD EPYC 9654 96-Core Processor"
    /// A name of archspec's database, e.g. "zen4".
    std::optional<Fact> microarchitecture;
    std::optional<Fact> glibc;          ///< "2.36"; an empty value: the C library is another one
    std::optional<Fact> linux_;         ///< the kernel's mainline version, "6.1.0"
    std::optional<Fact> osx;            ///< "14.4"
    std::optional<Fact> windows;        ///< "10.0.19045"
    std::optional<Fact> nvidia_driver;  ///< the kernel module's version, "570.86.15"
    std::optional<Fact> cuda;           ///< the newest CUDA the driver supports, "12.4"
    std::optional<Fact> amdgpu;         ///< the kernel driver has a device; the value is empty
    std::optional<Fact> rocm;           ///< of the ROCm installation, "6.4.1"
    std::vector<GpuDevice> gpus;
};

struct DetectedProfile {
    HardwareProfile profile;
    std::vector<std::string> warnings;
};

/// Adds what people want to know and no virtual package follows from: the CPU's own name and the
/// version of NVIDIA's kernel module. No solve waits for /proc/cpuinfo, which has many cores to
/// tell.
void describe(const Host& host, HardwareProfile& profile);

/// Asks every detector; this may load NVIDIA's driver, in a process of its own.
DetectedProfile detect_profile(const Host& host);
/// The same without NVIDIA's driver: no fact about it and no device of theirs.
DetectedProfile detect_profile_without_cuda(const Host& host);

/// Reads the file form, which profile_file.cpp describes. Unknown keys are errors that name near
/// ones.
Result<HardwareProfile> read_profile(const fs::path& path);
/// The same from a text; `where` begins every error and becomes the facts' source.
Result<HardwareProfile> parse_profile(std::string_view text, const std::string& where);

std::string format_profile(const HardwareProfile& profile);
Result<void> write_profile(const HardwareProfile& profile, const fs::path& path);

}  // namespace gpkg::virtual_packages
