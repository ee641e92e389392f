#include "solver/newest_together.hpp"

#include "solver/version_dates.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

namespace gpkg::solver {
namespace {

/// One question to the solver for so many conflicts that a solve may meet: 400 by default. Requests
/// that are made of conflicts alone mostly take less than ten. Where so many do not do, the best
/// solution that was met is taken.
constexpr std::uint64_t kConflictsPerQuestion = 125;

/// For each name how old it may be, as a place among the ages of its versions.
using Bounds = std::vector<std::size_t>;
/// Bounds of some names, by their places, within which there is no solution.
using Conflicting = std::map<std::size_t, std::size_t>;

struct Member {
    NameId name = kNone;
    std::vector<std::int64_t> ages;                ///< ascending
    std::vector<std::vector<CandidateId>> by_age;  ///< the live candidates of each age
};

/// A best-first search over bounds. Bounds without a solution lead to a conflict of few names, each
/// with the greatest bound that leaves it one. Every solution exceeds one of these, which gives the
/// next bounds to look at.
class BestFirst {
public:
    BestFirst(const Universe& universe,
              const Narrowing& open,
              Search& search,
              const std::vector<Goal>& goals,
              const std::vector<NameId>& names,
              const std::vector<CandidateId>& first)
        : open_(open),
          search_(search),
          goals_(goals),
          most_questions_(universe.problem().limits.conflicts / kConflictsPerQuestion) {
        for (const auto name : names) add_member(universe, name);
        keep_if_better(first);
    }

    NewestTogether run() && {
        std::set<Key> open{key_of(Bounds(members_.size()))};
        while (!open.empty()) {
            if (questions_ >= most_questions_) {
                search_.give_up();
                break;
            }
            const auto bounds = open.extract(open.begin()).value().second;
            if (!(key_of(bounds) < key_of(best_))) break;
            const auto* conflict = find_conflict(bounds);
            if (conflict == nullptr) break;  // there is a solution, which is the best now
            for (const auto& [place, bound] : *conflict) {
                auto next = bounds;
                next[place] = bound + 1;
                if (next[place] < members_[place].ages.size()) open.insert(key_of(next));
            }
        }
        NewestTogether newest{std::move(solution_), {}, {}};
        for (std::size_t i = 0; i < members_.size(); ++i) {
            const auto& member = members_[i];
            const auto alone = least_alone(i);
            for (auto age = best_[i] + 1; age < member.by_age.size(); ++age)
                newest.older.insert(
                    newest.older.end(), member.by_age[age].begin(), member.by_age[age].end());
            if (alone < best_[i])
                newest.trades.push_back({member.name,
                                         member.by_age[alone].front(),
                                         member.ages[best_[i]] - member.ages[alone]});
        }
        return newest;
    }

private:
    /// The order of the search: the least sum of ages, then the least bounds of the first names.
    using Key = std::pair<std::int64_t, Bounds>;

    Key key_of(const Bounds& bounds) const {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < bounds.size(); ++i) sum += members_[i].ages[bounds[i]];
        return {sum, bounds};
    }

    /// The bound that a member could keep to if it were the only one.
    std::size_t least_alone(std::size_t place) const {
        std::size_t least = 0;
        for (const auto& conflict : conflicts_) {
            if (conflict.size() == 1 && conflict.begin()->first == place)
                least = std::max(least, conflict.begin()->second + 1);
        }
        return least;
    }

    void add_member(const Universe& universe, NameId id) {
        const auto& name = universe.names()[id];
        const auto ages = version_ages(universe, id);
        std::map<std::int64_t, std::vector<CandidateId>> by_age;
        for (auto one = name.begin; one < name.end; ++one) {
            if (open_.live()[one]) by_age[ages[one - name.begin]].push_back(one);
        }
        auto& member = members_.emplace_back();
        member.name = id;
        for (auto& [age, ids] : by_age) {
            member.ages.push_back(age);
            member.by_age.push_back(std::move(ids));
        }
    }

    Bounds bounds_of(const std::vector<CandidateId>& solution) const {
        const auto is_chosen = [&](CandidateId id) {
            return std::binary_search(solution.begin(), solution.end(), id);
        };
        const auto is_age_of_it = [&](const std::vector<CandidateId>& ids) {
            return std::any_of(ids.begin(), ids.end(), is_chosen);
        };
        Bounds bounds;
        for (const auto& member : members_) {
            const auto found = std::ranges::find_if(member.by_age, is_age_of_it);
            bounds.push_back(static_cast<std::size_t>(found - member.by_age.begin()));
        }
        return bounds;
    }

    void keep_if_better(const std::vector<CandidateId>& solution) {
        const auto& bounds = met_.emplace_back(bounds_of(solution));
        if (!solution_.empty() && !(key_of(bounds) < key_of(best_))) return;
        best_ = bounds;
        solution_ = solution;
    }

