#pragma once

// The variant keys that say what hardware a build is for, one spelling for all recipes
// (docs/building.md): accel, cuda_version, cuda_arch_list, rocm_version, gfx_list, psabi, blas,
// mpi. They hold for outputs that depend on `accel`: what follows from them needs records of
// version 3 of the index, which is for the recipe to choose.

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
/// the key and what it may be.
Result<HardwareOutput> hardware_output(const Variant& used);

/// Whether it is one of the keys above.
bool is_hardware_key(std::string_view key);

/// Whether a key is of an accelerator that the variant's `accel` is not: cuda_version beside cpu.
bool says_nothing_of_hardware(const Variant& variant, std::string_view key);

}  // namespace gpkg
