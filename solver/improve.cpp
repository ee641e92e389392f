#include "solver/improve.hpp"

#include "solver/newest_together.hpp"
#include "solver/version_dates.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace gpkg::solver {
namespace {

class Settling {
public:
    Settling(const Universe& universe,
             Narrowing open,
             const Ranking& ranking,
             Search& search,
             std::vector<Goal> goals)
        : universe_(universe),
          open_(std::move(open)),
          ranking_(ranking),
          search_(search),
          goals_(std::move(goals)),
          chosen_(universe.names().size(), kNone),
          is_settled_(universe.names().size()),
          is_kept_(universe.names().size()),
          is_extra_asked_(universe.conditions().size()) {
        for (const auto spec : universe.requested()) ask_extras(spec);
    }

    Selected run(const std::vector<CandidateId>& first) {
        adopt(first);
        keep_installed(unneeded_of_installed());
        exclude_where_possible([&](const Candidate& candidate) {
            return universe_.names()[candidate.name].toolkit_of && !candidate.is_installed &&
                   candidate.toolkit_fit.how == ToolkitFit::Class::NotRun;
        });
        exclude_where_possible([&](const Candidate& candidate) {
            return candidate.will_not_run && universe_.heeds_machine(candidate.name);
        });
        const auto& specs = universe_.requested();
        const auto named = std::min(universe_.problem().request.named, specs.size());
        settle_requested(std::span(specs).first(named));
        settle_requested(std::span(specs).subspan(named));
        for (const auto name : universe_.kept()) is_kept_[name] = true;
        // What stays as it is goes before what is still to be chosen. What is needed and may move
        // is settled in the order of a new environment.
        for (const bool may_move : {false, true}) {
            settle_level(kept(may_move));
            settle_all();
        }
        std::erase_if(order_,
                      [&](CandidateId id) { return universe_.name_of(id).is_unpublished(); });
        auto not_running = not_running_in(universe_, order_);
        return {std::move(order_), std::move(not_running), std::move(trades_), search_.gave_up()};
    }

private:
    /// By the place of each candidate among those of its name.
    using Places = std::vector<std::uint32_t>;

    void settle_requested(std::span<const SpecId> specs) {
        std::vector<NameId> names;
        for (const auto spec : specs) {
            const auto name = universe_.specs()[spec].name;
            if (!is_settled_[name] && chosen_[name] != kNone &&
                std::ranges::find(names, name) == names.end())
                names.push_back(name);
        }
        std::vector<NameId> others;
        std::vector<NameId> parts;
        for (const auto name : names)
            (universe_.names()[name].is_toolkit_part ? parts : others).push_back(name);
        prefer(names, ranking_.standings);
        if (universe_.names_cuda()) prefer_named_cuda(others);
        const auto newest = newest_of(parts);
        prefer_new_versions(others);
        prefer(others, ranking_.accelerators);
        prefer_toolkit(others);
        prefer_new_versions(parts);
        for (const auto id : newest) note_older_part(id);
        settle_builds(names);
    }

    /// Builds for a CUDA that is requested by name may be older, but nothing else is for them.
    void prefer_named_cuda(const std::vector<NameId>& names) {
        const auto comes_for_it = [&](NameId name) {
            const auto place = [&](CandidateId id) { return ranking_.named_cuda[id]; };
            const auto [first, last] = std::ranges::minmax(live_of(name), {}, place);
            return place(first) != place(last);
        };
        const auto newest =
            newest_together(universe_, open_, search_, goals_, names, solution()).solution;
        for (const auto id : newest) {
            const auto name = universe_.candidates()[id].name;
            if (std::ranges::find(names, name) == names.end() || comes_for_it(name)) continue;
            for (const auto one : live_of(name)) {
                if (ranking_.versions[one] > ranking_.versions[id]) open_.exclude(one);
            }
        }
        adopt(newest);
        prefer(names, ranking_.named_cuda);
    }

    /// Of what is installed, what nothing else brought there counts as asked for. The rest is kept
    /// once that is settled: no package gets an older version for what it did not need itself.
    std::vector<NameId> unneeded_of_installed() const {
        std::vector<bool> is_needed(universe_.names().size());
        for (const auto& candidate : universe_.candidates()) {
            if (!candidate.is_installed) continue;
            for (const auto spec : candidate.depends)
                is_needed[universe_.specs()[spec].name] = true;
        }
        auto names = universe_.kept();
        std::erase_if(names, [&](NameId name) { return is_needed[name]; });
        return names;
    }

    /// All at once where that goes, else those of each half that go with those before.
    void keep_installed(std::span<const NameId> names) {
        if (names.empty()) return;
        auto goals = goals_;
        for (const auto name : names) goals.push_back({live_of(name)});
        if (const auto solution = search_.find_better(open_.live(), goals)) {
            adopt(*solution);
            goals_ = std::move(goals);
        } else if (names.size() > 1) {
            keep_installed(names.first(names.size() / 2));
            keep_installed(names.subspan(names.size() / 2));
        }
    }

