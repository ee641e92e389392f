#include "solver/running.hpp"

#include "libcore/hardware/cuda.hpp"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <utility>

namespace gpkg::solver {
namespace {

/// Whether none of those that a spec matches runs.
bool is_hopeless(const Spec& spec, const std::vector<Candidate>& candidates) {
    return !spec.matches.empty() && std::ranges::all_of(spec.matches, [&](CandidateId id) {
        return candidates[id].will_not_run;
    });
}

std::optional<std::string> own_obstacle(const Universe& universe, const Candidate& candidate) {
    const auto record = candidate.record();
    return record ? universe.limits().obstacle_of(*record) : std::nullopt;
}

}  // namespace

void mark_dependents(const SpecTable& table, std::vector<Candidate>& candidates) {
    std::vector<bool> hopeless(table.specs().size());
    const auto find_more = [&] {
        bool has_more = false;
        for (SpecId id = 0; id < hopeless.size(); ++id) {
            if (hopeless[id] || !is_hopeless(table.specs()[id], candidates)) continue;
            hopeless[id] = true;
            has_more = true;
        }
        return has_more;
    };
    while (find_more()) {
        for (auto& candidate : candidates) {
            if (candidate.will_not_run) continue;
            candidate.will_not_run =
                std::ranges::any_of(candidate.depends, [&](SpecId id) { return hopeless[id]; });
        }
    }
}

std::string obstacle_of(const Universe& universe,
                        CandidateId id,
                        const std::vector<CandidateId>& chosen) {
    // What needs each other is marked together, so what was told of is not gone through again.
    std::deque<std::pair<CandidateId, std::string>> open{{id, ""}};
    std::set<CandidateId> seen{id};
    for (; !open.empty(); open.pop_front()) {
        const auto& [one, needs] = open.front();
        const auto& candidate = universe.candidates()[one];
        if (const auto own = own_obstacle(universe, candidate)) return needs + *own;
        for (const auto depend : candidate.depends) {
            const auto& spec = universe.specs()[depend];
            if (!is_hopeless(spec, universe.candidates())) continue;
            const auto taken =
                std::ranges::find_if(chosen, [&](CandidateId other) { return spec.allows(other); });
            const auto next = taken == chosen.end() ? spec.matches.front() : *taken;
            if (seen.insert(next).second)
                open.emplace_back(next, fmt::format("{}needs {}, which ", needs, spec.text));
        }
    }
    return "does not run";
}

NotRunning not_running_in(const Universe& universe, const std::vector<CandidateId>& chosen) {
    NotRunning not_running;
    for (const auto id : chosen) {
        if (universe.candidates()[id].will_not_run)
            not_running.emplace(id, obstacle_of(universe, id, chosen));
    }
    if (not_running.empty()) return not_running;
    const auto one_needed_by = [&](CandidateId id) {
        for (const auto depend : universe.candidates()[id].depends) {
            const auto& spec = universe.specs()[depend];
            const auto found = std::ranges::find_if(
                not_running, [&](const auto& one) { return spec.allows(one.first); });
            if (found != not_running.end() && !is_for_building(universe.name_of(spec).text))
                return found;
        }
        return not_running.end();
    };
    for (bool has_more = true; std::exchange(has_more, false);) {
        for (const auto id : chosen) {
            if (not_running.contains(id)) continue;
            const auto found = one_needed_by(id);
            if (found == not_running.end()) continue;
            const auto& [needed, why] = *found;
            not_running.emplace(id,
                                fmt::format("needs {} {}, which {}",
                                            universe.name_of(needed).text,
                                            universe.version_of(needed).to_string(),
                                            why));
            has_more = true;
        }
    }
    return not_running;
}

}  // namespace gpkg::solver
