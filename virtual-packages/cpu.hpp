#pragma once

// What microarchitecture the CPU of a machine is.

#include "libcore/spec/microarchitecture.hpp"
#include "virtual-packages/profile.hpp"

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::virtual_packages {

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
