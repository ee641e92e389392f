#pragma once

// What compilers make GPU code for, and on which devices it runs. NVIDIA's targets are those of
// nvcc ("CUDA Compiler Driver NVCC", GPU Compilation; "PTX ISA", Release Notes; release notes of
// the toolkits that dropped some), AMD's those of LLVM ("User Guide for AMDGPU Backend",
// Processors).

#include "libcore/base/error.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/spec/version.hpp"
#include "libcore/spec/version_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct ToolkitRange;

/// A compute capability, as a device has it and as code is made for it.
struct CudaTarget {
    /// What code uses that later capabilities need not have; of a device, what is asked of it.
    enum class Features : std::uint8_t {
        Plain,
        Family,    ///< "10.0f": what all of its family has, here 10.0 and 10.3
        Specific,  ///< "9.0a": what this one capability alone has
    };

    int capability = 0;  ///< times ten: 90 for 9.0, 121 for 12.1
    Features features = Features::Plain;

    /// "7.5", "9.0a", "10.0f". Usage errors, also for what no CUDA has ever had code for.
    static Result<CudaTarget> parse(std::string_view text);
    /// Of any version that a device or a file tells: it may be newer than what is known.
    static CudaTarget of(const Version& capability);
    std::string to_string() const;
    /// As nvcc and CMake have it: "90a".
    std::string digits() const;
    friend bool operator==(const CudaTarget&, const CudaTarget&) = default;
    /// The lower capability first, of one the plain before those with features.
    friend bool operator<(const CudaTarget& a, const CudaTarget& b) {
        return a.capability != b.capability ? a.capability < b.capability : a.features < b.features;
    }
};

/// A CUDA toolkit, "12.9". Usage errors for one that was never released; later than the latest that
/// is known here is taken for that one.
Result<Version> parse_toolkit(std::string_view text);
bool is_later_than_known(const Version& toolkit);
/// The last of each major version since 11, the oldest first.
std::vector<Version> latest_toolkits();

/// Whether a toolkit makes machine code (SASS) and PTX for a target.
bool makes_code_for(const Version& toolkit, CudaTarget target);
/// The first that did; nothing for targets that are not known here.
std::optional<Version> first_toolkit(CudaTarget target);
/// All of them, the lowest first; of several releases, those that one of them makes code for.
std::vector<CudaTarget> targets_of(const Version& toolkit);
std::vector<CudaTarget> targets_of(const ToolkitRange& releases);

/// The CUDA of the last driver that supports a device; nothing where new drivers still do ("CUDA
/// Toolkit, Driver, and Architecture Matrix").
std::optional<Version> last_driver_for(CudaTarget device);

/// Whether a capability is of systems on a chip, such as Jetson's. Before 13 their CUDA is a
/// toolkit of its own ("CUDA for Tegra Application Notes").
bool is_tegra(CudaTarget device);
/// All such capabilities, the lowest first.
std::vector<CudaTarget> tegra_devices();

/// How code for one target runs on a device.
CodeFit code_fit(CudaTarget code, CudaTarget device);
/// The same of the best code that one of these CUDA releases makes.
CodeFit code_fit(const ToolkitRange& releases, CudaTarget device);

/// Whether machine code runs as it is: on later minor versions of its major version too, but
/// neither on nor from Tegra ("CUDA C++ Programming Guide", Binary Compatibility), and so with that
/// for a family; specific code on its own capability alone.
bool runs_natively(CudaTarget code, CudaTarget device);
/// Whether a driver can compile PTX for a device: on every later capability; that for a family and
/// specific PTX only where such machine code runs too ("PTX ISA", .target).
bool runs_as_ptx(CudaTarget code, CudaTarget device);

/// GPU code for one target, as it is asked of a compiler.
struct CudaCode {
    CudaTarget target;
    bool has_sass = true;  ///< machine code, for this target and later minor versions
    bool has_ptx = false;  ///< what drivers compile for later targets

    friend bool operator==(const CudaCode&, const CudaCode&) = default;
};

/// "8.0" and "9.0+PTX" as PyTorch has them, "80", "80-real" and "80-virtual" as CMake has them,
/// "sm_80" and "compute_80" as nvcc has them. Usage errors.
Result<CudaCode> parse_cuda_code(std::string_view text);

/// The items of a list of targets: "8.0;9.0+PTX", "80-real, 90", "gfx90a gfx942".
std::vector<std::string> split_targets(std::string_view list);

/// "gfx90a" for 90010, KFD's gfx_target_version; nothing for 0, which marks a CPU.
std::optional<std::string> gfx_name(std::uint32_t target_version);
/// "9.0.10" for "gfx90a", the version of __amdgpu_arch; nothing for anything that is no such name.
std::optional<std::string> gfx_version(std::string_view gfx);
/// The reverse: "gfx90a" of "9.0.10". Nothing for what no such device has.
std::optional<std::string> gfx_of_version(std::string_view version);

/// "gfx90a"; usage errors for other texts, generic targets among them.
Result<std::string> parse_gfx(std::string_view text);
/// Whether LLVM has such a target, a generic one or one for a device.
bool is_known_gfx(std::string_view target);
/// The target that serves all devices of the family that one is of: "gfx9-4-generic" for gfx942;
/// empty where there is none. It needs code objects of version 6: LLVM 19, ROCm 6.4.
std::string_view generic_target(std::string_view gfx);

}  // namespace gpkg