    bool is_met(const Conflicting& bounds) const {
        return std::ranges::any_of(met_, [&](const Bounds& solution) {
            return std::ranges::all_of(
                bounds, [&](const auto& one) { return solution[one.first] <= one.second; });
        });
    }

    /// A known solution answers most questions, or the removal of candidates that are too old.
    bool has_solution(const Conflicting& bounds) {
        is_blamed_ = false;
        return is_met(bounds) || (!is_ruled_out(bounds) && find_within(bounds));
    }

    bool is_ruled_out(const Conflicting& bounds) const {
        auto within = open_;
        for (const auto& [place, bound] : bounds) {
            const auto& by_age = members_[place].by_age;
            for (auto age = bound + 1; age < by_age.size(); ++age) {
                for (const auto id : by_age[age]) within.exclude(id);
            }
        }
        return !has_candidates(goals_, within.live());
    }

    bool find_within(const Conflicting& bounds) {
        ++questions_;
        auto goals = goals_;
        for (const auto& [place, bound] : bounds) {
            auto& any_of = goals.emplace_back().any_of;
            for (std::size_t i = 0; i <= bound; ++i) {
                const auto& ids = members_[place].by_age[i];
                any_of.insert(any_of.end(), ids.begin(), ids.end());
            }
        }
        const auto solution = search_.find_better(open_.live(), goals);
        if (solution) keep_if_better(*solution);
        is_blamed_ = !solution;
        return solution.has_value();
    }

    /// Of bounds that were just found to have no solution, those that libsolv says it is for, if it
    /// was asked.
    Conflicting blamed(const Conflicting& bounds) const {
        if (!is_blamed_) return bounds;
        std::set<std::size_t> goals(search_.conflict().goals.begin(),
                                    search_.conflict().goals.end());
        Conflicting some;
        auto goal = goals_.size();
        for (const auto& bound : bounds) {
            if (goals.contains(goal++)) some.insert(bound);
        }
        return some.empty() ? bounds : some;
    }

    /// Null where the bounds have a solution.
    const Conflicting* find_conflict(const Bounds& bounds) {
        const auto excludes = [&](const Conflicting& conflict) {
            return std::all_of(conflict.begin(), conflict.end(), [&](const auto& one) {
                return bounds[one.first] <= one.second;
            });
        };
        const auto known = std::find_if(conflicts_.begin(), conflicts_.end(), excludes);
        if (known != conflicts_.end()) return &*known;
        Conflicting all;
        for (std::size_t i = 0; i < bounds.size(); ++i) all.emplace(i, bounds[i]);
        if (has_solution(all)) return nullptr;
        auto conflict = without_needless(blamed(all));
        for (auto& [place, bound] : conflict) bound = greatest_bound(conflict, place);
        return &conflicts_.emplace_back(std::move(conflict));
    }

    Conflicting without_needless(Conflicting conflict) {
        auto to_try = conflict;
        while (!to_try.empty() && conflict.size() > 1) {
            auto fewer = conflict;
            fewer.erase(to_try.begin()->first);
            to_try.erase(to_try.begin());
            if (has_solution(fewer)) continue;
            conflict = blamed(fewer);
            std::erase_if(to_try, [&](const auto& one) { return !conflict.contains(one.first); });
        }
        return conflict;
    }

    /// The greatest bound of a member with which the others still have no solution, as far as one
    /// could be better than the best so far. Of solutions that were met the best is mostly the best
    /// there is.
    std::size_t greatest_bound(Conflicting conflict, std::size_t place) {
        Bounds all(members_.size());
        for (const auto& [one, bound] : conflict) all[one] = bound;
        auto& bound = conflict[place];
        auto without = bound;  // a solution
        const auto is_useless = [&] {
            all[place] = bound;
            return bound == members_[place].ages.size() || !(key_of(all) < key_of(best_)) ||
                   is_met(conflict);
        };
        for (++bound; !is_useless();) ++bound;
        auto with = bound;  // one, or one that would be of no use
        for (bound = with - 1; without < bound; bound = (without + with) / 2)
            (has_solution(conflict) ? with : without) = bound;
        return without;
    }

    const Narrowing& open_;
    Search& search_;
    const std::vector<Goal>& goals_;
    std::vector<Member> members_{};
    std::deque<Conflicting> conflicts_{};
    std::vector<Bounds> met_{};  ///< of all solutions
    Bounds best_{};
    std::vector<CandidateId> solution_{};
    std::uint64_t most_questions_;
    std::uint64_t questions_ = 0;
    bool is_blamed_ = false;  ///< by libsolv, for the last question
};

}  // namespace

NewestTogether newest_together(const Universe& universe,
                               const Narrowing& open,
                               Search& search,
                               const std::vector<Goal>& goals,
                               const std::vector<NameId>& names,
                               const std::vector<CandidateId>& first) {
    return BestFirst(universe, open, search, goals, names, first).run();
}

}  // namespace gpkg::solver
