#pragma once

// Will what is installed run on the machine, and what is to be said of the machine itself?

#include "cli/workflow/doctor/finding.hpp"
#include "virtual-packages/virtual_package.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

/// Of the machine alone. `name`: as --for has it, or "this machine".
std::vector<Finding> check_machine(const std::string& name,
                                   const virtual_packages::HardwareProfile& profile,
                                   const virtual_packages::Detection& detection,
                                   const std::vector<std::string>& warnings);

std::vector<Finding> check_environment(const Checked& checked);

}  // namespace gpkg::cli
