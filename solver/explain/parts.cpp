#include "solver/explain/parts.hpp"

#include "solver/preference.hpp"
#include "solver/search.hpp"

#include <algorithm>

namespace gpkg::solver {
namespace {

/// Conflicts that one question may meet: twice what questions of the corpus need. Without a limit
/// one that is hard would cost all the time of the explanation.
constexpr std::uint64_t kMostConflicts = 5'000;

}  // namespace

Parts::Parts(const Universe& universe, const Edges& edges, Deadline deadline)
    : universe_(universe),
      edges_(edges),
      ranks_(ranks_by_channel(universe)),
      deadline_(deadline),
      restrictions_(universe.names().size()) {
    const auto& requested = universe.requested();
    const auto& constraints = universe.constraints();
    const auto restrict = [&](std::size_t edge, SpecId spec) {
        restrictions_[universe.specs()[spec].name].push_back({static_cast<EdgeId>(edge), spec});
    };
    for (std::size_t i = 0; i < requested.size(); ++i) restrict(i, requested[i]);
    for (std::size_t i = 0; i < constraints.size(); ++i)
        restrict(requested.size() + universe.constraint_index(i), constraints[i]);
}

/// Whether the machine lacks what a spec on a virtual package asks for.
bool Parts::is_unmet(const EdgeSet& active, SpecId spec) const {
    const auto& asked = universe_.specs()[spec];
    if (!active.contains(edges_.machine(asked.name))) return false;
    return std::none_of(asked.matches.begin(), asked.matches.end(), [&](CandidateId id) {
        const auto& all = restrictions_[asked.name];
        return std::none_of(all.begin(), all.end(), [&](const auto& one) {
            return edges_[one.edge].kind == Edge::Kind::Constraint && active.contains(one.edge) &&
                   !universe_.specs()[one.spec].allows(id);
        });
    });
}

/// What leaves a spec on a virtual package unmet: the machine, and pins that tell it otherwise.
EdgeSet Parts::machine_reasons(const EdgeSet& active, SpecId spec) const {
    const auto& asked = universe_.specs()[spec];
    EdgeSet reasons{edges_.machine(asked.name)};
    if (asked.matches.empty()) return reasons;
    for (const auto& one : restrictions_[asked.name]) {
        if (edges_[one.edge].kind == Edge::Kind::Constraint && active.contains(one.edge))
            reasons.insert(one.edge);
    }
    return reasons;
}

/// Edges that each exclude the candidate alone, facts about the machine together with the spec on
/// it.
EdgeSet Parts::reasons_against(const EdgeSet& active, CandidateId id) const {
    EdgeSet reasons;
    const auto& specs = universe_.specs();
    const auto& candidate = universe_.candidates()[id];
    for (const auto& one : restrictions_[candidate.name]) {
        if (active.contains(one.edge) && !specs[one.spec].allows(id)) reasons.insert(one.edge);
    }
    const auto look = [&](std::span<const SpecId> asked, bool is_needed) {
        for (const auto spec : asked) {
            const auto& name = universe_.name_of(specs[spec]);
            const bool is_own = specs[spec].name == candidate.name;
            if (!name.is_virtual && !is_own) continue;
            const auto edge = edges_.asks(candidate.name, specs[spec].name);
            if (!active.contains(edge)) continue;
            if (is_own && !specs[spec].allows(id)) reasons.insert(edge);
            if (name.is_virtual && (is_needed || name.begin != name.end) &&
                is_unmet(active, spec)) {
                reasons.insert(edge);
                reasons.merge(machine_reasons(active, spec));
            }
        }
    };
    look(candidate.depends, true);
    look(candidate.constrains, false);
    return reasons;
}

/// Adds what keeps those of `ids` out that are out.
void Parts::blame(const EdgeSet& active, const std::vector<CandidateId>& ids, EdgeSet& core) const {
    for (const auto id : ids) core.merge(reasons_against(active, id));
}

bool Parts::has_no_solution(const EdgeSet& said) const try {
    std::vector<SpecId> requested;
    std::vector<SpecId> constraints;
    for (const auto& on_name : restrictions_) {
        for (const auto& one : on_name) {
            if (!said.contains(one.edge)) continue;
            const bool is_request = edges_[one.edge].kind == Edge::Kind::Request;
            (is_request ? requested : constraints).push_back(one.spec);
        }
    }
    return !has_solution(
        universe_, requested, constraints, {universe_.problem().stop, kMostConflicts, deadline_});
} catch (const GaveUp&) {
    return false;
}

std::optional<EdgeSet> Parts::core(const EdgeSet& active, CandidateId wanted) const try {
    EdgeSet core;
    const auto& requested = universe_.requested();
    for (EdgeId i = 0; i < requested.size(); ++i) {
        const auto& spec = universe_.specs()[requested[i]];
        if (!active.contains(i) || !universe_.name_of(spec).is_virtual) continue;
        if (!is_unmet(active, requested[i])) continue;
        core.insert(i);
        core.merge(machine_reasons(active, requested[i]));
        return core;
    }

    std::vector<bool> is_in(universe_.names().size());  // by name: whether an edge is about it
    for (const auto id : active) {
        const auto& edge = edges_[id];
        if (edge.from != kNone) is_in[edge.from] = true;
        if (edge.to != kNone && !universe_.names()[edge.to].is_virtual) is_in[edge.to] = true;
    }
    if (wanted != kNone) is_in[universe_.candidates()[wanted].name] = true;
    Live live(universe_);
    for (CandidateId id = 0; id < universe_.candidates().size(); ++id) {
        if (!is_in[universe_.candidates()[id].name] || !reasons_against(active, id).empty())
            live.remove(id);
    }

    std::vector<Goal> goals;
    std::vector<EdgeId> edge_of_goal;
    for (EdgeId i = 0; i < requested.size(); ++i) {
        const auto& spec = universe_.specs()[requested[i]];
        if (!active.contains(i) || universe_.name_of(spec).is_virtual) continue;
        if (std::none_of(
                spec.matches.begin(), spec.matches.end(), [&](auto id) { return live[id]; })) {
            core.insert(i);
            blame(active, spec.matches, core);
            return core;
        }
        goals.push_back({spec.matches, spec.extras});
        edge_of_goal.push_back(i);
    }
    if (wanted != kNone) {
        if (!live[wanted]) {
            core.merge(reasons_against(active, wanted));
            return core;
        }
        goals.push_back({{wanted}});
        edge_of_goal.push_back(kNone);
    }
    const auto counts = [&](NameId name, SpecId spec) {
        return active.contains(edges_.asks(name, universe_.specs()[spec].name));
    };
    for (const auto id : worse_twins(universe_, ranks_, requested, live, counts)) {
        if (id != wanted) live.remove(id);
    }
    const auto lacks = [&](SpecId spec) { return is_unmet(active, spec); };
    Engine engine(universe_, live, ranks_, Scope{counts, lacks});
    Effort effort{universe_.problem().stop, kMostConflicts, deadline_};
    if (engine.solve(goals, effort)) return std::nullopt;
    for (const auto goal : engine.conflict().goals) {
        if (goal >= goals.size() || edge_of_goal[goal] == kNone) continue;
        core.insert(edge_of_goal[goal]);
        blame(active, goals[goal].any_of, core);
    }
    for (const auto& [id, spec] : engine.conflict().asks) {
        core.insert(edges_.asks(universe_.candidates()[id].name, universe_.specs()[spec].name));
        if (universe_.name_of(universe_.specs()[spec]).is_virtual) {
            core.merge(machine_reasons(active, spec));
        } else {
            blame(active, universe_.specs()[spec].matches, core);
        }
    }
    return core;
} catch (const GaveUp&) {
    ++given_up_;
    return std::nullopt;
}

}  // namespace gpkg::solver
