#pragma once

// The variant keys that say what hardware a build is for, one spelling for all recipes
// (docs/reference/recipe.md). All that is to be known of a key by itself stands here; what its
// values mean is libcore/recipe's to check.

#include "libcore/hardware/accelerator.hpp"

#include <optional>
#include <string_view>

namespace gpkg {

inline constexpr std::string_view kAccelKey = "accel";
inline constexpr std::string_view kCudaVersionKey = "cuda_version";
inline constexpr std::string_view kCudaArchListKey = "cuda_arch_list";
inline constexpr std::string_view kRocmVersionKey = "rocm_version";
inline constexpr std::string_view kGfxListKey = "gfx_list";
inline constexpr std::string_view kPsabiKey = "psabi";
inline constexpr std::string_view kBlasKey = "blas";
inline constexpr std::string_view kMpiKey = "mpi";

struct HardwareKey {
    std::string_view name;
    /// The builds of which alone it says something; nothing: of all.
    std::optional<Accelerator> of{};
    /// It is about the machine that a build is for, not about a choice of libraries that any
    /// machine leaves.
    bool is_of_machine = true;
};

/// Null for any other key.
const HardwareKey* find_hardware_key(std::string_view name);

/// Whether the value of a key follows from the machine that builds are for: that of one of those
/// keys, and of what others use in their place ("cuda_compiler_version", "microarch_level").
bool follows_from_machine(std::string_view key);

/// Whether a value says nothing: variants for CPUs have "None", or an empty text, where those for
/// GPUs have a version.
bool says_nothing(std::string_view value);
/// What a value of kAccelKey says: "cuda" or "nvidia", "rocm" or "amd", "cpu" or nothing. No value
/// for any other text.
std::optional<Accelerator> accelerator_of_value(std::string_view accel);

}  // namespace gpkg
