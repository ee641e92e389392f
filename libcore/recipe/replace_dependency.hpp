#pragma once

// Changing one run dependency in the text of a recipe, all else as its author wrote it.

#include "libcore/recipe/recipe.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// The recipe's text with `instead`, which may be nothing, in place of the run dependency that is
/// written once in it, as a package has it ("cuda-toolkit 12.9.*"). NotFound where it is not there
/// so (a template, a run_exports), Conflict where it is more than once; both name places.
Result<std::string> replace_run_dependency(const Recipe& recipe,
                                           std::string_view dependency,
                                           const std::vector<std::string>& instead);

}  // namespace gpkg
