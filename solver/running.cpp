#include "solver/running.hpp"

#include "libcore/hardware/cuda.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace gpkg::solver {
namespace {

/// Whether only candidates that do not run match.
bool is_hopeless(const Spec& spec, const std::vector<Candidate>& candidates) {
    return !spec.matches.empty() && std::ranges::all_of(spec.matches, [&](CandidateId id) {
        return candidates[id].will_not_run;
    });
}

/// "needs libcudnn 9.11, which ..." of a candidate that needs something that does not run.
std::optional<std::string> obstacle_by_needs(const Universe& universe,
                                             CandidateId id,
                                             const NotRunning& not_running) {
    for (const auto depend : universe.candidates()[id].depends) {
        const auto& spec = universe.specs()[depend];
        if (is_for_building(universe.name_of(spec).text)) continue;
        for (const auto& [needed, why] : not_running) {
            if (spec.allows(needed))
                return fmt::format("needs {} {}, which {}",
                                   universe.name_of(needed).text,
                                   universe.version_of(needed).to_string(),
                                   why);
        }
    }
    return std::nullopt;
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
            const auto need =
                std::ranges::find_if(candidate.depends, [&](SpecId id) { return hopeless[id]; });
            if (need == candidate.depends.end()) continue;
            candidate.will_not_run = true;
            candidate.unusable_need = *need;
        }
    }
}

std::string obstacle_of(const Universe& universe,
                        CandidateId id,
                        const std::vector<CandidateId>& chosen) {
    const auto& candidate = universe.candidates()[id];
    if (candidate.unusable_need != kNone) {
        const auto& spec = universe.specs()[candidate.unusable_need];
        const auto taken =
            std::ranges::find_if(chosen, [&](CandidateId one) { return spec.allows(one); });
        const auto needed = taken == chosen.end() ? spec.matches.front() : *taken;
        return fmt::format("needs {}, which {}", spec.text, obstacle_of(universe, needed, chosen));
    }
    const auto record = candidate.record();
    const auto own = record ? universe.limits().obstacle_of(*record) : std::nullopt;
    return own.value_or("does not run");
}

NotRunning not_running_in(const Universe& universe, const std::vector<CandidateId>& chosen) {
    NotRunning not_running;
    for (const auto id : chosen) {
        if (universe.candidates()[id].will_not_run)
            not_running.emplace(id, obstacle_of(universe, id, chosen));
    }
    for (std::size_t known = 0; known < not_running.size();) {
        known = not_running.size();
        for (const auto id : chosen) {
            if (not_running.contains(id)) continue;
            if (auto why = obstacle_by_needs(universe, id, not_running))
                not_running.emplace(id, *std::move(why));
        }
    }
    return not_running;
}

}  // namespace gpkg::solver
