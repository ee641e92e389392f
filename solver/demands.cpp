#include "solver/demands.hpp"

#include "libcore/base/text.hpp"
#include "solver/wording.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::solver {
namespace {

using Set = std::vector<CandidateId>;
using Specs = std::vector<SpecId>;

constexpr std::size_t kDeepest = 6;
constexpr std::size_t kMostNames = 200;

/// What meets all of the specs, which are on one name.
Set matches_of_all(const Universe& universe, const Specs& specs) {
    auto all = universe.specs()[specs.front()].matches;
    for (const auto spec : specs)
        std::erase_if(all, [&](auto id) { return !universe.specs()[spec].allows(id); });
    return all;
}

/// The names that every member speaks of. Builds mostly share their dependencies, so members with
/// the same lists are looked at once.
std::map<NameId, Demand> demands_of(const Universe& universe, const Set& members) {
    std::map<std::pair<Specs, Specs>, std::size_t> alike;
    for (const auto id : members) {
        const auto& candidate = universe.candidates()[id];
        ++alike[{Specs(candidate.depends.begin(), candidate.depends.end()),
                 Specs(candidate.constrains.begin(), candidate.constrains.end())}];
    }
    std::map<NameId, Demand> demands;
    for (const auto& [lists, count] : alike) {
        std::map<NameId, Specs> ways;
        std::set<NameId> needed;
        for (const auto spec : lists.first) needed.insert(universe.specs()[spec].name);
        for (const auto* list : {&lists.first, &lists.second}) {
            for (const auto spec : *list) ways[universe.specs()[spec].name].push_back(spec);
        }
        for (auto& [name, way] : ways) {
            std::sort(way.begin(), way.end());
            auto& demand = demands[name];
            demand.members += count;
            demand.ways.insert(std::move(way));
            (needed.contains(name) ? demand.some_need : demand.some_restrict) = true;
        }
    }
    std::erase_if(demands, [&](const auto& entry) {
        return entry.second.members < members.size() || universe.names()[entry.first].is_virtual;
    });
    return demands;
}

/// Live candidates that some way allows.
Set allowed_by(const Universe& universe, const Demand& demand, const Live& live) {
    Set allowed;
    for (const auto& way : demand.ways) {
        const auto some = matches_of_all(universe, way);
        Set both;
        std::set_union(
            allowed.begin(), allowed.end(), some.begin(), some.end(), std::back_inserter(both));
        allowed = std::move(both);
    }
    std::erase_if(allowed, [&](auto id) { return !live[id]; });
    return allowed;
}

/// The specs of a way without those that say no more than the others.
std::string way_text(const Universe& universe, Specs way) {
    const auto& specs = universe.specs();
    const auto count = matches_of_all(universe, way).size();
    std::stable_sort(way.begin(), way.end(), [&](auto a, auto b) {
        return specs[a].matches.size() < specs[b].matches.size();
    });
    while (way.size() > 1) {
        auto fewer = way;
        fewer.pop_back();
        if (matches_of_all(universe, fewer).size() > count) break;
        way = std::move(fewer);
    }
    std::vector<std::string> texts(way.size());
    std::transform(way.begin(), way.end(), texts.begin(), [&](auto spec) {
        return written(specs[spec].match);
    });
    return join_some(texts, "and");
}

std::string_view verb(bool some_need, bool some_restrict, bool one) {
    if (!some_restrict) return one ? "needs" : "need";
    if (!some_need) return one ? "goes only with" : "go only with";
    return "need or go only with";
}

std::string line_of(const Universe& universe, const Set& members, const Demand& demand) {
    std::set<std::string> texts;
    for (const auto& way : demand.ways) texts.insert(way_text(universe, way));
    const std::vector<std::string> items(texts.begin(), texts.end());
    return fmt::format("{}{} {} {}",
                       members.size() > 1 ? "all " : "",
                       subject(universe, members),
                       verb(demand.some_need, demand.some_restrict, members.size() == 1),
                       join_some(items, "or"));
}

}  // namespace

std::map<NameId, Implication> implications(const Universe& universe,
                                           SpecId root,
                                           bool is_needed,
                                           const Live& live) {
    std::map<NameId, Implication> known;
    const auto root_name = universe.specs()[root].name;
    auto start = universe.specs()[root].matches;
    std::erase_if(start, [&](auto id) { return !live[id]; });
    known[root_name] = {std::move(start), is_needed, {}};
    std::vector<NameId> queue{root_name};
    for (std::size_t next = 0; next < queue.size() && next < kMostNames; ++next) {
        const auto from = known[queue[next]];
        if (from.path.size() >= kDeepest) continue;
        for (const auto& [name, demand] : demands_of(universe, from.allowed)) {
            if (known.contains(name)) continue;
            Implication step{allowed_by(universe, demand, live), !demand.some_restrict, from.path};
            step.path.push_back(line_of(universe, from.allowed, demand));
            // What is only restricted need not be there, and then asks for nothing.
            if (step.is_needed) queue.push_back(name);
            known[name] = std::move(step);
        }
    }
    return known;
}

std::string demand_line(const Universe& universe,
                        const std::vector<CandidateId>& ids,
                        const std::set<SpecId>& specs) {
    const auto needs_one = [&](CandidateId id) {
        const auto& depends = universe.candidates()[id].depends;
        return std::any_of(
            depends.begin(), depends.end(), [&](auto spec) { return specs.contains(spec); });
    };
    std::vector<std::string> texts;
    texts.reserve(specs.size());
    for (const auto spec : specs) texts.push_back(written(universe.specs()[spec].match));
    return fmt::format("{} {} {}",
                       subject(universe, ids),
                       verb(std::any_of(ids.begin(), ids.end(), needs_one),
                            !std::all_of(ids.begin(), ids.end(), needs_one),
                            ids.size() == 1),
                       join_some(texts, "or"));
}

}  // namespace gpkg::solver
