#pragma once

// CPU microarchitectures: names and their order as in archspec's database, which conda uses for
// __archspec. A microarchitecture descends from those whose code it runs.

#include "virtual-packages/profile.hpp"

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::virtual_packages {

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

/// The name and all it descends from, in no promised order; empty for an unknown name.
std::vector<std::string_view> lineage(std::string_view name);

/// 1 to 4 when `name` runs the code of that x86-64 level; nothing for other families and unknown
/// names. "zen4" is 4, "haswell" 3, "core2" 1.
std::optional<int> x86_64_level(std::string_view name);

using CpuFeatures = std::set<std::string, std::less<>>;

/// A CPU as it describes itself.
struct Cpu {
    std::string family;              ///< "x86_64", "aarch64" or "ppc64le"
    std::string vendor = "generic";  ///< "GenuineIntel", "ARM"
    CpuFeatures features;            ///< Linux' names
    int generation = 0;              ///< POWER's
    int part = 0;                    ///< Arm's part number
};

/// x86: by CPUID, less what the kernel does not save the registers of. Others: from /proc/cpuinfo.
/// Nothing for a family that gpkg has no table of.
std::optional<Cpu> read_cpu(const Host& host);

/// archspec's choice: the highest generic level that the CPU meets, or the most special name that
/// descends from it.
std::string best_microarchitecture(const Cpu& cpu);

/// What the CPU calls itself, where Linux knows it: x86's do, Arm's mostly do not.
std::optional<Fact> detect_cpu_model(const Host& host);

/// The best name for the CPU of `host`; nothing for a family that gpkg has no table of.
std::optional<Fact> detect_microarchitecture(const Host& host);

}  // namespace gpkg::virtual_packages
