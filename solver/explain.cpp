#include "solver/explain.hpp"

#include "solver/demands.hpp"
#include "solver/engine.hpp"
#include "solver/preference.hpp"
#include "solver/reductions.hpp"
#include "solver/unmatched.hpp"
#include "solver/wording.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace gpkg::solver {
namespace {

using Set = std::vector<CandidateId>;

bool intersect(const Set& a, const Set& b) {
    Set both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return !both.empty();
}

class Explainer {
public:
    explicit Explainer(const Universe& universe)
        : universe_(universe), ranks_(rank_candidates(universe)) {}

    Explanation run() {
        for (const auto spec : universe_.requested()) {
            if (spec_of(spec).matches.empty())
                say_unmatched(universe_, ranks_, spec, 0, explanation_);
        }
        if (!explanation_.lines.empty()) return std::move(explanation_);

        core_ = minimal_core();
        const auto live = make_consistent(universe_, {}).live;
        for (const auto spec : core_)
            follows_.push_back(implications(universe_, spec, is_requested(spec), live));
        if (core_.size() > 1 && say_clash()) return std::move(explanation_);
        const bool told = say_deaths(live);
        if (!told && core_.size() == 1) {
            say(1,
                fmt::format("{} has candidates, but the dependencies of each exclude one another",
                            written(spec_of(core_.front()).match)));
        } else if (core_.size() > 1 || !blamed_.empty()) {
            say(0, "these cannot be installed together");
        }
        return std::move(explanation_);
    }

private:
    void say(int depth, std::string text) {
        explanation_.lines.push_back({depth, std::move(text)});
    }

    const Spec& spec_of(SpecId id) const { return universe_.specs()[id]; }

    bool is_requested(SpecId spec) const {
        const auto& requested = universe_.requested();
        return std::find(requested.begin(), requested.end(), spec) != requested.end();
    }

    void say_root(SpecId spec) {
        say(0,
            fmt::format("{} {}",
                        written(spec_of(spec).match),
                        is_requested(spec) ? "is asked for" : universe_.reason_of(spec)));
    }

    bool feasible(const std::vector<SpecId>& specs) const {
        auto live = make_consistent(universe_, specs).live;
        std::vector<Goal> goals;
        for (const auto spec : specs) {
            if (!is_requested(spec)) continue;
            if (spec_of(spec).matches.empty()) return false;
            if (!universe_.name_of(spec_of(spec)).is_virtual)
                goals.push_back({spec_of(spec).matches, false});
        }
        remove_dominated(universe_, ranks_, live);
        return Engine(universe_, live, ranks_).solve(goals).has_value();
    }

    /// The fewest of the user's specs that have no solution: leave any one out and they have.
    std::vector<SpecId> minimal_core() const {
        auto core = universe_.requested();
        core.insert(core.end(), universe_.constraints().begin(), universe_.constraints().end());
        for (std::size_t i = core.size(); i-- > 0;) {
            auto fewer = core;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            if (!feasible(fewer)) core = std::move(fewer);
        }
        return core;
    }

    /// Two of the core that lead to one name and want different candidates of it.
    bool say_clash() {
        std::size_t best_length = std::string::npos;
        std::size_t first = 0, second = 0;
        NameId clash = kNone;
        for (std::size_t i = 0; i < core_.size(); ++i) {
            for (std::size_t j = i + 1; j < core_.size(); ++j) {
                for (const auto& [name, one] : follows_[i]) {
                    const auto found = follows_[j].find(name);
                    if (found == follows_[j].end()) continue;
                    const auto& two = found->second;
                    if (!(one.is_needed || two.is_needed) || intersect(one.allowed, two.allowed))
                        continue;
                    const auto length = one.path.size() + two.path.size();
                    if (length >= best_length) continue;
                    best_length = length;
                    first = i;
                    second = j;
                    clash = name;
                }
            }
        }
        if (clash == kNone) return false;
        for (std::size_t i = 0; i < core_.size(); ++i) {
            say_root(core_[i]);
            if (i != first && i != second) continue;
            int depth = 1;
            for (const auto& step : follows_[i].at(clash).path) say(depth++, step);
        }
        say(0, fmt::format("no {} meets both", universe_.names()[clash].text));
        return true;
    }

