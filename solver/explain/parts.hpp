#pragma once

// Asks whether a part of a problem has a solution: only some edges count, and whatever the others
// would restrict is free. If it has none, names the edges that are the reason. Candidates that the
// part cannot tell apart are taken together, so that small parts of large problems are small.

#include "solver/edges.hpp"
#include "solver/engine.hpp"
#include "solver/universe.hpp"

#include <optional>
#include <vector>

namespace gpkg::solver {

class Parts {
public:
    Parts(const Universe& universe, const Edges& edges, Deadline deadline);

    /// Edges of `active` that have no solution; nothing where `active` has one, or a limit is
    /// reached before that is known. `wanted` is to be in it as well.
    std::optional<EdgeSet> core(const EdgeSet& active, CandidateId wanted = kNone) const;

    /// Whether all edges are known to have no solution, without those of the user's that `said` has
    /// not.
    bool has_no_solution(const EdgeSet& said) const;

    /// How many questions for a core a limit has ended.
    std::size_t given_up() const { return given_up_; }

private:
    EdgeSet reasons_against(const EdgeSet& active, CandidateId id) const;
    bool is_unmet(const EdgeSet& active, SpecId spec) const;
    EdgeSet machine_reasons(const EdgeSet& active, SpecId spec) const;
    void blame(const EdgeSet& active, const std::vector<CandidateId>& ids, EdgeSet& core) const;

    const Universe& universe_;
    const Edges& edges_;
    std::vector<std::uint32_t> ranks_;
    Deadline deadline_;
    mutable std::size_t given_up_ = 0;
    /// What the user says of a name.
    struct Restriction {
        EdgeId edge;
        SpecId spec;
    };
    std::vector<std::vector<Restriction>> restrictions_;  ///< by name: requests, then constraints
};

}  // namespace gpkg::solver
