#pragma once

// What a Python distribution that pip installed tells of the hardware it is for. There is no
// standard for it either: makers write it behind the "+" of the version (PEP 440), into the name,
// or ask for NVIDIA's own wheels.

#include "libcore/hardware/variant_columns.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// What METADATA and WHEEL have of an installed distribution; empty where they say nothing.
struct Wheel {
    std::string name;
    std::string version;
    std::vector<std::string> depends;  ///< Requires-Dist, as written
    std::string python;                ///< Requires-Python: ">=3.10"
    std::vector<std::string> tags;     ///< Tag: "cp312-cp312-manylinux_2_28_x86_64"
};

/// A name as PyPI compares it (PEP 503): "Left_Pad" is "left-pad".
std::string normal_wheel_name(std::string_view name);

/// The normal names of all of them.
std::set<std::string> normal_names(const std::vector<Wheel>& wheels);

/// The same columns as those of packages; accelerator, cuda and python are what wheels can tell.
/// `present` are the normal_names() of the distributions beside it: whether a requirement that
/// depends on the platform was meant shows in its being there.
VariantColumns wheel_columns(const Wheel& wheel, const std::set<std::string>& present);

}  // namespace gpkg
