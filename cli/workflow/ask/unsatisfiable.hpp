#pragma once

// What a user reads, and a program gets, when a request has no solution: the clash, and fixes as
// commands in the user's own words.

#include "cli/context.hpp"
#include "cli/workflow/ask/question.hpp"
#include "libcore/base/error.hpp"
#include "libcore/solve/solve.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace gpkg::cli {

nlohmann::ordered_json clashes_json(const Explanation& explanation);
/// Of names that no channel has: those like them, or that another channel may have them. Empty
/// where it tells of no such name.
std::string hint_on_names(const Explanation& explanation);
/// What it changes and gives.
nlohmann::ordered_json fix_json(const Fix& fix);

/// Fixes are told as changes of this command. `others` are asked by it too, for other classes of a
/// lock: a fix takes the answer of none.
Error unsatisfiable(const Context& context,
                    const Question& question,
                    const Explanation& explanation,
                    const std::vector<const Question*>& others = {});

}  // namespace gpkg::cli
