#pragma once

// What accelerator a build is for. No standard says it, so it is read from what builds have: CEP 45
// flags, else what they depend on, else their build string.

#include "libcore/base/error.hpp"
#include "libcore/hardware/vendors.hpp"
#include "libcore/spec/package_record.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// "none", "nvidia", "amd"
std::string_view to_string(Accelerator accelerator);
/// For "a CUDA build", and of toolkits: "CPU", "CUDA", "ROCm".
std::string_view compute_platform(Accelerator accelerator);
/// "CPU" or the vendor of the GPUs: "NVIDIA", "AMD".
std::string_view vendor_title(Accelerator accelerator);

/// Of Nvidia and Amd, which demand builds for a GPU.
std::optional<Accelerator> vendor_of(AcceleratorChoice choice);

/// Whose hardware or software a virtual package tells of: Nvidia for "__cuda", Amd for "__rocm".
std::optional<Accelerator> vendor_of_virtual_package(std::string_view name);

/// "auto", "nvidia", "amd", "none", "conda"
std::string_view to_string(AcceleratorChoice choice);
/// A Usage error, with what may have been meant, for any other text.
Result<AcceleratorChoice> parse_accelerator_choice(std::string_view text);

struct AcceleratorOf {
    Accelerator accelerator = Accelerator::None;
    /// What says so, as it stands in the record: "flag cuda", "needs __cuda", "build cuda129_...".
    /// Empty where nothing does: the build knows of no accelerator.
    std::string evidence;
    /// Nothing but a vendor's library that it needs: there may be no other build of it.
    bool is_by_library = false;
    /// It needs libraries of two vendors, and has code for either's GPUs: there is none to choose.
    bool is_for_either = false;

    friend bool operator==(const AcceleratorOf&, const AcceleratorOf&) = default;
};

/// Parts of a vendor's own stack know of none: they are what builds for its GPUs need, and there is
/// no other build to choose in their place.
AcceleratorOf accelerator_of(const PackageRecord& record);

/// Whether a package is such a part: "cuda-cudart", "libcublas", "nccl", "rocm-core".
bool is_vendor_part(std::string_view name);

/// Whether others are compiled against it for one accelerator, so that an extension for CUDA cannot
/// be loaded beside a build for CPUs: "pytorch".
bool is_framework(std::string_view name);

/// accelerator_of() piece by piece, for a solver, which has a record's flags, dependencies and
/// build string apart and reads each list of dependencies once. Of what is found, a flag counts
/// most, then what is asked of the machine, then of a package that says which builds of others are
/// there, then of a vendor's library, and last the build string.
enum class AcceleratorHint { Nothing, Library, Mutex, Machine };
struct HintedAccelerator {
    AcceleratorHint hint = AcceleratorHint::Nothing;
    Accelerator accelerator = Accelerator::None;
    /// Libraries of two vendors: it has code for either's GPUs, as openmm has, and there is none to
    /// choose.
    bool is_for_either = false;

    /// What this and another dependency say together.
    void take(const HintedAccelerator& other);
};
/// What the three say together; nothing where the build is for no accelerator or for either.
std::optional<Accelerator> accelerator_of(const std::vector<std::string>& flags,
                                          const HintedAccelerator& dependencies,
                                          std::string_view build);
std::optional<Accelerator> accelerator_of_flag(std::string_view flag);
/// What a dependency on `name` says, which asks for the build string `build` (empty: for any).
HintedAccelerator accelerator_of_dependency(std::string_view name, std::string_view build);
/// Of one word: "cuda", "gpu", "cpu", "rocm64".
std::optional<Accelerator> accelerator_of_word(std::string_view word);
/// Of a build string, or of a pattern for some: "*cuda*".
std::optional<Accelerator> accelerator_of_build(std::string_view build);

}  // namespace gpkg
