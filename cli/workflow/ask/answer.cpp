#include "cli/workflow/ask/answer.hpp"

#include "cli/workflow/ask/accelerators.hpp"
#include "cli/workflow/ask/reach.hpp"
#include "libcore/base/text.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/solve/machine_needs.hpp"
#include "libcore/spec/spec_text.hpp"
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

/// Who names a CUDA (pytorch-cuda=12.1) and no accelerator wants builds for it where they are to be
/// had, over older versions if need be.
bool names_cuda(const Question& question, const std::vector<AcceleratorChoice>& asked) {
    return asked == std::vector{AcceleratorChoice::Auto} &&
           std::ranges::any_of(question.wanted.specs,
                               [](const auto& spec) { return tells_cuda_version(spec.name); });
}

/// Whether the CUDA that is in it is none that the driver and the GPUs run.
bool has_idle_cuda(const Solution& solution) {
    return std::ranges::any_of(
        solution.idle, [](const Solution::Idle& one) { return tells_cuda_version(one.name); });
}

Result<Outcome> answer_with_machine(Question& question) {
    const auto asked = accelerators_to_try(
        question.wanted.accelerators, question.present.state, question.problem.virtual_packages);
    auto order = asked;
    const bool is_by_name = names_cuda(question, asked);
    if (is_by_name) order.insert(order.begin(), AcceleratorChoice::Nvidia);
    // One alone is asked about below, reasons and all.
    for (std::size_t i = 0; order.size() > 1 && i < order.size(); ++i) {
        auto attempt = question;
        attempt.problem.wants_reasons = false;
        attempt.problem.request.accelerators.all = order[i];
        GPKG_TRY(auto outcome, answer_with_accelerator(attempt));
        const auto* solution = std::get_if<Solution>(&outcome);
        if (solution == nullptr || (is_by_name && i == 0 && has_idle_cuda(*solution))) continue;
        attempt.problem.wants_reasons = question.problem.wants_reasons;
        question = std::move(attempt);
        return outcome;
    }
    // Where none works it is told why the one does not that is wanted most.
    question.problem.request.accelerators.all = asked.front();
    return answer_with_accelerator(question);
}

/// The driver is too old for a CUDA that is only to build with: asked again, without what
/// cuda-version asks of the driver. That is no answer where something in it runs.
Result<std::optional<Outcome>> answer_for_building(Question& question) {
    auto building = question;
    building.problem.wants_fixes = false;
    building.problem.wants_reasons = false;
    auto& request = building.problem.request;
    const auto& offered = building.problem.virtual_packages;
    const auto driver = std::find_if(
        offered.begin(), offered.end(), [](const auto& record) { return record.name == "__cuda"; });
    if (driver == offered.end() || !only_builds_for_nvidia(request.specs, {}, request.accelerators))
        return std::optional<Outcome>();
    request.only_builds = true;
    GPKG_TRY(auto outcome, answer_with_machine(building));
    auto* solution = std::get_if<Solution>(&outcome);
    if (solution == nullptr ||
        !only_builds_for_nvidia(request.specs, solution->records, request.accelerators))
        return std::optional<Outcome>();
    solution->notes.push_back(fmt::format(
        "for building: the driver of {}, for CUDA {}, does not run what this CUDA builds",
        question.problem.machine,
        driver->version));
    building.problem.wants_reasons = question.problem.wants_reasons;
    question = std::move(building);
    return std::optional(std::move(outcome));
}

/// What did not hold after all.
void note_lifted(const std::vector<MatchSpec>& lifted, Solution& solution) {
    for (const auto& spec : lifted) {
        const auto record = std::ranges::find(solution.records, spec.name, &PackageRecord::name);
        if (record == solution.records.end() || spec.matches(*record)) continue;
        solution.notes.push_back(fmt::format("with {} nothing meets the request: it comes as {} {}",
                                             written(spec),
                                             record->version,
                                             record->build));
    }
}

/// Leaves out what holds where possible, of these specs.
void lift(Question& question, const std::vector<MatchSpec>& specs) {
    std::erase_if(question.problem.request.constraints, [&](const Constraint& constraint) {
        return constraint.holds == Constraint::Holds::WherePossible &&
               std::ranges::find(specs, constraint.spec) != specs.end();
    });
}

/// With what holds where possible, else without the first of it without which there is an answer,
/// else without any of it: as where what is installed does not go together any more, by what its
/// channel says since.
Result<Outcome> answer_where_possible(Question& question) {
    constexpr std::size_t kMostTries = 8;  // each costs a solve
    std::vector<MatchSpec> liftable;
    for (const auto& constraint : question.problem.request.constraints) {
        if (constraint.holds == Constraint::Holds::WherePossible)
            liftable.push_back(constraint.spec);
    }
    if (liftable.empty()) return answer_with_machine(question);
    std::vector<std::vector<MatchSpec>> ways{{}};
    for (std::size_t i = 0; liftable.size() > 1 && i < std::min(liftable.size(), kMostTries); ++i)
        ways.push_back({liftable[i]});
    for (const auto& gone : ways) {
        auto attempt = question;
        lift(attempt, gone);
        attempt.problem.wants_reasons = false;
        GPKG_TRY(auto outcome, answer_with_machine(attempt));
        auto* solution = std::get_if<Solution>(&outcome);
        if (solution == nullptr) continue;
        note_lifted(gone, *solution);
        attempt.problem.wants_reasons = question.problem.wants_reasons;
        question = std::move(attempt);
        return outcome;
    }
    lift(question, liftable);
    GPKG_TRY(auto outcome, answer_with_machine(question));
    if (auto* solution = std::get_if<Solution>(&outcome)) note_lifted(liftable, *solution);
    return outcome;
}

/// Whether the environment was decided for building: the driver does not go with its CUDA.
bool was_decided_for_building(const Problem& problem) {
    const auto& request = problem.request;
    if (!only_builds_for_nvidia(request.specs, request.installed, request.accelerators))
        return false;
    return std::any_of(
        request.installed.begin(), request.installed.end(), [&](const PackageRecord& record) {
            return tells_cuda_version(record.name) &&
                   !unmet_needs(record, problem.virtual_packages).empty();
        });
}

}  // namespace

Result<Outcome> answer_to(Question& question) {
    const bool builds = was_decided_for_building(question.problem);
    if (builds) {
        GPKG_TRY(auto for_building, answer_for_building(question));
        if (for_building) return *std::move(for_building);
    }
    GPKG_TRY(auto outcome, answer_where_possible(question));
    if (builds || std::holds_alternative<Solution>(outcome)) return outcome;
    GPKG_TRY(auto for_building, answer_for_building(question));
    return for_building ? *std::move(for_building) : std::move(outcome);
}

Result<std::optional<std::string>> prefer_vendor(Question& question) {
    auto& [wanted, present, problem, channels, machine] = question;
    auto& accelerators = problem.request.accelerators;
    const auto order =
        accelerators_to_try(wanted.accelerators, present.state, problem.virtual_packages);
    if (order.front() != AcceleratorChoice::Auto ||
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
