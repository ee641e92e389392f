#pragma once

// The solver and the package store, as the builder asks for them.

#include "cli/workflow/build/sources.hpp"
#include "libcore/build/environments.hpp"

namespace gpkg::cli {

/// Solves for `specs` with what the channels hold now; `context` outlives the result.
Result<SolvedEnvironment> solve_environment(Context& context,
                                            BuildSources& sources,
                                            const std::vector<std::string>& specs);

}  // namespace gpkg::cli
