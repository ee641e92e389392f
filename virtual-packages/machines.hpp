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

/// What has a name here and is not a microarchitecture alone: the files `folder`/NAME.yaml, then
/// gpkg's own, in the table's order. An own file hides the machine of gpkg's that has its name.
std::vector<NamedMachine> named_machines(const fs::path& folder);

/// The profile that the user means by `text`: a file where it has a slash or ends in .yaml or .yml,
/// else a name (gpkg's in any case). NotFound with near names for one that nobody knows.
Result<HardwareProfile> find_machine(std::string_view text, const fs::path& folder);

}  // namespace gpkg::virtual_packages
