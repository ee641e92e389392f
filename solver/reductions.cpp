#include "solver/reductions.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace gpkg::solver {
namespace {

/// Lists of numbers, one per key, in one block of memory.
class Table {
public:
    /// `each` calls its argument with every (key, value), the same both times it is called.
    template <typename Each>
    Table(std::size_t keys, const Each& each) : begins_(keys + 1) {
        each([&](std::size_t key, std::uint32_t) { ++begins_[key + 1]; });
        std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
        values_.resize(begins_.back());
        auto next = begins_;
        each([&](std::size_t key, std::uint32_t value) { values_[next[key]++] = value; });
    }
    std::span<const std::uint32_t> operator[](std::size_t key) const {
        return std::span(values_).subspan(begins_[key], begins_[key + 1] - begins_[key]);
    }

private:
    std::vector<std::size_t> begins_;
    std::vector<std::uint32_t> values_;
};

template <std::span<const SpecId> Candidate::*kList>
Table users_of(const Universe& universe) {
    return Table(universe.specs().size(), [&](const auto& take) {
        for (CandidateId id = 0; id < universe.candidates().size(); ++id) {
            for (const auto spec : universe.candidates()[id].*kList) take(spec, id);
        }
    });
}

/// Of `counts` specs only.
template <typename Counts>
Table matched_by(const Universe& universe, const Counts& counts) {
    return Table(universe.candidates().size(), [&](const auto& take) {
        for (SpecId spec = 0; spec < universe.specs().size(); ++spec) {
            if (!counts(spec)) continue;
            for (const auto id : universe.specs()[spec].matches) take(id, spec);
        }
    });
}

}  // namespace

struct Narrowing::Relations {
    Table dependents;    ///< by spec
    Table constrainers;  ///< by spec
    Table matched_by;    ///< by candidate

    explicit Relations(const Universe& universe)
        : dependents(users_of<&Candidate::depends>(universe)),
          constrainers(users_of<&Candidate::constrains>(universe)),
          matched_by(solver::matched_by(universe, [](SpecId) { return true; })) {}
};

Narrowing::Narrowing(const Universe& universe)
    : universe_(&universe),
      relations_(std::make_shared<const Relations>(universe)),
      live_(universe),
      is_needed_(universe.names().size()) {
    const auto& specs = universe.specs();
    for (const auto& spec : specs)
        matches_left_.push_back(static_cast<std::uint32_t>(spec.matches.size()));
    for (SpecId id = 0; id < specs.size(); ++id) {
        if (specs[id].matches.empty()) {
            for (const auto user : relations_->dependents[id]) kill(user);
        }
        for (const auto user : relations_->constrainers[id]) {
            const bool is_itself = specs[id].name == universe.candidates()[user].name;
            if (is_itself && !specs[id].allows(user)) kill(user);
        }
    }
    for (NameId id = 0; id < universe.names().size(); ++id) {
        const auto& name = universe.names()[id];
        if (name.is_virtual && name.begin != name.end) need(id);
    }
    spread();
}

void Narrowing::kill(CandidateId id) {
    if (!live_[id]) return;
    live_.remove(id);
    dead_.push_back(id);
}

void Narrowing::spread() {
    while (!dead_.empty()) {
        const auto id = dead_.back();
        dead_.pop_back();
        for (const auto spec : relations_->matched_by[id]) {
            if (--matches_left_[spec] > 0) continue;
            for (const auto user : relations_->dependents[spec]) kill(user);
            if (is_needed_[universe_->specs()[spec].name]) kill_constrainers(spec);
        }
    }
}

void Narrowing::kill_constrainers(SpecId spec) {
    for (const auto user : relations_->constrainers[spec]) kill(user);
}

void Narrowing::need(NameId name) {
    if (is_needed_[name]) return;
    is_needed_[name] = true;
    for (const auto spec : universe_->names()[name].specs) {
        if (matches_left_[spec] == 0) kill_constrainers(spec);
    }
    spread();
}

void Narrowing::exclude(CandidateId id) {
    kill(id);
    spread();
}

void Narrowing::require(SpecId spec) {
    restrict_to(spec);
    need(universe_->specs()[spec].name);
}

void Narrowing::restrict_to(SpecId spec) {
    const auto& name = universe_->name_of(universe_->specs()[spec]);
    for (auto id = name.begin; id < name.end; ++id) {
        if (live_[id] && !universe_->specs()[spec].allows(id)) kill(id);
    }
    spread();
}

void Narrowing::settle(CandidateId id) {
    const auto& candidate = universe_->candidates()[id];
    const auto& name = universe_->names()[candidate.name];
    for (auto rival = name.begin; rival < name.end; ++rival) {
        if (rival != id) kill(rival);
    }
    for (const auto spec : candidate.depends) require(spec);
    for (const auto spec : candidate.constrains) restrict_to(spec);
    need(candidate.name);
}

