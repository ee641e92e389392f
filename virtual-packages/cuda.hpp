#pragma once

// What NVIDIA's driver says of itself and its devices. The driver library is opened by another
// process (this program, started again with kCudaProbeVerb), with a time limit and without ever
// waiting for a process that cannot be killed: a driver that hangs or crashes costs a warning.

#include "virtual-packages/profile.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpkg::virtual_packages {

/// The hidden verb: `gpkg __probe-cuda LIBRARY...` must do nothing but call cuda_probe_main.
inline constexpr const char* kCudaProbeVerb = "__probe-cuda";

/// The probe: opens the first usable one of `libraries`, prints each fact as a line as soon as it
/// knows it, and ends the process without running exit handlers.
///   probe    library NAME    rejected NAME REASON    driver 12040    init 0    devices 1
///   device 0 cc 9 0 memory 85899345920 name NVIDIA H100    end
[[noreturn]] void cuda_probe_main(std::span<char* const> libraries);

struct CudaReport {
    std::string library;        ///< the one that answered
    std::optional<int> driver;  ///< cuDriverGetVersion: 1000 * major + 10 * minor
    std::optional<int> init;    ///< what cuInit returned; nothing when it did not return
    std::vector<GpuDevice> devices;
    std::vector<std::string> warnings;
    bool from_cache = false;
};

/// "12.4" for 12040.
std::string cuda_version_text(int driver);

/// False when this machine has neither traces of NVIDIA's kernel driver nor a driver library, which
/// costs far less than a millisecond to find out.
bool may_have_cuda(const Host& host);

/// Asks the driver, or the cache. An empty report where there is nothing to ask.
CudaReport probe_cuda(const Host& host);

}  // namespace gpkg::virtual_packages
