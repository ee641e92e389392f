#pragma once

// Whether what pip installed runs on the machine, as far as its makers wrote down what it is for.

#include "cli/workflow/health/checkup.hpp"

namespace gpkg::cli {

/// `machine` are the machine's virtual packages.
std::vector<Finding> check_wheels(const Checked& checked,
                                  const std::vector<PackageRecord>& machine);

}  // namespace gpkg::cli
