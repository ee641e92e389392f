#pragma once

// What a user reads, and a program gets, when a request has no solution: the clash, and fixes as
// commands in the user's own words.

#include "cli/workflow/ask/question.hpp"

#include <vector>

namespace gpkg::cli {

/// Fixes are told as changes of this command. `others` are asked by it too, for other classes of a
/// lock.
Error unsatisfiable(const Context& context,
                    const Question& question,
                    const Explanation& explanation,
                    const std::vector<const Question*>& others = {});

}  // namespace gpkg::cli
