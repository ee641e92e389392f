#pragma once

// Libraries that gave up GPUs for which the CUDA that they are built with still makes code: no
// record says so, and what needs them does not run on such GPUs. NVIDIA's "cuDNN Support Matrix"
// (9.10.0 has Maxwell, Pascal and Volta, 9.11.0 does not), RAPIDS' support notice 34 (Pascal),
// FlashAttention's README (Ampere and later since its version 2).

#include "libcore/spec/version.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gpkg {

/// A version from which on a library has no code for older devices.
struct LeastDevice {
    Version since;
    Version capability;  ///< the lowest that it has code for: 7.5
};

/// Nothing for libraries that have code for whatever their CUDA makes code for.
std::optional<LeastDevice> least_device_of(std::string_view library);

}  // namespace gpkg
