#include "solver/solver.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/contradictions.hpp"
#include "libcore/solve/answer.hpp"
#include "libcore/spec/record_graph.hpp"
#include "solver/explain/explain.hpp"
#include "solver/improve.hpp"
#include "solver/notes/notes.hpp"
#include "solver/preference.hpp"
#include "solver/reductions.hpp"
#include "solver/search.hpp"
#include "solver/wording.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace gpkg::solver {
namespace {

Effort effort_of(const Problem& problem) {
    return {problem.stop, problem.limits.conflicts, problem.deadline};
}

/// The best solution; nothing when there is none.
std::optional<Selected> best_of(const Universe& universe, const Ranking& ranking) {
    const auto& requested = universe.requested();
    const auto open = reduce(universe, requested, universe.constraints(), ranking.ranks);
    if (!open) return std::nullopt;
    Search search(universe, ranking.ranks, effort_of(universe.problem()));
    const auto goals = goals_of(universe, requested);
    const auto first = search.find(open->live(), goals);
    if (!first) return std::nullopt;
    return improve(universe, *open, ranking, search, goals, *first);
}

/// A problem, and its best solution if there is one.
struct Solved {
    Universe universe;
    std::optional<Selected> best;
    bool is_mixed = false;  ///< of builds that do not go together
};

bool has_solution(const Universe& universe) {
    return has_solution(
        universe, universe.requested(), universe.constraints(), effort_of(universe.problem()));
}

/// Builds that do not go together in what no record says come only where nothing else does. Told of
/// each step.
template <typename OnStep>
Solved solved(Universe universe, OnStep&& on_step) {
    universe.require(Universe::Together::Required);
    const auto ranking = rank_candidates(universe);
    on_step("collect candidates");
    auto best = best_of(universe, ranking);
    const bool is_mixed = !best && universe.has_derived();
    if (is_mixed) {
        universe.require(Universe::Together::NotRequired);
        if (has_solution(universe)) best = best_of(universe, rank_candidates(universe));
    }
    on_step("search");
    return {std::move(universe), std::move(best), is_mixed};
}

constexpr auto kUntimed = [](std::string_view) {};

/// With nothing noted.
Result<Solution> solution_of(const Universe& universe, const Selected& selected) {
    Solution solution;
    for (const auto id : selected.packages) solution.settled.push_back(universe.name_of(id).text);
    for (const auto& [id, why] : selected.not_running)
        solution.not_running.push_back({universe.name_of(id).text, why});
    std::vector<PackageRecord> records;
    for (const auto id : selected.packages) {
        GPKG_TRY(records.emplace_back(), universe.candidates()[id].record());
    }
    RecordGraph graph(std::move(records), universe.problem().request.specs);
    const auto order = graph.dependencies_first();
    records = std::move(graph).records();
    for (const auto place : order) solution.records.push_back(std::move(records[place]));
    return solution;
}

Error undecided(const Problem& problem) {
    const auto limit = problem.limits.conflicts;
    return {ErrorKind::Unsupported,
            fmt::format("cannot decide whether the request can be solved: the solver reached its "
                        "limit of {} conflicts",
                        limit),
            fmt::format("request exact versions of some packages, or raise the limit: "
                        "gpkg config set solve_limit {}",
                        limit * 4),
            {}};
}

/// As WithSpec says. `mixes`: so does the solution without the spec.
std::optional<Builds> builds_with(const Problem& problem, const std::string& spec, bool mixes) try {
    ProblemChange change;
    change.kind = ProblemChange::Kind::LetChange;
    change.spec = spec;
    const auto& constraints = problem.request.constraints;
    const auto holding = std::ranges::find_if(constraints, [&](const Constraint& constraint) {
        return constraint.holds == Constraint::Holds::WherePossible && constraint.spec.name == spec;
    });
    if (holding != constraints.end()) {
        change.kind = ProblemChange::Kind::DropConstraint;
        change.index = static_cast<std::size_t>(holding - constraints.begin());
    }
    const auto changed = with_changes(problem, {change});
    if (!changed) return std::nullopt;
    auto collected = Universe::collect(*changed);
    if (!collected) return std::nullopt;
    const auto answer = solved(*std::move(collected), kUntimed);
    // A spec whose solution mixes builds that do not go together is not advised.
    if (!answer.best || (answer.is_mixed && !mixes)) return std::nullopt;
    const auto& universe = answer.universe;
    const auto& selected = *answer.best;
    Builds builds;
    for (const auto id : selected.packages) {
        builds.emplace(universe.name_of(id).text,
                       Build{universe.version_of(id),
                             universe.candidates()[id].accelerator,
                             !selected.not_running.contains(id)});
    }
    return builds;
} catch (const GaveUp&) {
    return std::nullopt;
}

Result<Decided> decide_as_put(std::unique_ptr<const Problem> problem, Answer wanted) {
    GPKG_TRY(auto universe, Universe::collect(*problem));
    universe.require(Universe::Together::NotRequired);
    std::optional<Solution> solution;
    if (wanted == Answer::Any) {
        if (has_solution(universe)) solution.emplace();
    } else if (!is_ruled_out(universe)) {
        auto answer = solved(std::move(universe), kUntimed);
        if (answer.best) {
            GPKG_TRY(solution, solution_of(answer.universe, *answer.best));
        }
        universe = std::move(answer.universe);
    }
    return Decided{std::move(problem), std::move(universe), std::move(solution)};
}

Result<Decided> decide(const Problem& changed, Answer wanted) try {
    if (is_answered_as_it_stands(changed))
        return decide_as_put(std::make_unique<Problem>(changed), wanted);
    auto problem = changed;
    problem.wants_reasons = false;
    problem.wants_notes = false;
    problem.on_step = {};  // it is part of another step
    GPKG_TRY(auto answered, gpkg::answer(problem, solve));
    auto* solution = std::get_if<Solution>(&answered.outcome);
    auto told = std::make_unique<Problem>(solution != nullptr ? changed : answered.problem);
    GPKG_TRY(auto universe, Universe::collect(*told));
    universe.require(Universe::Together::NotRequired);
    return Decided{std::move(told),
                   std::move(universe),
                   solution != nullptr ? std::optional(std::move(*solution)) : std::nullopt};
} catch (const GaveUp&) {
    return pass(undecided(changed));
}

/// Tells Problem::on_step the time since the last step.
auto step_timer(const Problem& problem) {
    using Clock = std::chrono::steady_clock;
    return [&problem, started = Clock::now()](std::string_view step) mutable {
        if (!problem.on_step) return;
        const auto now = Clock::now();
        problem.on_step(step, std::chrono::duration<double>(now - started).count());
        started = now;
    };
}

Result<Outcome> answer_as_put(const Problem& problem) {
    auto end_step = step_timer(problem);
    GPKG_TRY(auto collected, Universe::collect(problem));
    const auto answer = solved(std::move(collected), end_step);
    const auto& universe = answer.universe;
    if (answer.best) {
        const auto& selected = *answer.best;
        GPKG_TRY(auto solution, solution_of(universe, selected));
        if (!problem.wants_notes) return solution;
        solution.notes = notes_on(universe, selected, [&](const std::string& spec) {
            return builds_with(problem, spec, answer.is_mixed);
        });
        // A consistent solution has none.
        if (answer.is_mixed || !universe.has_derived()) {
            for (const auto& contradiction : contradictions_in(solution.records)) {
                Note note(fmt::format("{} {}", contradiction.subject, contradiction.message));
                note.is_warning = true;
                solution.notes.push_back(std::move(note));
            }
        }
        if (answer.best->gave_up)
            solution.notes.emplace_back(
                fmt::format("newer versions may be possible: the solver reached its limit "
                            "(solve_limit: {})",
                            problem.limits.conflicts));
        end_step("notes");
        return solution;
    }
    if (!problem.wants_reasons) return Explanation{};
    auto explanation = explain(universe, decide);
    end_step("explain");
    return explanation;
}

}  // namespace

