#pragma once

// What a question's answer is, as libcore/solve/answer.hpp has it of a problem.

#include "cli/workflow/ask/question.hpp"

#include <optional>
#include <string>

namespace gpkg::cli {

/// What the environment would be, or why there is no such one. The question's problem then is as it
/// was answered. --only-deps may take packages from
/// the answer's records and put others in their place in `question.wanted.specs`.
Result<Outcome> answer_to(Question& question);

/// Where the machine has GPUs of two vendors, has the builds of one preferred: of the one that
/// there are builds of. Says what is in doubt where there are of both, and the answer depends on
/// which is meant.
Result<std::optional<std::string>> prefer_vendor(Question& question);

/// The same, and asks where that is in doubt, or fails where nobody can be asked.
Result<void> settle_vendor(Context& context, Question& question);

}  // namespace gpkg::cli
