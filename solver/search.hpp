#pragma once

// Finds a solution, with few candidates of each name first. If these have none, libsolv names the
// specs in conflict: first only these get more candidates, then all. If the conflict is about specs
// that have all their candidates already, there is no solution at all.
//
// All questions to one Search share one limit of conflicts.

#include "solver/engine.hpp"
#include "solver/reductions.hpp"
#include "solver/universe.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gpkg::solver {

class Search {
public:
    Search(const Universe& universe, const std::vector<std::uint32_t>& ranks, const Effort& effort);

    /// Live candidates that meet every goal and each other's specs; nothing when there are none.
    /// In ascending order. Throws GaveUp at the limit.
    std::optional<std::vector<CandidateId>> find(const Live& live, const std::vector<Goal>& goals);
    /// Why the last question had no solution; empty if a limit ended it.
    const Conflict& conflict() const { return conflict_; }
    /// The same for a better solution than a known one. Nothing also at a part of the limit, which
    /// gave_up() tells.
    std::optional<std::vector<CandidateId>> find_better(const Live& live,
                                                        const std::vector<Goal>& goals);
    /// Whether a limit ended such a question.
    bool gave_up() const { return gave_up_; }
    /// For a caller that ends its own search early.
    void give_up() { gave_up_ = true; }

private:
    class Attempt;
    std::optional<std::vector<CandidateId>> find(const Live& live,
                                                 const std::vector<Goal>& goals,
                                                 Effort& effort);
    void sort(std::vector<CandidateId>& ids) const;
    const std::vector<CandidateId>& best_first(SpecId spec);

    const Universe& universe_;
    const std::vector<std::uint32_t>& ranks_;
    std::vector<std::optional<std::vector<CandidateId>>> best_first_;  ///< by spec
    Conflict conflict_;
    Effort effort_;  ///< that is left
    bool gave_up_ = false;
};

/// A goal for each requested spec, those on virtual packages aside.
std::vector<Goal> goals_of(const Universe& universe, const std::vector<SpecId>& requested);

/// Whether each goal has a live candidate.
bool has_candidates(const std::vector<Goal>& goals, const Live& live);

/// Whether some spec of the request has no candidate with live dependencies: quick to know, and
/// mostly the reason why there is no solution.
bool is_ruled_out(const Universe& universe);

/// Whether these of the request's specs and constraints have a solution. Throws GaveUp.
bool has_solution(const Universe& universe,
                  const std::vector<SpecId>& requested,
                  const std::vector<SpecId>& constraints,
                  const Effort& effort);

}  // namespace gpkg::solver
