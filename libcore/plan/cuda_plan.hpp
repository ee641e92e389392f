#pragma once

// The fewest builds for CUDA, each with a toolkit and the fewest targets, that serve given devices.

#include "libcore/base/error.hpp"
#include "libcore/hardware/gpu_targets.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gpkg {

struct CudaDevice {
    CudaTarget target;  ///< specific where the build is to use what this capability alone has
    /// The newest CUDA that its driver supports, where that is known: a build of a later major
    /// version does not run there, and PTX of a later CUDA is not compiled.
    std::optional<Version> driver{};
    std::string machine{};  ///< that has it, for messages; may be empty

    friend bool operator==(const CudaDevice& a, const CudaDevice& b) {
        return a.target == b.target && a.driver == b.driver;
    }
};

/// When it is enough that the driver compiles PTX at the first start.
enum class PtxUse {
    Never,
    Rest,      ///< for devices that no toolkit has machine code for
    Anywhere,  ///< wherever it saves a target
};

struct CudaPlanOptions {
    std::vector<Version> toolkits;  ///< there is at least one
    PtxUse ptx = PtxUse::Never;
    bool exact = false;          ///< machine code for each device's own capability
    bool every_toolkit = false;  ///< a build with each, for all that it can serve
    bool future = false;         ///< also PTX of the highest target, for devices to come
    std::optional<std::size_t> most_builds{};
};

struct CudaBuild {
    Version toolkit;
    std::set<CudaTarget> sass;
    std::set<CudaTarget> ptx;  ///< some of `sass`: PTX comes beside machine code

    /// As PyTorch's TORCH_CUDA_ARCH_LIST and variant files have it: "8.0;9.0+PTX".
    std::string arch_list() const;
    /// As CMake's CMAKE_CUDA_ARCHITECTURES has it: "80-real;90".
    std::string cmake_list() const;
};

/// How a build serves a device.
struct CudaService {
    bool natively = false;  ///< else as PTX
    CudaTarget by;
};
std::optional<CudaService> service_of(const CudaBuild& build,
                                      const CudaDevice& device,
                                      bool exact = false);

/// Builds of the newest toolkits that do, the oldest first. Of plans with the fewest builds that
/// with the fewest devices on PTX (unless it may be Anywhere), then with the fewest targets, then
/// with the newest toolkits. Unsatisfiable, with the reason, for a device that nothing serves, and
/// where more than `most_builds` are needed.
Result<std::vector<CudaBuild>> plan_cuda(const std::vector<CudaDevice>& devices,
                                         const CudaPlanOptions& options);

}  // namespace gpkg
