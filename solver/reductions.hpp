#pragma once

// Makes the problem smaller without changing its best answer: candidates that can be in no solution
// (arc consistency) and candidates that a better twin always replaces (dominance) are taken out.

#include "solver/universe.hpp"

#include <vector>

namespace gpkg::solver {

/// Which candidates are still in play.
class Live {
public:
    explicit Live(const Universe& universe) : alive_(universe.candidates().size(), true) {}
    bool operator[](CandidateId id) const { return alive_[id]; }
    void remove(CandidateId id) { alive_[id] = false; }

private:
    std::vector<bool> alive_;
};

/// Why a candidate can be in no solution: this spec of its `depends` has no live match, or this one
/// of its `constrains` forbids a virtual package or itself.
struct Death {
    SpecId spec = kNone;
};

struct Consistency {
    Live live;
    std::vector<Death> deaths;  ///< by candidate; spec is kNone for the living and the excluded
};

/// Takes out, until nothing changes, every candidate with a dependency that no live candidate
/// meets, and, for each name in `required`, those that none of the specs required of it match.
/// `excluded` are out from the start, without a spec as reason.
Consistency make_consistent(const Universe& universe,
                            const std::vector<SpecId>& required,
                            const std::vector<CandidateId>& excluded = {});

/// Takes out candidates that have a live, better-ranked twin: same name, same dependencies, same
/// constrains, matched by the same specs. Only the best of them can be in a best solution.
void remove_dominated(const Universe& universe,
                      const std::vector<std::uint32_t>& ranks,
                      Live& live);

}  // namespace gpkg::solver
