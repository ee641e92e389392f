#include "cli/workflow/lock/locking.hpp"

#include "cli/workflow/ask/answer.hpp"
#include "cli/workflow/ask/unsatisfiable.hpp"
#include "solver/solver.hpp"

#include <fmt/format.h>
#include <utility>
#include <variant>

namespace gpkg::cli {
namespace {

Result<Solution> first_answer(Context& context,
                              std::vector<ClassQuestion>& classes,
                              ClassQuestion& one) {
    GPKG_CHECK(settle_vendor(context, one.question));
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
    return std::get<Solution>(std::move(outcome));
}

}  // namespace

ClassProblem problem_of(ClassQuestion one) {
    return {std::move(one.name),
            std::move(one.question.machine.platform),
            std::move(one.question.problem),
            one.tells_accelerator};
}

Result<LockedClasses> decide_and_align(Context& context, std::vector<ClassQuestion> classes) {
    std::vector<Solution> answers;
    for (auto& one : classes) {
        GPKG_TRY(answers.emplace_back(), first_answer(context, classes, one));
    }
    std::vector<ClassProblem> problems;
    for (std::size_t i = 0; i < classes.size(); ++i) {
        problems.push_back(problem_of(std::move(classes[i])));
        hold_what_stayed(problems.back(), answers[i]);
    }
    return align_answers(std::move(problems), std::move(answers), solver::solve);
}

}  // namespace gpkg::cli
