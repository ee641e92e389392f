#include "solver/reductions.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace gpkg::solver {
namespace {

/// Counts, for every spec, how many of its matches live, and takes candidates out as counts reach
/// zero.
class Propagation {
public:
    Propagation(const Universe& universe, Consistency& state) : state_(state) {
        const auto& specs = universe.specs();
        matches_left_.resize(specs.size());
        users_.resize(specs.size());
        matched_by_.resize(universe.candidates().size());
        for (SpecId spec = 0; spec < specs.size(); ++spec) {
            matches_left_[spec] = specs[spec].matches.size();
            for (const auto id : specs[spec].matches) matched_by_[id].push_back(spec);
        }
        for (CandidateId id = 0; id < universe.candidates().size(); ++id) {
            for (const auto spec : universe.candidates()[id].depends) users_[spec].push_back(id);
        }
    }

    void kill(CandidateId id, SpecId because) {
        if (!state_.live[id]) return;
        state_.live.remove(id);
        state_.deaths[id].spec = because;
        dead_.push_back(id);
    }

    void run() {
        for (SpecId spec = 0; spec < matches_left_.size(); ++spec) {
            if (matches_left_[spec] == 0) kill_users(spec);
        }
        while (!dead_.empty()) {
            const auto id = dead_.back();
            dead_.pop_back();
            for (const auto spec : matched_by_[id]) {
                if (--matches_left_[spec] == 0) kill_users(spec);
            }
        }
    }

private:
    void kill_users(SpecId spec) {
        for (const auto user : users_[spec]) kill(user, spec);
    }

    Consistency& state_;
    std::vector<std::size_t> matches_left_;
    std::vector<std::vector<CandidateId>> users_;  ///< of each spec: who depends on it
    std::vector<std::vector<SpecId>> matched_by_;
    std::vector<CandidateId> dead_;
};

}  // namespace

Consistency make_consistent(const Universe& universe,
                            const std::vector<SpecId>& required,
                            const std::vector<CandidateId>& excluded) {
    Consistency state{Live(universe), std::vector<Death>(universe.candidates().size())};
    Propagation propagation(universe, state);
    const auto& specs = universe.specs();

    for (const auto id : excluded) propagation.kill(id, kNone);
    for (const auto spec : required) {
        const auto& name = universe.name_of(specs[spec]);
        for (auto id = name.begin; id < name.end; ++id) {
            if (!specs[spec].allows(id)) propagation.kill(id, spec);
        }
    }
    for (CandidateId id = 0; id < universe.candidates().size(); ++id) {
        for (const auto spec : universe.candidates()[id].constrains) {
            const auto& name = universe.name_of(specs[spec]);
            const bool unfit =
                name.is_virtual && name.begin != name.end && specs[spec].matches.empty();
            const bool excludes_itself =
                specs[spec].name == universe.candidates()[id].name && !specs[spec].allows(id);
            if (unfit || excludes_itself) propagation.kill(id, spec);
        }
    }
    propagation.run();
    return state;
}

void remove_dominated(const Universe& universe,
                      const std::vector<std::uint32_t>& ranks,
                      Live& live) {
    const auto& candidates = universe.candidates();
    const auto& specs = universe.specs();

    // Which specs that still matter match a candidate: those of live candidates and of the request.
    std::vector<bool> matters(specs.size());
    for (const auto spec : universe.requested()) matters[spec] = true;
    for (const auto spec : universe.constraints()) matters[spec] = true;
    for (CandidateId id = 0; id < candidates.size(); ++id) {
        if (!live[id]) continue;
        for (const auto spec : candidates[id].depends) matters[spec] = true;
        for (const auto spec : candidates[id].constrains) matters[spec] = true;
    }
    std::vector<std::vector<SpecId>> matched_by(candidates.size());
    for (SpecId spec = 0; spec < specs.size(); ++spec) {
        if (!matters[spec]) continue;
        for (const auto id : specs[spec].matches) {
            if (live[id]) matched_by[id].push_back(spec);
        }
    }

    using Key = std::tuple<std::vector<SpecId>, std::vector<SpecId>, std::vector<SpecId>>;
    const auto sorted = [](std::span<const SpecId> specs_of) {
        std::vector<SpecId> list(specs_of.begin(), specs_of.end());
        std::sort(list.begin(), list.end());
        return list;
    };
    for (const auto& name : universe.names()) {
        std::map<Key, CandidateId> best;
        for (auto id = name.begin; id < name.end; ++id) {
            if (!live[id]) continue;
            Key key{
                sorted(candidates[id].depends), sorted(candidates[id].constrains), matched_by[id]};
            auto [entry, added] = best.try_emplace(std::move(key), id);
            if (added) continue;
            const auto worse =
                ranks[id] < ranks[entry->second] ? std::exchange(entry->second, id) : id;
            live.remove(worse);
        }
    }
}

}  // namespace gpkg::solver
