#pragma once

// Machines that have names: those of the table in machines.cpp, every microarchitecture of
// archspec's, and profiles that the user keeps in a folder.

#include "virtual-packages/profile.hpp"

#include <optional>
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

/// The machines of a list: "a100,glibc=2.36,h100" is two, the first with another C library. Facts
/// may follow after blanks too, "a100 glibc=2.36"; what is returned has commas. An existing file is
/// one machine, whatever its name.
std::vector<std::string> machines_in(std::string_view text);

/// "a100" of "a100,glibc=2.36" and of "a100 glibc=2.36".
std::string_view without_given_facts(std::string_view machine);

/// "cpu, cuda, glibc, ...": the keys of facts that can follow a machine.
std::string given_keys();
/// The CUDA version that a driver supports: "12.2" of "535.54", a driver, and of "12.2", which is
/// one already.
std::string cuda_of_driver(std::string_view version);
/// Whether a version is a driver's, such as 535.104: no CUDA has a number that high.
bool is_driver_version(std::string_view version);
/// A hint for "driver=12.2" and other facts that cannot follow a machine.
std::string hint_for_fact(std::string_view fact);

/// The key that sets a virtual package behind a machine: "glibc" for "__glibc", "cpu" for
/// "__archspec"; nothing for those that cannot be set so.
std::optional<std::string> given_key(std::string_view package);

/// The profile of a machine: a file if the text has a slash or ends in .yaml or .yml, else a name
/// (gpkg's in any case). Facts may follow: "a100,glibc=2.36". NotFound with near names for an
/// unknown machine, Usage for a wrong fact.
Result<HardwareProfile> find_machine(std::string_view text, const std::vector<fs::path>& folders);

}  // namespace gpkg::virtual_packages
