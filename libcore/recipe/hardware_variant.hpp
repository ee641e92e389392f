#pragma once

// What the variant keys that say what hardware a build is for (libcore/hardware/hardware_keys.hpp)
// make of an output. They hold for outputs that depend on `accel`: what follows from them needs
// records of version 3 of the index, which is for the recipe to choose.

#include "libcore/base/error.hpp"
#include "libcore/recipe/variant.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct HardwareOutput {
    std::vector<std::string> flags;    ///< CEP 45: "cuda", "cuda:12_9", "sm:90a", "blas:mkl"
    std::vector<std::string> depends;  ///< on virtual packages (CEP 30, CEP 46)
};

/// What the variant of an output makes of it; nothing where `accel` is no key of it. Errors name
/// the key and what it may be, also where values do not go together: a toolkit that has no code for
/// a device, a microarchitecture of another platform.
Result<HardwareOutput> hardware_output(const Variant& used);

/// Whether a key is of an accelerator that the variant's `accel` is not: cuda_version beside cpu.
bool says_nothing_of_hardware(const Variant& variant, std::string_view key);

}  // namespace gpkg
