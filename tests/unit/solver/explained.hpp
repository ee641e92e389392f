#pragma once

// What an explanation says, turned back into a problem: nothing is asked but what its lines say.

#include "libcore/solve/solve.hpp"

namespace gpkg::tests {

/// The problem as it is when only what these lines say counts. What the channels or the machine
/// have of a name whose line is left out (of those in `all`) is free: nothing asked of it matters.
Problem only_what_is_said(const Problem& problem,
                          const std::vector<ExplanationLine>& all,
                          std::size_t left_out);

/// No line is left out.
inline constexpr std::size_t kNothing = static_cast<std::size_t>(-1);

/// The same problem, its records having come in the opposite order.
Problem in_reverse(const Problem& problem);

/// Who asks for a build lets what is installed be of another kind, parts of it included, whether or
/// not the clash tells it: without that, the problem would be another one.
bool has_unsaid_build(const Problem& problem, const Explanation::Clash& clash);

/// Whether the solver finds a solution.
bool has_solution(const Problem& problem);

/// Checks that every clash has no solution, and has one without any one of its lines.
void check_minimal(const Problem& problem, const Explanation& explanation);

/// Checks that of the specs and pins that a clash names, with all that the channels say, none could
/// be left out either.
void check_every_wish_clashes(const Problem& problem, const Explanation& explanation);

/// Checks that every fix, put as a problem of its own, gives what it says.
void check_fixes(const Problem& problem, const Explanation& explanation);

}  // namespace gpkg::tests
