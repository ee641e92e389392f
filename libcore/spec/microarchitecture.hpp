#pragma once

// CPU microarchitectures: names and their order as in archspec's database, which conda uses for
// __archspec. A microarchitecture descends from those whose code it runs.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct Microarchitecture {
    std::string_view name;
    std::string_view parents;   ///< names, separated by spaces
    std::string_view vendor;    ///< as CPUID or the implementer's name has it; "generic"
    std::string_view features;  ///< Linux' names, separated by spaces; those of parents are implied
    int generation = 0;         ///< POWER's
    int part = 0;               ///< Arm's part number
};

/// All that gpkg knows, parents before children.
std::span<const Microarchitecture> microarchitectures();

bool is_microarchitecture(std::string_view name);
/// All names, for suggestions.
std::vector<std::string> microarchitecture_names();

/// Null for an unknown name.
const Microarchitecture* find_microarchitecture(std::string_view name);

/// The name and all it descends from, in no promised order; empty for an unknown name.
std::vector<std::string_view> lineage(std::string_view name);

/// Whether no machine of a platform, "linux-64", has such a CPU: zen4 is of another one than
/// linux-aarch64. False for an unknown name, and for platforms of whose CPUs gpkg knows none.
bool is_of_another_platform(std::string_view name, std::string_view platform);

/// 1 to 4 when `name` runs the code of that x86-64 level; nothing for other families and unknown
/// names. "zen4" is 4, "haswell" 3, "core2" 1.
std::optional<int> x86_64_level(std::string_view name);

}  // namespace gpkg
