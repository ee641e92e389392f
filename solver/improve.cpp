#include "solver/improve.hpp"

#include "solver/facts.hpp"

#include <algorithm>
#include <deque>
#include <iterator>

namespace gpkg::solver {
namespace {

class Settling {
public:
    Settling(const Universe& universe,
             Narrowing open,
             const std::vector<std::uint32_t>& ranks,
             Search& search,
             std::vector<Goal> goals)
        : universe_(universe),
          open_(std::move(open)),
          ranks_(ranks),
          search_(search),
          goals_(std::move(goals)),
          facts_(universe),
          chosen_(universe.names().size(), kNone),
          is_settled_(universe.names().size()),
          is_kept_(universe.names().size()) {}

    std::vector<CandidateId> run(const std::vector<CandidateId>& first) {
        adopt(first);
        for (const auto spec : universe_.requested())
            queue_.push_back(universe_.specs()[spec].name);
        for (const auto name : universe_.kept()) is_kept_[name] = true;
        // What stays as it is goes before what is still to be chosen. What is needed and may move
        // is settled in the order of a new environment.
        for (const bool may_move : {false, true}) {
            queue_kept(may_move);
            settle_all();
        }
        return order_;
    }

private:
    void queue_kept(bool may_move) {
        const auto& request = universe_.problem().request;
        std::ranges::copy_if(universe_.kept(), std::back_inserter(queue_), [&](NameId name) {
            return request.may_move(universe_.names()[name].text) == may_move;
        });
    }

    /// Conditional dependencies come after what is needed in any case. That they apply is final:
    /// more packages never make a condition false.
    void settle_all() {
        do {
            settle_queued();
            for (const auto spec : facts_.newly_applying()) {
                open_.restrict_to(spec);
                queue_.push_back(universe_.specs()[spec].name);
            }
        } while (!queue_.empty());
    }

    void settle_queued() {
        while (!queue_.empty()) {
            const auto name = queue_.front();
            queue_.pop_front();
            if (is_settled_[name] || (chosen_[name] == kNone && !try_keeping(name))) continue;
            while (try_better(name)) {
            }
            settle(name);
        }
    }

    void adopt(const std::vector<CandidateId>& solution) {
        std::fill(chosen_.begin(), chosen_.end(), kNone);
        for (const auto id : solution) chosen_[universe_.candidates()[id].name] = id;
    }

    void settle(NameId name) {
        const auto id = chosen_[name];
        is_settled_[name] = true;
        order_.push_back(id);
        facts_.settle(id);
        goals_.push_back({{id}, false});
        open_.settle(id);
        for (const auto spec : universe_.candidates()[id].depends)
            queue_.push_back(universe_.specs()[spec].name);
    }

    /// Looks for a solution with an installed name that the one at hand has not.
    bool try_keeping(NameId name) {
        if (!is_kept_[name]) return false;
        std::vector<CandidateId> any;
        for (auto id = universe_.names()[name].begin; id < universe_.names()[name].end; ++id) {
            if (open_.live()[id]) any.push_back(id);
        }
        return try_with(std::move(any), open_.live());
    }

    /// Looks for a solution with a better candidate of the name. Few are left to look at: what is
    /// settled rules most out.
    bool try_better(NameId name) {
        std::vector<CandidateId> better;
        std::vector<CandidateId> others;
        for (auto id = universe_.names()[name].begin; id < universe_.names()[name].end; ++id) {
            if (open_.live()[id])
                (ranks_[id] < ranks_[chosen_[name]] ? better : others).push_back(id);
        }
        if (better.empty()) return false;
        auto only_better = open_;
        for (const auto id : others) only_better.exclude(id);
        return try_with(std::move(better), only_better.live());
    }

    bool try_with(std::vector<CandidateId> any_of, const Live& live) {
        if (any_of.empty()) return false;
        auto goals = goals_;
        goals.push_back({std::move(any_of), false});
        const auto solution = search_.find_better(live, goals);
        if (solution) adopt(*solution);
        return solution.has_value();
    }

    const Universe& universe_;
    Narrowing open_;
    const std::vector<std::uint32_t>& ranks_;
    Search& search_;
    std::vector<Goal> goals_;
    Facts facts_;
    std::vector<CandidateId> chosen_;  ///< by name, in the solution at hand
    std::vector<bool> is_settled_;     ///< by name
    std::vector<bool> is_kept_;        ///< by name: is to stay where it can
    std::deque<NameId> queue_;
    std::vector<CandidateId> order_;
};

}  // namespace

std::vector<CandidateId> improve(const Universe& universe,
                                 Narrowing open,
                                 const std::vector<std::uint32_t>& ranks,
                                 Search& search,
                                 std::vector<Goal> goals,
                                 const std::vector<CandidateId>& first) {
    return Settling(universe, std::move(open), ranks, search, std::move(goals)).run(first);
}

}  // namespace gpkg::solver
