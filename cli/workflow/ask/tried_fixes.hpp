#pragma once

// What would help, as the command would do it.

#include "cli/workflow/ask/question.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

struct TriedFix {
    Fix fix;
    /// What was asked for earlier and goes down: "pytorch from 2.10.0 to 1.11.0".
    std::vector<std::string> lowered{};
};

/// Those of the solver's fixes that help the question, what takes nothing down first. `others` are
/// asked by the same command, for other classes of a lock: a fix takes the answer of none.
std::vector<TriedFix> tried_fixes(const Context& context,
                                  const Question& question,
                                  std::vector<Fix> fixes,
                                  const std::vector<const Question*>& others);

}  // namespace gpkg::cli
