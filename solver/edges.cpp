#include "solver/edges.hpp"

#include <algorithm>

namespace gpkg::solver {
namespace {

std::uint64_t key(NameId from, NameId to) { return std::uint64_t{from} << 32U | to; }

}  // namespace

bool is_implied(const Universe& universe, const Edge& edge) {
    return edge.kind == Edge::Kind::Request &&
           edge.index + universe.problem().request.implied >= universe.requested().size();
}

Edges::Edges(const Universe& universe) {
    const auto names = universe.names().size();
    machine_.resize(names, kNone);
    std::vector<bool> reached(names);
    std::vector<NameId> frontier;
    const auto reach = [&](NameId name, std::vector<NameId>& into) {
        if (!reached[name]) into.push_back(name);
        reached[name] = true;
    };
    for (std::uint32_t i = 0; i < universe.requested().size(); ++i) {
        const auto name = universe.specs()[universe.requested()[i]].name;
        edges_.push_back({Edge::Kind::Request, i, kNone, name, 0});
        reach(name, frontier);
    }
    const auto& constraints = universe.problem().request.constraints;
    for (std::uint32_t i = 0; i < constraints.size(); ++i)
        edges_.push_back({Edge::Kind::Constraint, i, kNone, kNone, 0});

    for (int level = 1; !frontier.empty(); ++level) {
        std::vector<NameId> next;
        for (const auto from : frontier) {
            for (const auto to : add_asks(universe, from, level)) reach(to, next);
        }
        // So that an explanation does not depend on the order in which records were met.
        std::sort(next.begin(), next.end(), [&](auto a, auto b) {
            return universe.names()[a].text < universe.names()[b].text;
        });
        frontier = std::move(next);
        deepest_ = level;
    }
    for (NameId name = 0; name < names; ++name) {
        if (!universe.names()[name].is_virtual) continue;
        machine_[name] = static_cast<EdgeId>(edges_.size());
        edges_.push_back({Edge::Kind::Machine, 0, kNone, name, 0});
    }
}

/// The edges from one name; gives the names that may have to be there for it.
std::set<NameId> Edges::add_asks(const Universe& universe, NameId from, int level) {
    const auto& name = universe.names()[from];
    std::set<NameId> needed;
    std::set<NameId> restricted;
    const auto see = [&](std::span<const SpecId> specs, std::set<NameId>& names) {
        for (const auto spec : specs) names.insert(universe.specs()[spec].name);
    };
    for (auto id = name.begin; id < name.end; ++id) {
        see(universe.candidates()[id].depends, needed);
        see(universe.candidates()[id].conditional, needed);
        see(universe.candidates()[id].constrains, restricted);
    }
    restricted.insert(needed.begin(), needed.end());
    std::vector<NameId> all(restricted.begin(), restricted.end());
    std::sort(all.begin(), all.end(), [&](auto a, auto b) {
        return universe.names()[a].text < universe.names()[b].text;
    });
    for (const auto to : all) {
        asks_[key(from, to)] = static_cast<EdgeId>(edges_.size());
        edges_.push_back({Edge::Kind::Asks, 0, from, to, level});
    }
    return needed;
}

EdgeSet Edges::up_to(int level) const {
    EdgeSet set;
    for (EdgeId id = 0; id < edges_.size(); ++id) {
        if (edges_[id].level <= level) set.insert(set.end(), id);
    }
    return set;
}

EdgeId Edges::asks(NameId from, NameId to) const {
    const auto found = asks_.find(key(from, to));
    return found == asks_.end() ? kNone : found->second;
}

}  // namespace gpkg::solver
