#pragma once

// An environment as a lock file has it for a machine.

#include "cli/workflow/change.hpp"

#include <string>

namespace gpkg::cli {

/// The class that fits the machine of `sources` best; which it is and why is told. Unsatisfiable
/// where none fits, with what keeps the machine from each.
Result<ExactRequest> locked_request(Context& context,
                                    const SourceOptions& sources,
                                    const std::string& file,
                                    const fs::path& prefix);

}  // namespace gpkg::cli
