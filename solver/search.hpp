#pragma once

// Finds an answer, looking among few candidates of each name first. An answer among few is one; and
// where there is none, libsolv says what that rests on: at first more are looked at only there,
// then everywhere. When what it rests on leaves nothing more to look at, there is no answer at all.
//
// All questions to one Search share the conflicts that are allowed.

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
    /// In ascending order. Throws GaveUp where all conflicts that are allowed do not suffice.
    std::optional<std::vector<CandidateId>> find(const Live& live, const std::vector<Goal>& goals);
    /// What the last failure to find any rests on; nothing where it was given up.
    const Conflict& conflict() const { return conflict_; }
    /// The same where there is an answer already and a better one is looked for: nothing also where
    /// a part of these conflicts does not suffice. gave_up() tells.
    std::optional<std::vector<CandidateId>> find_better(const Live& live,
                                                        const std::vector<Goal>& goals);
    /// Whether a better answer was given up without knowing that there is none.
    bool gave_up() const { return gave_up_; }
    /// The same of one who asks no more.
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

/// A goal for each requested spec; the machine's virtual packages are not chosen.
std::vector<Goal> goals_of(const Universe& universe, const std::vector<SpecId>& requested);

/// Whether each goal has a live candidate.
bool has_candidates(const std::vector<Goal>& goals, const Live& live);

/// Whether some spec of the request leaves no candidate that has its dependencies: known at once,
/// and mostly the reason where there is no solution.
bool is_ruled_out(const Universe& universe);

/// Whether these of the request's specs and constraints have a solution. Throws GaveUp.
bool has_solution(const Universe& universe,
                  const std::vector<SpecId>& requested,
                  const std::vector<SpecId>& constraints,
                  const Effort& effort);

}  // namespace gpkg::solver
