#include "solver/search.hpp"

#include "solver/preference.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace gpkg::solver {
namespace {

/// The versions of a name in the first attempt, and the factor for the next.
constexpr std::size_t kFirstBreadth = 3;
constexpr std::size_t kWiden = 4;
/// How often more is looked at where too few were. After that everything is: of a world in which an
/// answer is only just missing libsolv takes the longest to say so.
constexpr int kMostWidened = 2;

/// Of the conflicts that are allowed, the part that one question for a better answer may meet, and
/// how many it may meet even where none are left: most such questions meet less.
constexpr std::uint64_t kShares = 10;
constexpr std::uint64_t kLeastConflicts = 200;

}  // namespace

/// The candidates for one question: of each goal, and of each dependency that the goals reach,
/// those of the best versions.
class Search::Attempt {
public:
    Attempt(Search& search, const Live& live, const std::vector<Goal>& goals)
        : search_(search),
          universe_(search.universe_),
          live_(live),
          goals_(goals),
          goal_breadth_(goals.size(), {kFirstBreadth}),
          spec_breadth_(universe_.specs().size(), {kFirstBreadth}) {}

    Live members() {
        Live near(universe_, false);
        std::vector<CandidateId> queue;
        for (std::size_t i = 0; i < goals_.size(); ++i) {
            auto sorted = goals_[i].any_of;
            search_.sort(sorted);
            take_best(sorted, goal_breadth_[i], near, queue);
        }
        // Virtual packages are not chosen.
        for (const auto& name : universe_.names()) {
            for (auto id = name.begin; name.is_virtual && id < name.end; ++id) {
                if (live_[id]) near.add(id);
            }
        }
        std::vector<bool> seen(universe_.specs().size());
        while (!queue.empty()) {
            const auto id = queue.back();
            queue.pop_back();
            const auto take = [&](SpecId spec) {
                if (seen[spec]) return;
                seen[spec] = true;
                if (!universe_.name_of(universe_.specs()[spec]).is_virtual)
                    take_best(search_.best_first(spec), spec_breadth_[spec], near, queue);
            };
            for (const auto spec : universe_.candidates()[id].depends) take(spec);
            for (const auto spec : universe_.candidates()[id].conditional) take(spec);
        }
        return near;
    }

    /// Adds candidates if there are more that may resolve the conflict; else false.
    bool widen(const Conflict& conflict) {
        bool is_wider = false;
        const auto grow = [&](Breadth& breadth) {
            if (!std::exchange(breadth.is_cut, false)) return;
            breadth.versions *= kWiden;
            is_wider = true;
        };
        for (const auto goal : conflict.goals) grow(goal_breadth_[goal]);
        for (const auto& [id, spec] : conflict.asks) grow(spec_breadth_[spec]);
        if (is_wider && ++widened_ > kMostWidened) look_at_all();
        return is_wider;
    }

    /// Whether there are more candidates than are looked at.
    bool is_cut() const {
        return std::ranges::any_of(goal_breadth_, &Breadth::is_cut) ||
               std::ranges::any_of(spec_breadth_, &Breadth::is_cut);
    }

    void look_at_all() {
        for (auto& breadth : goal_breadth_) breadth.versions = kAll;
        for (auto& breadth : spec_breadth_) breadth.versions = kAll;
    }

private:
    static constexpr auto kAll = std::numeric_limits<std::size_t>::max();

    struct Breadth {
        std::size_t versions;
        bool is_cut = false;  ///< there are more
    };

    void take_best(const std::vector<CandidateId>& sorted,
                   Breadth& breadth,
                   Live& near,
                   std::vector<CandidateId>& queue) const {
        std::size_t versions = 0;
        auto last = kNone;
        breadth.is_cut = false;
        for (const auto id : sorted) {
            if (!live_[id]) continue;
            const auto version = universe_.candidates()[id].version;
            if (version != std::exchange(last, version) && versions++ == breadth.versions) {
                breadth.is_cut = true;
                return;
            }
            if (near[id]) continue;
            near.add(id);
            queue.push_back(id);
        }
    }