Result<Outcome> solve(const Problem& problem) try {
    return answer_as_put(problem);
} catch (const Stopped&) {
    return fail(ErrorKind::Interrupted, "interrupted");
} catch (const GaveUp&) {
    return pass(undecided(problem));
}

Result<std::vector<PackageRecord>> in_order_of_preference(const Problem& problem) {
    GPKG_TRY(auto universe, Universe::collect(problem));
    universe.require(Universe::Together::NotRequired);
    const auto ranks = rank_candidates(universe).ranks;
    const auto& name = universe.names()[universe.specs()[universe.requested().front()].name];
    std::vector<PackageRecord> records(name.end - name.begin);
    for (auto id = name.begin; id < name.end; ++id) {
        GPKG_TRY(records[ranks[id]], universe.candidates()[id].record());
    }
    return records;
}

Result<std::string> advantage(const Problem& problem,
                              const PackageRecord& better,
                              const PackageRecord& other) {
    GPKG_TRY(auto universe, Universe::collect(problem));
    universe.require(Universe::Together::NotRequired);
    const auto id = universe.find_name(better.name);
    const auto name = id ? universe.names()[*id] : Name{};
    const auto is = [](const PackageRecord& record, std::string_view channel, std::string_view fn) {
        return record.fn == fn && record.channel == channel;
    };
    const auto find = [&](const PackageRecord& record) -> std::optional<CandidateId> {
        for (auto one = name.begin; one < name.end; ++one) {
            const auto known = universe.candidates()[one].record();
            if (known && is(record, known->channel, known->fn)) return one;
        }
        return std::nullopt;
    };
    const auto first = find(better);
    const auto second = find(other);
    if (first && second) return solver::advantage(universe, *first, *second);
    for (const auto& out : name.left_out) {
        const auto record = out.record.record();
        if (!record || !is(other, record->channel, record->fn)) continue;
        if (out.why == LeftOut::Why::Hidden) return "is in a channel with higher priority";
        return fmt::format(
            "is allowed, and {} is not ({})", other.version, left_out_text(universe, *id, out));
    }
    return "is allowed, and the other is not";
}

}  // namespace gpkg::solver