    /// Where there is a solution without any of them.
    template <typename IsLast>
    void exclude_where_possible(const IsLast& is_last) {
        auto fewer = open_;
        for (CandidateId id = 0; id < universe_.candidates().size(); ++id) {
            if (fewer.live()[id] && is_last(universe_.candidates()[id])) fewer.exclude(id);
        }
        auto found = solution();
        if (!std::ranges::all_of(found, [&](CandidateId id) { return fewer.live()[id]; })) {
            auto other = search_.find_better(fewer.live(), goals_);
            if (!other) return;
            found = *std::move(other);
        }
        open_ = std::move(fewer);
        adopt(found);
    }

    std::vector<CandidateId> newest_of(const std::vector<NameId>& names) const {
        std::vector<CandidateId> newest;
        newest.reserve(names.size());
        for (const auto name : names)
            newest.push_back(std::ranges::min(
                live_of(name), {}, [&](CandidateId id) { return ranking_.versions[id]; }));
        return newest;
    }

    /// Than it would be if other packages were for another toolkit.
    void note_older_part(CandidateId newest) {
        const auto name = universe_.candidates()[newest].name;
        const auto chosen = chosen_[name];
        if (ranking_.versions[chosen] == ranking_.versions[newest]) return;
        const auto ages = version_ages(universe_, name);
        const auto begin = universe_.names()[name].begin;
        trades_.push_back({name, newest, ages[chosen - begin] - ages[newest - begin]});
    }

    void prefer_new_versions(const std::vector<NameId>& names) {
        if (names.size() > 1) {
            const auto newest =
                newest_together(universe_, open_, search_, goals_, names, solution());
            adopt(newest.solution);
            for (const auto& trade : newest.trades) trades_.push_back(trade);
            for (const auto id : newest.older) open_.exclude(id);
        }
        prefer(names, ranking_.versions);
    }

    /// Nothing but the best of each name by these places that goes with the best of those before.
    void prefer(const std::vector<NameId>& names, const Places& places) {
        for (const auto name : names) {
            while (try_better(name, places)) {
            }
            const auto best = places[chosen_[name]];
            const auto& of = universe_.names()[name];
            for (auto id = of.begin; id < of.end; ++id) {
                if (open_.live()[id] && places[id] != best) open_.exclude(id);
            }
        }
    }

    std::vector<NameId> kept(bool may_move) const {
        const auto& request = universe_.problem().request;
        std::vector<NameId> names;
        std::ranges::copy_if(universe_.kept(), std::back_inserter(names), [&](NameId name) {
            return request.may_move(universe_.names()[name].text) == may_move;
        });
        return names;
    }

    /// Conditional dependencies come after what is needed in any case. That they apply is final:
    /// more packages never make a condition false.
    void settle_all() {
        do {
            while (!queue_.empty()) settle_level(std::exchange(queue_, {}));
            require_applying();
        } while (!queue_.empty());
    }

    /// In the order of settling, then of the candidate's list.
    void require_applying() {
        for (const auto spec : std::exchange(conditional_, {})) {
            if (!holds(universe_.specs()[spec].when)) {
                conditional_.push_back(spec);
                continue;
            }
            ask_extras(spec);
            open_.require(spec);
            queue_.push_back(universe_.specs()[spec].name);
        }
    }

    void ask_extras(SpecId spec) {
        for (const auto extra : universe_.specs()[spec].extras) is_extra_asked_[extra] = true;
    }

    /// Of what is settled.
    bool holds(ConditionId condition) const {
        if (condition == kAlways || condition == kNever) return condition == kAlways;
        const auto& node = universe_.conditions()[condition];
        switch (node.kind) {
        case ConditionNode::Kind::Leaf: {
            const auto& spec = universe_.specs()[node.spec];
            return is_settled_[spec.name] && spec.allows(chosen_[spec.name]);
        }
        case ConditionNode::Kind::Extra: return is_extra_asked_[condition];
        case ConditionNode::Kind::And: return holds(node.left) && holds(node.right);
        case ConditionNode::Kind::Or: return holds(node.left) || holds(node.right);
        }
        return false;
    }

    /// What they need is queued.
    void settle_level(const std::vector<NameId>& level) {
        std::vector<NameId> names;
        for (const auto name : level) {
            if (is_settled_[name] || std::ranges::find(names, name) != names.end() ||
                (chosen_[name] == kNone && !(is_kept_[name] && try_with(live_of(name)))))
                continue;
            names.push_back(name);
            if (is_kept_[name]) goals_.push_back({live_of(name)});
        }
        prefer(names, ranking_.standings);
        prefer(names, ranking_.versions);
        prefer(names, ranking_.accelerators);
        prefer_toolkit(names);
        settle_builds(names);
    }

    /// Of names whose versions are settled.
    void settle_builds(const std::vector<NameId>& names) {
        for (const auto name : names) {
            prefer({name}, ranking_.ranks);
            settle(name);
        }
    }

