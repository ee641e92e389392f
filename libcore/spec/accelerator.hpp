#pragma once

// What accelerator a build is for. No standard says it, so it is read from what builds have: CEP 45
// flags, else what they depend on, else their build string.

#include "libcore/spec/package_record.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gpkg {

enum class Accelerator { None, Nvidia, Amd };

/// "none", "nvidia", "amd"
std::string_view to_string(Accelerator accelerator);

struct AcceleratorOf {
    Accelerator accelerator = Accelerator::None;
    /// What says so, as it stands in the record: "flag cuda", "needs __cuda", "build cuda129_...".
    /// Empty where nothing does: the build knows of no accelerator.
    std::string evidence;

    friend bool operator==(const AcceleratorOf&, const AcceleratorOf&) = default;
};

AcceleratorOf accelerator_of(const PackageRecord& record);

/// The CUDA version that the build is for, "12.9" or "12"; nothing where none can be read.
std::optional<std::string> cuda_of(const PackageRecord& record);

}  // namespace gpkg
