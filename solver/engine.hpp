#pragma once

// libsolv behind integers. It is given candidates and sets of candidates only: names, versions and
// specs mean nothing to it. Each candidate's rank becomes its EVR, so that libsolv's "newest" is
// the preference order; each dependency becomes an Id whose providers are set by hand; `constrains`
// become conflicts with the complement.
//
// "At most one candidate of a name" would cost libsolv a rule per pair. Instead every name gets
// ceil(log2 n) slot solvables, candidate i requires slot k where bit k of i is set and conflicts
// with it where it is not: two candidates differ in some bit and so exclude each other, with n log
// n rules and the same unit propagation.
//
// libsolv learns from conflicts, but decides in a fixed order, never restarts and forgets nothing
// that it learned: a conflict costs 3 us at first and 400 us after 50,000 of them. Pigeonholes (ten
// packages that differ in nine versions) take every solver of this kind exponentially long:
// libsolv meets 3,000 conflicts for 9 in 8 and minisat 38,000; a sudoku of 729 records in which ten
// cells must differ takes minisat 173,000 and 6 s. Such questions need a limit (Effort) rather
// than another encoding. Tried: that a dependency also excludes what it does not match, which
// unit propagation does not see, saves a quarter of the conflicts on 60 requests of the corpus and
// takes libsolv three times as long; pairs in place of slots change nothing.
//
// Of each condition that a conditional dependency has there are two more solvables: it holds, or it
// does not; they exclude each other. A candidate that matches a leaf requires that the leaf holds,
// a part of an `or` that the whole does, a part of an `and` that the whole does or the other part
// does not. Who has the dependency requires what it asks for or that the condition does not hold,
// and who asks for an extra that the extra's condition holds. All of this says only what follows
// from the packages that are there: that more holds is never excluded. So an answer may have
// packages that nothing in it needs; improve() leaves them out.

#include "libcore/solve/solve.hpp"
#include "solver/reductions.hpp"
#include "solver/universe.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace gpkg::solver {

/// The user does not want the answer any more: thrown by Engine::solve, caught by solver::solve.
struct Stopped {};

/// A limit was reached first: whether there is an answer is not known. Thrown by Engine::solve.
struct GaveUp {};

/// What a search may cost. A decision has a limit in conflicts, not in time: a slow machine decides
/// the same. What only explains a decision may have a time as well.
struct Effort {
    std::stop_token stop;
    std::uint64_t conflicts = 0;  ///< that may still be met; Engine::solve counts down
    Deadline deadline{};

    bool is_late() const { return deadline && std::chrono::steady_clock::now() >= *deadline; }
};

/// At least one of these candidates is wanted in the environment.
struct Goal {
    std::vector<CandidateId> any_of;
    std::vector<ConditionId> extras{};  ///< that are asked for
};

/// What a failure rests on: these goals and these specs of these candidates have no solution.
struct Conflict {
    std::vector<std::size_t> goals;
    std::vector<std::pair<CandidateId, SpecId>> asks;
};

/// Only some specs count.
struct Scope {
    /// Whether a spec does for the candidates of a name.
    std::function<bool(NameId, SpecId)> counts;
    /// Whether the machine lacks what a spec on a virtual package asks for.
    std::function<bool(SpecId)> is_unmet;
};

class Engine {
public:
    /// Takes what lives. `ranks` as rank_candidates gives them.
    Engine(const Universe& universe,
           const Live& live,
           const std::vector<std::uint32_t>& ranks,
           std::optional<Scope> scope = std::nullopt);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// A set of candidates that meets every goal, with good choices for what the goals leave open;
    /// empty when there is none. Throws Stopped and GaveUp.
    std::optional<std::vector<CandidateId>> solve(const std::vector<Goal>& goals, Effort& effort);
    /// Why the last solve failed.
    const Conflict& conflict() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace gpkg::solver