    /// The roots and, below the first of them that has no living candidate, what each of those dies
    /// of. False where there is no such root.
    bool say_deaths(const Live& live) {
        const auto excluded = exclude(live);
        const auto state = make_consistent(universe_, core_, excluded);
        const auto is_dead = [&](SpecId root) {
            const auto& matches = spec_of(root).matches;
            return is_requested(root) && std::none_of(matches.begin(), matches.end(), [&](auto id) {
                       return state.live[id];
                   });
        };
        const auto victim = std::find_if(core_.begin(), core_.end(), is_dead);
        Explanation deaths;
        if (victim != core_.end()) {
            std::swap(explanation_, deaths);
            std::set<NameId> seen{spec_of(*victim).name};
            say_deaths_of(spec_of(*victim).matches, state, 1, seen);
            std::swap(explanation_, deaths);
        }
        for (std::size_t i = 0; i < core_.size(); ++i) {
            say_root(core_[i]);
            if (victim != core_.end() && core_[i] == *victim)
                explanation_.lines.insert(
                    explanation_.lines.end(), deaths.lines.begin(), deaths.lines.end());
            for (const auto& [root, name] : blamed_) {
                int depth = 1;
                if (root != i) continue;
                for (const auto& step : follows_[i].at(name).path) say(depth++, step);
            }
        }
        explanation_.hints = std::move(deaths.hints);
        return !deaths.lines.empty();
    }

    /// What cannot be there because of what follows from one of the core.
    Set exclude(const Live& live) {
        Set excluded;
        for (std::size_t i = 0; i < core_.size(); ++i) {
            for (const auto& [name, implied] : follows_[i]) {
                if (implied.path.empty()) continue;
                for (auto id = universe_.names()[name].begin; id < universe_.names()[name].end;
                     ++id) {
                    if (!live[id] ||
                        std::binary_search(implied.allowed.begin(), implied.allowed.end(), id))
                        continue;
                    if (excluded_by_.try_emplace(id, i, name).second) excluded.push_back(id);
                }
            }
        }
        return excluded;
    }

    bool is_of_core(SpecId spec) const {
        return std::find(core_.begin(), core_.end(), spec) != core_.end();
    }

    /// Candidates that die of dependencies on the same name.
    struct Group {
        std::set<SpecId> specs;
        Set ids;
    };

    std::map<NameId, Group> group(const Set& dead, const Consistency& state) {
        std::map<NameId, Group> groups;
        for (const auto id : dead) {
            const auto reason = state.deaths[id].spec;
            if (reason == kNone) {
                blamed_.insert(excluded_by_.at(id));
                continue;
            }
            // What the user's own specs rule out is said by them.
            if (is_of_core(reason) && spec_of(reason).name == universe_.candidates()[id].name)
                continue;
            auto& group = groups[spec_of(reason).name];
            group.specs.insert(reason);
            group.ids.push_back(id);
        }
        return groups;
    }

    void say_deaths_of(const Set& dead,
                       const Consistency& state,
                       int depth,
                       std::set<NameId>& seen) {
        auto by_name = group(dead, state);
        std::vector<std::pair<NameId, Group>> groups(by_name.begin(), by_name.end());
        std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
            return a.second.ids.size() > b.second.ids.size();
        });
        std::size_t untold = 0;
        for (std::size_t i = 0; i < groups.size(); ++i) {
            const auto& [name, group] = groups[i];
            if (i >= kMostReasons || explanation_.lines.size() >= kMostLines) {
                untold += group.ids.size();
                continue;
            }
            const bool all = group.ids.size() == dead.size() && dead.size() > 1;
            say(depth, (all ? "all " : "") + demand_line(universe_, group.ids, group.specs));
            const auto own = universe_.candidates()[dead.front()].name;
            if (name == own || !seen.insert(name).second || depth >= kDeepest) continue;
            Set next;
            for (const auto spec : group.specs)
                next.insert(next.end(), spec_of(spec).matches.begin(), spec_of(spec).matches.end());
            std::sort(next.begin(), next.end());
            next.erase(std::unique(next.begin(), next.end()), next.end());
            if (next.empty()) {
                say_unmatched(universe_, ranks_, *group.specs.begin(), depth + 1, explanation_);
            } else {
                say_deaths_of(next, state, depth + 1, seen);
            }
        }
        if (untold > 0)
            say(depth,
                fmt::format(
                    "and {} other {} alike", untold, untold == 1 ? "build fails" : "builds fail"));
    }

    static constexpr int kDeepest = 6;
    static constexpr std::size_t kMostReasons = 3;
    static constexpr std::size_t kMostLines = 10;

    const Universe& universe_;
    std::vector<std::uint32_t> ranks_;
    std::vector<SpecId> core_;
    std::vector<std::map<NameId, Implication>> follows_;  ///< from each of core_
    using Cause = std::pair<std::size_t, NameId>;  ///< of core_, by what follows for the name
    std::map<CandidateId, Cause> excluded_by_;
    std::set<Cause> blamed_;
    Explanation explanation_;
};

}  // namespace

Explanation explain(const Universe& universe) { return Explainer(universe).run(); }

}  // namespace gpkg::solver
