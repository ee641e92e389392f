#include "libcore/solve/answer.hpp"

#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/toolkit.hpp"
#include "libcore/solve/machine_needs.hpp"
#include "libcore/spec/spec_text.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <utility>

namespace gpkg {
namespace {

using Specs = std::vector<MatchSpec>;

/// One way to put a problem to the solver.
struct Way {
    AcceleratorChoice accelerator = AcceleratorChoice::Auto;
    Specs lifted;  ///< of what holds where possible
    bool only_compiles = false;

    friend bool operator==(const Way&, const Way&) = default;
};

Specs liftable(const Request& request) {
    Specs specs;
    for (const auto& constraint : request.constraints) {
        if (constraint.holds == Constraint::Holds::WherePossible) specs.push_back(constraint.spec);
    }
    return specs;
}

/// Nothing; each by itself; all: as where what is installed does not go together any more, by what
/// its channel says since.
std::vector<Specs> lifts(const Specs& liftable) {
    constexpr std::size_t kMostAlone = 8;  // each costs a solve
    std::vector<Specs> lifts{{}};
    if (liftable.empty()) return lifts;
    for (std::size_t i = 0; liftable.size() > 1 && i < std::min(liftable.size(), kMostAlone); ++i)
        lifts.push_back({liftable[i]});
    lifts.push_back(liftable);
    return lifts;
}

const PackageRecord* driver_of(const Problem& problem) {
    return find_record(problem.virtual_packages, "__cuda");
}

/// Whether the environment was decided for building: the driver does not go with its CUDA.
bool was_decided_for_building(const Problem& problem) {
    const auto& request = problem.request;
    return only_compiles_for_nvidia(request.specs, request.installed, request.accelerators) &&
           std::ranges::any_of(request.installed, [&](const PackageRecord& record) {
               return tells_cuda_version(record.name) &&
                      !unmet_needs(record, problem.virtual_packages).empty();
           });
}

/// The ways that differ in the accelerator alone.
void add_in_turn(const Problem& problem, Way way, std::vector<Way>& ways) {
    const auto& request = problem.request;
    for (const auto choice : request.accelerators.in_turn_on(problem.virtual_packages)) {
        way.accelerator = choice;
        ways.push_back(way);
    }
}

std::vector<Way> ways_of(const Problem& problem, const Specs& liftable) {
    const auto& request = problem.request;
    const bool may_build = driver_of(problem) != nullptr &&
                           only_compiles_for_nvidia(request.specs, {}, request.accelerators);
    const bool builds = may_build && was_decided_for_building(problem);
    std::vector<Way> ways;
    if (builds) add_in_turn(problem, {.lifted = {}, .only_compiles = true}, ways);
    for (auto& lifted : lifts(liftable)) add_in_turn(problem, {.lifted = std::move(lifted)}, ways);
    if (may_build && !builds)
        add_in_turn(problem, {.lifted = liftable, .only_compiles = true}, ways);
    return ways;
}

Problem put(const Problem& problem, const Way& way) {
    auto attempt = problem;
    auto& request = attempt.request;
    request.accelerators.all = way.accelerator;
    request.accelerators.binds_what_has_none = false;
    request.only_compiles = way.only_compiles;
    std::erase_if(request.constraints, [&](const Constraint& constraint) {
        return constraint.holds == Constraint::Holds::WherePossible &&
               std::ranges::find(way.lifted, constraint.spec) != way.lifted.end();
    });
    return attempt;
}

/// Whether builds for none stand in for the accelerator that is asked for, of which there is no
/// build at all.
bool is_for_none_alone(const Request& request, const Solution& solution) {
    const auto vendor = vendor_of(request.accelerators.all);
    if (!vendor) return false;
    bool has_none = false;
    for (const auto& record : solution.records) {
        const auto of = accelerator_of(record);
        if (of.accelerator == *vendor && !of.is_by_library) return false;
        has_none = has_none || (of.accelerator == Accelerator::None && !of.evidence.empty() &&
                                !request.accelerators.of_package.contains(record.name) &&
                                std::ranges::find(request.specs, record.name, &MatchSpec::name) !=
                                    request.specs.end());
    }
    return has_none;
}

/// Whether something that was requested does not run, where there is another accelerator to try.
bool is_for_others(const Request& request, const Solution& solution) {
    return request.accelerators.in_turn.size() > 1 && vendor_of(request.accelerators.all) &&
           std::ranges::any_of(request.specs, [&](const MatchSpec& spec) {
               return solution.find_not_running(spec.name) != nullptr;
           });
}

/// Whether what the solver found is what the way is for.
bool counts(const Way& way, const Request& request, const Solution& solution) {
    if (way.only_compiles)
        return only_compiles_for_nvidia(request.specs, solution.records, request.accelerators);
    return !is_for_none_alone(request, solution) && !is_for_others(request, solution);
}

/// Whether a requested compiler or development package is for a CUDA that the driver does not run.
bool builds_beyond_driver(const Problem& problem, const Solution& solution) {
    const auto driver = driver_release(problem.virtual_packages, Accelerator::Nvidia);
    return driver && std::ranges::any_of(problem.request.specs, [&](const MatchSpec& spec) {
               const auto* record = find_record(solution.records, spec.name);
               if (record == nullptr || !is_for_building(spec.name)) return false;
               const auto cuda = toolkit_of(*record);
               return cuda && cuda->vendor == Accelerator::Nvidia &&
                      driver_fit(cuda->first, *driver) == DriverFit::No;
           });
}

/// What did not hold after all.
void note_way(const Way& way, const Problem& problem, Solution& solution) {
    for (const auto& spec : way.lifted) {
        const auto* record = find_record(solution.records, spec.name);
        if (record == nullptr || spec.matches(*record)) continue;
        solution.notes.emplace_back(fmt::format("cannot solve with {}; using {} {} {}",
                                                written(spec),
                                                record->name,
                                                record->version,
                                                record->build));
    }
    const auto wanted = problem.request.accelerators.in_turn_on(problem.virtual_packages).front();
    if (way.accelerator != wanted)
        solution.notes.emplace_back(fmt::format(
            "cannot solve with accelerator {}; using accelerator {} (--accel auto allows any)",
            to_string(wanted),
            to_string(way.accelerator)));
    if (way.only_compiles || builds_beyond_driver(problem, solution))
        solution.notes.emplace_back(fmt::format(
            "programs built with this CUDA do not run on {}: its driver supports CUDA {}",
            problem.machine,
            driver_of(problem)->version));
}

}  // namespace

bool is_answered_as_it_stands(const Problem& problem) {
    const auto& request = problem.request;
    const auto ways = ways_of(problem, liftable(request));
    return ways.size() == 1 && ways.front().accelerator == request.accelerators.all &&
           !vendor_of(request.accelerators.all) && !request.only_compiles;
}

Result<Answered> answer(const Problem& problem, const Solve& solve) {
    const auto holding = liftable(problem.request);
    const auto ways = ways_of(problem, holding);
    const auto& accelerators = problem.request.accelerators;
    const Way told{accelerators.in_turn_on(problem.virtual_packages).front(), holding};
    for (const auto& way : ways) {
        const bool is_last_word = way == told && &way == &ways.back();
        auto attempt = put(problem, way);
        attempt.wants_reasons = problem.wants_reasons && is_last_word;
        GPKG_TRY(auto outcome, solve(attempt));
        auto* solution = std::get_if<Solution>(&outcome);
        if (solution == nullptr && is_last_word)
            return Answered{std::move(attempt), std::move(outcome)};
        if (solution == nullptr || !counts(way, attempt.request, *solution)) continue;
        solution->accelerator = way.accelerator;
        note_way(way, problem, *solution);
        attempt.wants_reasons = problem.wants_reasons;
        return Answered{std::move(attempt), std::move(outcome)};
    }
    auto attempt = put(problem, told);
    attempt.request.accelerators.binds_what_has_none = true;
    GPKG_TRY(auto outcome, solve(attempt));
    // What is installed for none, and is not asked for now, stays.
    if (auto* solution = std::get_if<Solution>(&outcome)) solution->accelerator = told.accelerator;
    return Answered{std::move(attempt), std::move(outcome)};
}

}  // namespace gpkg
