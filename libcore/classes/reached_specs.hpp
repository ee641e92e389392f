#pragma once

#include "libcore/base/error.hpp"
#include "libcore/solve/machine_specs.hpp"
#include "libcore/solve/solve.hpp"

namespace gpkg {

/// What the request of a problem asks of machines, and what the records do that it can reach, by
/// whatever builds. Errors of reading the indexes.
Result<MachineSpecs> reached_specs(const Problem& problem);

}  // namespace gpkg
