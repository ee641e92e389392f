#pragma once

// What `gpkg why` and `gpkg why-not` have in common.

#include "cli/context.hpp"
#include "cli/options.hpp"

#include <string>

namespace gpkg::cli {

/// Prints which build a request for this spec alone selects, and why.
Result<int> why_selected(Context& context, const SourceOptions& sources, const std::string& spec);

}  // namespace gpkg::cli
