#include "cli/workflow/ask/answer.hpp"

#include "cli/workflow/ask/accelerators.hpp"
#include "cli/workflow/ask/reach.hpp"
#include "libcore/base/text.hpp"
#include "libcore/solve/answer.hpp"
#include "solver/solver.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace gpkg::cli {
namespace {

bool has_builds_for(const Outcome& outcome, Accelerator vendor) {
    const auto* solution = std::get_if<Solution>(&outcome);
    return solution != nullptr &&
           std::any_of(solution->records.begin(),
                       solution->records.end(),
                       [&](const PackageRecord& record) {
                           return accelerator_of(record).accelerator == vendor;
                       });
}

std::set<std::string> titles(const Outcome& outcome) {
    std::set<std::string> titles;
    if (const auto* solution = std::get_if<Solution>(&outcome)) {
        for (const auto& record : solution->records) titles.insert(record.distribution());
    }
    return titles;
}

/// The packages by which one answer differs from another, "pytorch-2.9.1-cuda129_0".
std::string what_is_only_in(const Outcome& outcome, const std::set<std::string>& other) {
    const auto* solution = std::get_if<Solution>(&outcome);
    std::vector<std::string> own;
    for (const auto& record : solution->records) {
        if (!other.contains(record.distribution()) &&
            accelerator_of(record).accelerator != Accelerator::None)
            own.push_back(record.distribution());
    }
    return own.empty() ? "none of its builds" : join_some(own, "and", 2);
}

/// Whether something leaves that counts as asked for.
bool loses_leaf(const Question& question, const Solution& solution) {
    return std::ranges::any_of(question.present.leaves, [&](const MatchSpec& leaf) {
        return std::ranges::find(solution.records, leaf.name, &PackageRecord::name) ==
               solution.records.end();
    });
}

Result<Outcome> answer_as_put(Question& question) {
    auto& [wanted, present, problem, channels, machine] = question;
    GPKG_TRY(auto answered, answer(problem, solver::solve));
    auto& update = problem.request.update;
    std::set<std::string> moving(update.begin(), update.end());
    while (wanted.reach.update_deps && std::holds_alternative<Solution>(answered.outcome)) {
        // What is newer may need more than what it replaces.
        bool more = false;
        for (auto& name : needed_by(wanted.specs, std::get<Solution>(answered.outcome))) {
            if (!moving.insert(name).second) continue;
            update.push_back(std::move(name));
            more = true;
        }
        if (!more) break;
        GPKG_TRY(answered, answer(problem, solver::solve));
    }
    problem = std::move(answered.problem);
    if (auto* solution = std::get_if<Solution>(&answered.outcome);
        solution && wanted.reach.only_deps)
        leave_named_out(solution->records, wanted.specs, present.records, present.wishes);
    return std::move(answered.outcome);
}

}  // namespace

Result<Outcome> answer_to(Question& question) {
    // An environment's records are long: they are copied where the question may be put again.
    const bool leaves_out = leaves_out_other_cpu(question);
    if (!leaves_out && question.present.leaves.empty()) return answer_as_put(question);
    const auto first = question;
    GPKG_TRY(auto outcome, answer_as_put(question));
    if (std::holds_alternative<Explanation>(outcome) && leaves_out) {
        // Where there is nothing for this CPU, what is installed for another stays.
        auto kept = first;
        kept.present.keeps_other_cpu = true;
        GPKG_TRY(kept, asked_again(std::move(kept)));
        GPKG_TRY(auto other, answer_as_put(kept));
        if (std::holds_alternative<Solution>(other)) {
            question = std::move(kept);
            return other;
        }
    }
    const auto* solution = std::get_if<Solution>(&outcome);
    if (solution == nullptr || first.wanted.reach.no_deps || !loses_leaf(first, *solution))
        return outcome;
    question = first;
    question.present.wishes = std::move(question.present.leaves);
    question.present.leaves.clear();
    GPKG_TRY(question, asked_again(std::move(question)));
    return answer_as_put(question);
}

Result<std::optional<std::string>> prefer_vendor(Question& question) {
    auto& problem = question.problem;
    auto& accelerators = problem.request.accelerators;
    if (accelerators.in_turn_on(problem.virtual_packages).front() != AcceleratorChoice::Auto ||
        found_accelerator(problem.request.installed, problem.virtual_packages))
        return std::nullopt;
    const auto answer_for = [&](Accelerator vendor) {
        auto copy = question;
        copy.problem.wants_reasons = false;
        copy.problem.request.accelerators.preferred = vendor;
        return answer_to(copy);
    };
    GPKG_TRY(const auto nvidia, answer_for(Accelerator::Nvidia));
    GPKG_TRY(const auto amd, answer_for(Accelerator::Amd));
    const bool has_amd = has_builds_for(amd, Accelerator::Amd);
    accelerators.preferred = has_amd ? Accelerator::Amd : Accelerator::Nvidia;
    const auto with_nvidia = titles(nvidia);
    const auto with_amd = titles(amd);
    if (!has_amd || !has_builds_for(nvidia, Accelerator::Nvidia) || with_nvidia == with_amd)
        return std::nullopt;
    return fmt::format(
        "{} has GPUs of two vendors, and what is chosen depends on which is meant: nvidia brings "
        "{}, amd brings {}",
        problem.machine,
        what_is_only_in(nvidia, with_amd),
        what_is_only_in(amd, with_nvidia));
}

Result<void> settle_vendor(Context& context, Question& question) {
    GPKG_TRY(const auto what, prefer_vendor(question));
    if (!what) return {};
    if (!context.out.can_ask())
        return fail(ErrorKind::Usage, *what, "say --accel nvidia, --accel amd or --accel none");
    const auto answer = context.out.ask(*what + "\nnvidia, amd or none?", context.stop);
    if (!answer) return fail(ErrorKind::Interrupted, "nothing was changed");
    GPKG_TRY(const auto choice, parse_accelerator_choice(trim(*answer)));
    auto& wanted = question.wanted.accelerators;
    wanted.override_with({{choice}, {}, {}});
    question.problem.request.accelerators = accelerators_of(wanted, question.present.state);
    return {};
}

}  // namespace gpkg::cli
