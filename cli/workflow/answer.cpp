#include "cli/workflow/answer.hpp"

#include "cli/workflow/accelerators.hpp"
#include "cli/workflow/reach.hpp"
#include "libcore/base/text.hpp"
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

Result<Outcome> answer_with_accelerator(Question& question) {
    auto& [wanted, present, problem, channels, machine] = question;
    GPKG_TRY(auto outcome, solver::solve(problem));
    auto& update = problem.request.update;
    std::set<std::string> moving(update.begin(), update.end());
    while (wanted.reach.update_deps && std::holds_alternative<Solution>(outcome)) {
        // What is newer may need more than what it replaces.
        bool more = false;
        for (auto& name : needed_by(wanted.specs, std::get<Solution>(outcome))) {
            if (!moving.insert(name).second) continue;
            update.push_back(std::move(name));
            more = true;
        }
        if (!more) break;
        GPKG_TRY(outcome, solver::solve(problem));
    }
    if (auto* solution = std::get_if<Solution>(&outcome); solution && wanted.reach.only_deps)
        leave_named_out(solution->records, wanted.specs, present.records, present.wishes);
    return outcome;
}

Result<Outcome> answer_with_machine(Question& question) {
    const auto order = accelerators_to_try(
        question.wanted.accelerators, question.present.state, question.problem.virtual_packages);
    for (const auto choice : order) {
        question.problem.request.accelerators.all = choice;
        GPKG_TRY(auto outcome, answer_with_accelerator(question));
        if (choice == order.back() || std::holds_alternative<Solution>(outcome)) return outcome;
    }
    return fail(ErrorKind::Usage, "no accelerator is left to try");
}

/// Whether a record was made for machines without a GPU, beside others that were not, and nobody
/// asked for that.
bool is_fallback(const PackageRecord& record, const Accelerators& accelerators) {
    const auto of = accelerator_of(record);
    return of.accelerator == Accelerator::None && !of.evidence.empty() &&
           accelerators.choice(record.name) != AcceleratorChoice::None;
}

/// cuda-version goes only with drivers that run its CUDA. Who asks for a compiler wants to build
/// with it, which takes no driver: then the machine is taken as one without. That is no answer
/// where something that would run on the GPU comes in its build for none.
Result<std::optional<Outcome>> answer_for_building(const Question& question) {
    auto without = question;
    auto& problem = without.problem;
    auto& offered = problem.virtual_packages;
    const auto driver = std::find_if(
        offered.begin(), offered.end(), [](const auto& record) { return record.name == "__cuda"; });
    if (driver == offered.end() || !only_builds_for_nvidia(problem.request.specs, {}))
        return std::optional<Outcome>();
    const auto version = driver->version;
    std::erase_if(offered, [](const auto& record) {
        return record.name == "__cuda" || record.name == "__cuda_arch";
    });
    GPKG_TRY(auto outcome, answer_with_machine(without));
    auto* solution = std::get_if<Solution>(&outcome);
    const auto is_in_the_way = [&](const PackageRecord& record) {
        return is_fallback(record, problem.request.accelerators);
    };
    if (solution == nullptr || !only_builds_for_nvidia(problem.request.specs, solution->records) ||
        std::any_of(solution->records.begin(), solution->records.end(), is_in_the_way))
        return std::optional<Outcome>();
    solution->notes.push_back(fmt::format(
        "for building: the driver of {}, for CUDA {}, does not run what this CUDA builds",
        problem.machine,
        version));
    return std::optional(std::move(outcome));
}

}  // namespace

Result<Outcome> answer_to(Question& question) {
    GPKG_TRY(auto outcome, answer_with_machine(question));
    if (std::holds_alternative<Solution>(outcome)) return outcome;
    GPKG_TRY(auto for_building, answer_for_building(question));
    return for_building ? *std::move(for_building) : std::move(outcome);
}

Result<void> settle_vendor(Context& context, Question& question) {
    auto& [wanted, present, problem, channels, machine] = question;
    auto& accelerators = problem.request.accelerators;
    const auto order =
        accelerators_to_try(wanted.accelerators, present.state, problem.virtual_packages);
    if (order.front() != AcceleratorChoice::Auto ||
        found_accelerator(problem.request.installed, problem.virtual_packages))
        return {};
    const auto answer_for = [&](Accelerator vendor) {
        auto copy = question;
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
        return {};

    const auto what = fmt::format(
        "{} has GPUs of two vendors, and what is chosen depends on which is meant: nvidia brings "
        "{}, amd brings {}",
        problem.machine,
        what_is_only_in(nvidia, with_amd),
        what_is_only_in(amd, with_nvidia));
    if (!context.out.can_ask())
        return fail(ErrorKind::Usage, what, "say --accel nvidia, --accel amd or --accel none");
    const auto answer = context.out.ask(what + "\nnvidia, amd or none?", context.stop);
    if (!answer) return fail(ErrorKind::Interrupted, "nothing was changed");
    GPKG_TRY(const auto choice, parse_accelerator_choice(trim(*answer)));
    wanted.accelerators.override_with({{choice}, {}, {}});
    GPKG_TRY(accelerators, accelerators_of(wanted.accelerators, present.state));
    return {};
}

}  // namespace gpkg::cli
