#include "cli/workflow/lock/locking.hpp"

#include "cli/workflow/ask/question.hpp"
#include "cli/workflow/ask/unsatisfiable.hpp"
#include "cli/workflow/trace.hpp"
#include "libcore/base/text.hpp"
#include "solver/solver.hpp"

#include <fmt/format.h>
#include <optional>
#include <utility>
#include <variant>

namespace gpkg::cli {
namespace {

Result<Solution> first_answer(Context& context, std::vector<AskedClass>& classes, AskedClass& one) {
    GPKG_CHECK(settle_vendor(context, one.question));
    Phase phase(context.out, "solve for " + one.name);
    GPKG_TRY(auto outcome, answer_to(one.question));
    GPKG_CHECK(check_stop(context));
    if (const auto* explanation = std::get_if<Explanation>(&outcome)) {
        std::vector<const Question*> others;
        for (const auto& other : classes) {
            if (&other != &one) others.push_back(&other.question);
        }
        return pass(unsatisfiable(context, one.question, *explanation, others)
                        .while_doing(fmt::format("for {}", one.name)));
    }
    auto& solution = std::get<Solution>(outcome);
    phase.add(count_text(solution.records.size(), "package"));
    return std::move(solution);
}

}  // namespace

Result<ClassProblem> problem_of(AskedClass one) {
    GPKG_TRY(const auto wishes, parse_accelerator_wishes(one.request.wishes.accelerator));
    return ClassProblem{std::move(one.name),
                        std::move(one.question.machine.platform),
                        std::move(one.question.problem),
                        wishes.are_several()};
}

Result<LockedClasses> decide_and_align(Context& context, std::vector<AskedClass> classes) {
    std::vector<Solution> answers;
    for (auto& one : classes) {
        GPKG_TRY(answers.emplace_back(), first_answer(context, classes, one));
    }
    std::vector<ClassProblem> problems;
    for (std::size_t i = 0; i < classes.size(); ++i) {
        GPKG_TRY(problems.emplace_back(), problem_of(std::move(classes[i])));
        hold_what_stayed(problems.back(), answers[i]);
    }
    std::optional<Phase> phase;
    if (problems.size() > 1) phase.emplace(context.out, "align the versions of the classes");
    return align_answers(std::move(problems), std::move(answers), solver::solve);
}

}  // namespace gpkg::cli