    Search& search_;
    const Universe& universe_;
    const Live& live_;
    const std::vector<Goal>& goals_;
    int widened_ = 0;
    std::vector<Breadth> goal_breadth_;
    std::vector<Breadth> spec_breadth_;
};

Search::Search(const Universe& universe,
               const std::vector<std::uint32_t>& ranks,
               const Effort& effort)
    : universe_(universe), ranks_(ranks), best_first_(universe.specs().size()), effort_(effort) {}

std::optional<std::vector<CandidateId>> Search::find(const Live& live,
                                                     const std::vector<Goal>& goals) {
    return find(live, goals, effort_);
}

std::optional<std::vector<CandidateId>> Search::find_better(const Live& live,
                                                            const std::vector<Goal>& goals) {
    auto part = effort_;
    part.conflicts =
        std::max(std::min(effort_.conflicts, universe_.problem().limits.conflicts / kShares),
                 kLeastConflicts);
    const auto before = part.conflicts;
    std::optional<std::vector<CandidateId>> found;
    try {
        found = find(live, goals, part);
    } catch (const GaveUp&) {
        gave_up_ = true;
        conflict_ = {};
    }
    effort_.conflicts -= std::min(effort_.conflicts, before - part.conflicts);
    return found;
}

std::optional<std::vector<CandidateId>> Search::find(const Live& live,
                                                     const std::vector<Goal>& goals,
                                                     Effort& effort) {
    Attempt attempt(*this, live, goals);
    while (true) {
        const auto members = attempt.members();
        Engine engine(universe_, members, ranks_);
        // Few candidates can be harder than all: half of the conflicts are kept for these.
        auto part = effort;
        if (attempt.is_cut()) part.conflicts /= 2;
        const auto before = part.conflicts;
        const auto spend = [&] { effort.conflicts -= before - part.conflicts; };
        try {
            auto found = engine.solve(goals, part);
            spend();
            if (found) return found;
            if (attempt.widen(engine.conflict())) continue;
            conflict_ = engine.conflict();
            return std::nullopt;
        } catch (const GaveUp&) {
            spend();
            if (!attempt.is_cut() || effort.is_late()) throw;
            attempt.look_at_all();
        }
    }
}

void Search::sort(std::vector<CandidateId>& ids) const {
    std::sort(ids.begin(), ids.end(), [&](auto a, auto b) { return ranks_[a] < ranks_[b]; });
}

const std::vector<CandidateId>& Search::best_first(SpecId spec) {
    auto& sorted = best_first_[spec];
    if (!sorted) {
        sorted = universe_.specs()[spec].matches;
        sort(*sorted);
    }
    return *sorted;
}

bool has_candidates(const std::vector<Goal>& goals, const Live& live) {
    const auto is_live = [&](CandidateId id) { return live[id]; };
    return std::ranges::all_of(
        goals, [&](const Goal& goal) { return std::ranges::any_of(goal.any_of, is_live); });
}

std::vector<Goal> goals_of(const Universe& universe, const std::vector<SpecId>& requested) {
    std::vector<Goal> goals;
    for (const auto id : requested) {
        const auto& spec = universe.specs()[id];
        if (!universe.name_of(spec).is_virtual) goals.push_back({spec.matches, spec.extras});
    }
    return goals;
}

bool is_ruled_out(const Universe& universe) {
    const auto open = restricted(universe, universe.requested(), universe.constraints());
    return !has_candidates(universe, universe.requested(), open.live());
}

bool has_solution(const Universe& universe,
                  const std::vector<SpecId>& requested,
                  const std::vector<SpecId>& constraints,
                  const Effort& effort) {
    const auto ranks = ranks_by_channel(universe);
    const auto open = reduce(universe, requested, constraints, ranks);
    return open && Search(universe, ranks, effort)
                       .find(open->live(), goals_of(universe, requested))
                       .has_value();
}

}  // namespace gpkg::solver
