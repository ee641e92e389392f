#include "solver/improve.hpp"

#include <algorithm>
#include <deque>
#include <optional>

namespace gpkg::solver {
namespace {

class Settling {
public:
    Settling(const Universe& universe,
             const Live& live,
             const std::vector<std::uint32_t>& ranks,
             Engine& engine,
             std::vector<Goal> goals)
        : universe_(universe),
          live_(live),
          ranks_(ranks),
          engine_(engine),
          goals_(std::move(goals)) {
        chosen_.resize(universe.names().size(), kNone);
        settled_.resize(universe.names().size(), kNone);
        allowed_by_.resize(universe.names().size());
    }

    std::vector<CandidateId> run(const std::vector<CandidateId>& first) {
        adopt(first);
        for (const auto spec : universe_.requested()) meet(spec);
        for (const auto spec : universe_.constraints())
            allowed_by_[universe_.specs()[spec].name].push_back(spec);
        for (const auto name : universe_.kept()) queue_.push_back(name);
        while (!queue_.empty()) {
            const auto name = queue_.front();
            queue_.pop_front();
            if (settled_[name] != kNone || chosen_[name] == kNone) continue;
            while (const auto better = better_candidates(name)) {
                auto goals = goals_;
                goals.push_back({*better, false});
                const auto solution = engine_.solve(goals);
                if (!solution) break;
                adopt(*solution);
            }
            settle(name);
        }
        return order_;
    }

private:
    void adopt(const std::vector<CandidateId>& solution) {
        std::fill(chosen_.begin(), chosen_.end(), kNone);
        for (const auto id : solution) chosen_[universe_.candidates()[id].name] = id;
    }

    void meet(SpecId spec) {
        const auto name = universe_.specs()[spec].name;
        allowed_by_[name].push_back(spec);
        queue_.push_back(name);
    }

    void settle(NameId name) {
        const auto id = chosen_[name];
        settled_[name] = id;
        order_.push_back(id);
        goals_.push_back({{id}, false});
        for (const auto spec : universe_.candidates()[id].depends) meet(spec);
        for (const auto spec : universe_.candidates()[id].constrains)
            allowed_by_[universe_.specs()[spec].name].push_back(spec);
    }

    /// Candidates above the chosen one that nothing settled rules out at first sight.
    std::optional<std::vector<CandidateId>> better_candidates(NameId name) const {
        std::vector<CandidateId> better;
        for (auto id = universe_.names()[name].begin; id < universe_.names()[name].end; ++id) {
            if (live_[id] && ranks_[id] < ranks_[chosen_[name]] && is_open(name, id))
                better.push_back(id);
        }
        if (better.empty()) return std::nullopt;
        return better;
    }

    bool is_open(NameId name, CandidateId id) const {
        const auto& specs = universe_.specs();
        const auto agrees = [&](SpecId spec) {
            const auto other = settled_[specs[spec].name];
            return other == kNone || specs[spec].allows(other);
        };
        const auto& candidate = universe_.candidates()[id];
        return std::all_of(allowed_by_[name].begin(),
                           allowed_by_[name].end(),
                           [&](SpecId spec) { return specs[spec].allows(id); }) &&
               std::all_of(candidate.depends.begin(), candidate.depends.end(), agrees) &&
               std::all_of(candidate.constrains.begin(), candidate.constrains.end(), agrees);
    }

    const Universe& universe_;
    const Live& live_;
    const std::vector<std::uint32_t>& ranks_;
    Engine& engine_;
    std::vector<Goal> goals_;
    std::vector<CandidateId> chosen_;              ///< by name, in the solution at hand
    std::vector<CandidateId> settled_;             ///< by name
    std::vector<std::vector<SpecId>> allowed_by_;  ///< by name: specs of the settled on it
    std::deque<NameId> queue_;
    std::vector<CandidateId> order_;
};

}  // namespace

std::vector<CandidateId> improve(const Universe& universe,
                                 const Live& live,
                                 const std::vector<std::uint32_t>& ranks,
                                 Engine& engine,
                                 const std::vector<Goal>& goals,
                                 const std::vector<CandidateId>& first) {
    return Settling(universe, live, ranks, engine, goals).run(first);
}

}  // namespace gpkg::solver
