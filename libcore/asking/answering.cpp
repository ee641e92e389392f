#include "libcore/asking/answering.hpp"

#include "libcore/base/text.hpp"
#include "libcore/solve/answer.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>
#include <variant>

namespace gpkg {
namespace {

/// Such as run there.
bool has_builds_for(const Solution& solution, Accelerator vendor) {
    return std::ranges::any_of(solution.records, [&](const PackageRecord& record) {
        return accelerator_of(record).accelerator == vendor &&
               solution.find_not_running(record.name) == nullptr;
    });
}

std::set<std::string> titles(const Solution& solution) {
    std::set<std::string> titles;
    for (const auto& record : solution.records) titles.insert(record.distribution());
    return titles;
}

/// The packages by which one answer differs from another, "pytorch-2.9.1-cuda129_0".
std::string what_is_only_in(const Solution& solution, const std::set<std::string>& other) {
    std::vector<std::string> own;
    for (const auto& record : solution.records) {
        if (!other.contains(record.distribution()) &&
            accelerator_of(record).accelerator != Accelerator::None)
            own.push_back(record.distribution());
    }
    return own.empty() ? "none of its builds" : join_some(own, "and", 2);
}

/// Whether something leaves that counts as asked for.
bool loses_leaf(const PosedRequest& posed, const Solution& solution) {
    return std::ranges::any_of(posed.present.leaves, [&](const MatchSpec& leaf) {
        return std::ranges::find(solution.records, leaf.name, &PackageRecord::name) ==
               solution.records.end();
    });
}

/// Of what is present now. Which GPU counts is settled.
void ask_again(PosedRequest& posed) {
    auto& request = posed.problem.request;
    auto accelerators = std::move(request.accelerators);
    request = request_of(posed.wanted, posed.present, posed.problem.virtual_packages);
    request.accelerators = std::move(accelerators);
}

Result<Outcome> answer_as_put(PosedRequest& posed, const Solve& solve) {
    auto& [wanted, present, problem] = posed;
    GPKG_TRY(auto answered, answer(problem, solve));
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
        GPKG_TRY(answered, answer(problem, solve));
    }
    problem = std::move(answered.problem);
    if (auto* solution = std::get_if<Solution>(&answered.outcome);
        solution && wanted.reach.only_deps)
        leave_named_out(solution->records, wanted.specs, present.records, present.wishes);
    return std::move(answered.outcome);
}

}  // namespace

Result<Outcome> answer_to(PosedRequest& posed, const Solve& solve) {
    // An environment's records are long: they are copied where it may be asked again.
    const bool leaves_out =
        leaves_out_other_cpu(posed.wanted, posed.present, posed.problem.virtual_packages);
    if (!leaves_out && posed.present.leaves.empty()) return answer_as_put(posed, solve);
    const auto first = posed;
    GPKG_TRY(auto outcome, answer_as_put(posed, solve));
    if (std::holds_alternative<Explanation>(outcome) && leaves_out) {
        // Where there is nothing for this CPU, what is installed for another stays.
        auto kept = first;
        kept.present.keeps_other_cpu = true;
        ask_again(kept);
        GPKG_TRY(auto other, answer_as_put(kept, solve));
        if (std::holds_alternative<Solution>(other)) {
            posed = std::move(kept);
            return other;
        }
    }
    const auto* solution = std::get_if<Solution>(&outcome);
    if (solution == nullptr || first.wanted.reach.no_deps || !loses_leaf(first, *solution))
        return outcome;
    posed = first;
    posed.present.wishes = std::move(posed.present.leaves);
    posed.present.leaves.clear();
    ask_again(posed);
    return answer_as_put(posed, solve);
}

Result<std::optional<Solution>> solution_of(PosedRequest& posed, const Solve& solve) {
    posed.problem.wants_reasons = false;
    posed.problem.wants_notes = false;
    GPKG_TRY(auto outcome, answer_to(posed, solve));
    auto* solution = std::get_if<Solution>(&outcome);
    return solution == nullptr ? std::nullopt : std::optional(std::move(*solution));
}

Result<std::optional<std::string>> prefer_vendor(PosedRequest& posed, const Solve& solve) {
    auto& problem = posed.problem;
    auto& accelerators = problem.request.accelerators;
    if (accelerators.in_turn_on(problem.virtual_packages).front() != AcceleratorChoice::Auto ||
        found_accelerator(problem.request.installed, problem.virtual_packages))
        return std::nullopt;
    struct Way {
        std::string_view vendor;
        Solution solution;
        std::set<std::string> titles;
    };
    std::vector<Way> ways;
    for (const auto vendor : vendors_with(problem.virtual_packages, has_vendor)) {
        auto copy = posed;
        copy.problem.request.accelerators.preferred = vendor;
        GPKG_TRY(auto solution, solution_of(copy, solve));
        if (!solution || !has_builds_for(*solution, vendor)) continue;
        if (ways.empty()) accelerators.preferred = vendor;
        auto all = titles(*solution);
        ways.push_back({to_string(vendor), *std::move(solution), std::move(all)});
    }
    if (ways.empty()) accelerators.preferred = vendors().front().accelerator;
    if (ways.size() < 2 || ways[0].titles == ways[1].titles) return std::nullopt;
    return fmt::format(
        "{} has GPUs of two vendors, which need different packages: {} selects {}, {} selects {}",
        problem.machine,
        ways[0].vendor,
        what_is_only_in(ways[0].solution, ways[1].titles),
        ways[1].vendor,
        what_is_only_in(ways[1].solution, ways[0].titles));
}

}  // namespace gpkg