std::vector<CandidateId> worse_twins(const Universe& universe,
                                     const std::vector<std::uint32_t>& ranks,
                                     const std::vector<SpecId>& request,
                                     const Live& live,
                                     const std::function<bool(NameId, SpecId)>& counts) {
    const auto& candidates = universe.candidates();
    const auto for_each = [&](CandidateId id, std::span<const SpecId> list, const auto& take) {
        for (const auto spec : list) {
            if (!counts || counts(candidates[id].name, spec)) take(spec);
        }
    };

    // Which specs that still matter match a candidate: those of live candidates and of the request.
    std::vector<bool> matters(universe.specs().size());
    for (const auto spec : request) matters[spec] = true;
    const auto let_matter = [&](SpecId spec) { matters[spec] = true; };
    for (CandidateId id = 0; id < candidates.size(); ++id) {
        if (!live[id]) continue;
        for_each(id, candidates[id].depends, let_matter);
        for_each(id, candidates[id].constrains, let_matter);
        for_each(id, candidates[id].conditional, [&](SpecId spec) {
            matters[spec] = true;
            for (const auto leaf : universe.leaves(universe.specs()[spec].when))
                matters[leaf] = true;
        });
    }
    const auto matched = matched_by(universe, [&](SpecId spec) { return matters[spec]; });

    const auto sorted = [&](CandidateId id, std::span<const SpecId> list) {
        std::vector<SpecId> copy;
        for_each(id, list, [&](SpecId spec) { copy.push_back(spec); });
        std::sort(copy.begin(), copy.end());
        return copy;
    };
    // Lists are mostly the same memory; else they may say the same in another order.
    const auto alike = [&](CandidateId one, CandidateId two, auto list) {
        const auto& a = candidates[one].*list;
        const auto& b = candidates[two].*list;
        return a.data() == b.data() || std::ranges::equal(a, b) || sorted(one, a) == sorted(two, b);
    };
    const auto hash = [&](CandidateId id) {
        std::uint64_t sum = 0;
        const auto mix = [&](std::uint64_t factor) {
            return [&sum, factor](SpecId spec) {
                auto mixed = (spec + 1) * factor;
                sum += mixed ^ mixed >> 29U;
            };
        };
        for_each(id, candidates[id].depends, mix(0x9e3779b97f4a7c15U));
        for_each(id, candidates[id].constrains, mix(0xbf58476d1ce4e5b9U));
        for_each(id, candidates[id].conditional, mix(0xd6e8feb86659fd93U));
        std::ranges::for_each(matched[id], mix(0x94d049bb133111ebU));
        return sum;
    };

    std::vector<CandidateId> worse;
    std::unordered_multimap<std::uint64_t, CandidateId> best;
    for (const auto& name : universe.names()) {
        best.clear();
        for (auto id = name.begin; id < name.end; ++id) {
            if (!live[id]) continue;
            const auto key = hash(id);
            const auto [begin, end] = best.equal_range(key);
            const auto twin = std::find_if(begin, end, [&](const auto& entry) {
                const auto other = entry.second;
                return std::ranges::equal(matched[id], matched[other]) &&
                       alike(id, other, &Candidate::depends) &&
                       alike(id, other, &Candidate::conditional) &&
                       alike(id, other, &Candidate::constrains);
            });
            if (twin == end) {
                best.emplace(key, id);
            } else {
                worse.push_back(ranks[id] < ranks[twin->second] ? std::exchange(twin->second, id)
                                                                : id);
            }
        }
    }
    return worse;
}

Narrowing restricted(const Universe& universe,
                     const std::vector<SpecId>& requested,
                     const std::vector<SpecId>& constraints) {
    Narrowing open(universe);
    for (const auto spec : constraints) open.restrict_to(spec);
    for (const auto spec : requested) open.require(spec);
    return open;
}

bool has_candidates(const Universe& universe, const std::vector<SpecId>& specs, const Live& live) {
    return std::ranges::all_of(specs, [&](SpecId spec) {
        const auto& matches = universe.specs()[spec].matches;
        return std::ranges::any_of(matches, [&](CandidateId id) { return live[id]; });
    });
}

std::optional<Narrowing> reduce(const Universe& universe,
                                const std::vector<SpecId>& requested,
                                const std::vector<SpecId>& constraints,
                                const std::vector<std::uint32_t>& ranks) {
    auto open = restricted(universe, requested, constraints);
    if (!has_candidates(universe, requested, open.live())) return std::nullopt;
    auto request = requested;
    request.insert(request.end(), constraints.begin(), constraints.end());
    for (const auto id : worse_twins(universe, ranks, request, open.live())) open.exclude(id);
    return open;
}

}  // namespace gpkg::solver
