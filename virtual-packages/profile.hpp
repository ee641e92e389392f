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
    bool is_assumed = false;  ///< by gpkg, for a machine of which only a name is given
};

enum class GpuVendor { Nvidia, Amd, Intel };
/// "nvidia", as files and people write it.
std::string_view vendor_name(GpuVendor vendor);

struct GpuDevice {
    GpuVendor vendor = GpuVendor::Nvidia;
    std::string name;                 ///< as the driver says it; may be empty
    std::string architecture;         ///< compute capability "9.0", "gfx90a", Intel's "12.60.7"
    std::uint64_t memory_mib = 0;     ///< 0: unknown
    std::uint32_t compute_units = 0;  ///< AMD's; 0: unknown

    friend bool operator==(const GpuDevice&, const GpuDevice&) = default;
};

struct VirtualPackage {
    std::string name;  ///< with its two underscores
    std::string version = "0";
    std::string build = "0";

    /// "__cuda=12.4=0"
    std::string to_string() const { return name + "=" + version + "=" + build; }
    friend bool operator==(const VirtualPackage&, const VirtualPackage&) = default;
};

struct DetectedPackage {
    VirtualPackage package;
    std::string source;  ///< "uname", "CONDA_OVERRIDE_CUDA", "default of gpkg", a profile's path
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
    /// What detectors beyond gpkg's own found (detectors.hpp): gpkg makes nothing of it but hands
    /// it on.
    std::vector<DetectedPackage> others;
    std::string origin;  ///< where it is from, for people: "node gpu7 of Slurm, 2026-11-24"
    /// Nobody looked at the machine: a site's names tell these facts, and what they do not tell is
    /// assumed.
    bool known_by_names = false;
};

struct DetectedProfile {
    HardwareProfile profile;
    std::vector<std::string> warnings;
    std::vector<std::string> notes;  ///< what became of each detector, for who writes one
    bool is_nvidia_known = true;     ///< else the driver gave no answer
    bool is_amd_known = true;
};

/// Adds what people want to know and no virtual package follows from: the CPU's own name and the
/// version of NVIDIA's kernel module. No solve waits for /proc/cpuinfo, which has many cores to
/// tell.
void describe(const Host& host, HardwareProfile& profile);

/// Questions that need no answer, since one is given.
struct Decided {
    bool cuda = false;                ///< NVIDIA's driver: no fact about it and no device of theirs
    std::vector<std::string> others;  ///< virtual packages of detectors
};

/// Asks every detector; this may load NVIDIA's driver, and run programs, in processes of their own.
DetectedProfile detect_profile(const Host& host, const Decided& decided = {});

/// Reads the file form, which profile_file.cpp describes. Unknown keys are errors that name near
/// ones.
Result<HardwareProfile> read_profile(const fs::path& path);
/// The same from a text; `where` begins every error and becomes the facts' source.
Result<HardwareProfile> parse_profile(std::string_view text, const std::string& where);

std::string format_profile(const HardwareProfile& profile);
Result<void> write_profile(const HardwareProfile& profile, const fs::path& path);

}  // namespace gpkg::virtual_packages
