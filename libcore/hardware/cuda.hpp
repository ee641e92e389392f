#pragma once

// Which packages are CUDA, and the devices that run it. Beside it, what a toolkit makes code for is
// in gpu_targets.hpp, what records say of toolkits and what drivers run of them in toolkit.hpp,
// what libraries have given up in gpu_libraries.hpp, and what all of it means for a record on a
// machine in cuda_limits.hpp.

#include "libcore/spec/version.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct PackageRecord;

/// The CUDA of a driver where one is needed and none is said.
inline constexpr std::string_view kUsualCuda = "12.8";

/// Packages whose version is that of the CUDA that others are for: "cuda-version".
std::vector<std::string_view> cuda_version_packages();
bool tells_cuda_version(std::string_view name);

/// A release as names and build strings have it, without its dot: "12.9" of "129", "9.2" of "92",
/// "13" of "13"; what has a dot stays.
std::string dotted_release(std::string_view digits);

/// Whether a package is one of CUDA's own: "cuda-cudart", "libcublas", "nccl".
bool is_part_of_cuda(std::string_view name);

/// Whether a package of the CUDA toolkit is for building alone: compilers, headers, static
/// libraries. It runs with any driver and with none (NVIDIA, "CUDA Installation Guide for Linux":
/// what is compiled can be for another machine).
bool is_for_building(std::string_view name);

/// How code for one compute capability runs on a device of another.
enum class CodeFit {
    Exact,      ///< the same
    SameMajor,  ///< machine code of an earlier minor version runs as it is
    Compiled,   ///< of an earlier major version only PTX does, which the driver compiles
    No,         ///< of a later one
};

/// The compute capabilities of a machine's NVIDIA devices, the lowest first: __cuda_arch, and its
/// flags, which are those of all devices where they differ. A machine that has "any" has none that
/// code could be made for.
std::vector<Version> cuda_devices(const std::vector<PackageRecord>& virtual_packages);

/// The number at a place of a version, 0 where there is none: 12 and 4 of "12.4".
int version_part(const Version& version, std::size_t place);

}  // namespace gpkg