    /// Of the toolkits that one of these was made for.
    void prefer_toolkit(const std::vector<NameId>& names) {
        for (const auto toolkit : universe_.toolkits()) {
            const auto is_for_it = [&](NameId name) {
                // In conda's order a build decides the toolkit.
                if (!universe_.preferred_accelerator(name)) return false;
                const auto& depends = universe_.candidates()[chosen_[name]].depends;
                return std::ranges::any_of(
                    depends, [&](SpecId spec) { return universe_.specs()[spec].name == toolkit; });
            };
            if (is_settled_[toolkit] || std::ranges::none_of(names, is_for_it)) continue;
            const auto goals = goals_;
            keep_gpu_builds(*universe_.names()[toolkit].toolkit_of);
            prefer({toolkit}, ranking_.ranks);
            goals_ = goals;
            settle(toolkit);
        }
    }

    /// Wants a build for the vendor's GPUs, no older than now, of each name in the solution that
    /// can have one beside those of the names before.
    void keep_gpu_builds(Accelerator vendor) {
        for (const auto name : names_in_solution()) {
            if (is_settled_[name] || chosen_[name] == kNone ||
                universe_.preferred_accelerator(name) != vendor)
                continue;
            auto builds = live_of(name);
            std::erase_if(builds, [&](CandidateId id) {
                return universe_.candidates()[id].accelerator != vendor ||
                       ranking_.versions[id] > ranking_.versions[chosen_[name]];
            });
            const auto is_one = std::ranges::find(builds, chosen_[name]) != builds.end();
            if (is_one || try_with(builds)) goals_.push_back({std::move(builds)});
        }
    }

    /// From the requested ones on, breadth first.
    std::vector<NameId> names_in_solution() const {
        std::vector<NameId> names;
        std::vector<bool> is_seen(chosen_.size());
        const auto add = [&](SpecId spec) {
            const auto name = universe_.specs()[spec].name;
            if (chosen_[name] != kNone && !is_seen[name]) names.push_back(name);
            is_seen[name] = true;
        };
        for (const auto spec : universe_.requested()) add(spec);
        for (std::size_t i = 0; i < names.size(); ++i) {
            for (const auto spec : universe_.candidates()[chosen_[names[i]]].depends) add(spec);
        }
        return names;
    }

    /// In ascending order.
    std::vector<CandidateId> solution() const {
        std::vector<CandidateId> ids;
        std::ranges::copy_if(
            chosen_, std::back_inserter(ids), [](CandidateId id) { return id != kNone; });
        std::ranges::sort(ids);
        return ids;
    }

    void adopt(const std::vector<CandidateId>& solution) {
        std::fill(chosen_.begin(), chosen_.end(), kNone);
        for (const auto id : solution) chosen_[universe_.candidates()[id].name] = id;
    }

    void settle(NameId name) {
        const auto id = chosen_[name];
        is_settled_[name] = true;
        order_.push_back(id);
        goals_.push_back({{id}});
        open_.settle(id);
        const auto& candidate = universe_.candidates()[id];
        for (const auto spec : candidate.depends) {
            ask_extras(spec);
            queue_.push_back(universe_.specs()[spec].name);
        }
        conditional_.insert(
            conditional_.end(), candidate.conditional.begin(), candidate.conditional.end());
    }

    std::vector<CandidateId> live_of(NameId name) const {
        std::vector<CandidateId> live;
        for (auto id = universe_.names()[name].begin; id < universe_.names()[name].end; ++id) {
            if (open_.live()[id]) live.push_back(id);
        }
        return live;
    }

    /// Looks for a solution with a better candidate of the name.
    bool try_better(NameId name, const Places& places) {
        auto better = live_of(name);
        std::erase_if(better, [&](CandidateId id) { return places[id] >= places[chosen_[name]]; });
        return try_with(std::move(better));
    }

    /// False where a goal cannot be met beside it, as far as arc consistency tells: it does of most
    /// that are in no solution, and a search takes far longer.
    bool may_join(CandidateId id) const {
        auto with = open_;
        with.settle(id);
        return has_candidates(goals_, with.live());
    }

    bool try_with(std::vector<CandidateId> any_of) {
        std::erase_if(any_of, [&](CandidateId id) { return !may_join(id); });
        if (any_of.empty()) return false;
        auto goals = goals_;
        goals.push_back({std::move(any_of)});
        const auto solution = search_.find_better(open_.live(), goals);
        if (solution) adopt(*solution);
        return solution.has_value();
    }

    const Universe& universe_;
    Narrowing open_;
    const Ranking& ranking_;
    Search& search_;
    std::vector<Goal> goals_;
    std::vector<CandidateId> chosen_;   ///< by name, in the solution at hand
    std::vector<bool> is_settled_;      ///< by name
    std::vector<bool> is_kept_;         ///< by name: is to stay where it can
    std::vector<bool> is_extra_asked_;  ///< by condition
    std::vector<SpecId> conditional_;   ///< of settled candidates, that do not apply so far
    std::vector<NameId> queue_;
    std::vector<CandidateId> order_;
    std::vector<Trade> trades_;
};

}  // namespace

Selected improve(const Universe& universe,
                 Narrowing open,
                 const Ranking& ranking,
                 Search& search,
                 std::vector<Goal> goals,
                 const std::vector<CandidateId>& first) {
    return Settling(universe, std::move(open), ranking, search, std::move(goals)).run(first);
}

}  // namespace gpkg::solver
