#pragma once

// Whether what pip installed runs on the machine, as far as its makers wrote down what it is for.

#include "cli/workflow/doctor/finding.hpp"

namespace gpkg::cli {

std::vector<Finding> check_wheels(const Checked& checked);

}  // namespace gpkg::cli
