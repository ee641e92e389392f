#pragma once

// Machines that have names: those of the table in machines.cpp, every microarchitecture of
// archspec's, and profiles that the user keeps in a folder.

#include "virtual-packages/profile.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg::virtual_packages {

struct NamedMachine {
    std::string name;
    std::string summary;  ///< "NVIDIA H100, 80 GiB, compute capability 9.0"
    std::string source;   ///< "gpkg", or the file's path
};

/// What has a name here and is not a microarchitecture alone: the files NAME.yaml of `folders`,
/// then gpkg's own, in the table's order. A file hides those of its name that come later.
std::vector<NamedMachine> named_machines(const std::vector<fs::path>& folders);

/// "linux-64, zen4, NVIDIA H100 (9.0), CUDA 12.4".
std::string summary_of(const HardwareProfile& profile);

/// The profile that the user means by `text`: a file where it has a slash or ends in .yaml or .yml,
/// else a name (gpkg's in any case). NotFound with near names for one that nobody knows.
Result<HardwareProfile> find_machine(std::string_view text, const std::vector<fs::path>& folders);

}  // namespace gpkg::virtual_packages
