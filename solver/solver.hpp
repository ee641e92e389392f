#pragma once

// gpkg's solver: an implementation of Solve (libcore/solve/solve.hpp) on stock libsolv.
//
//   collect   the closed world of the request                 universe.hpp
//   rank      the preference order of each name's candidates  preference.hpp
//   reduce    what can be in no answer, or in no best answer  reductions.hpp
//   search    a first solution, then the best                 engine.hpp, improve.hpp
//   note      what a user should know of the answer           notes/notes.hpp
//   explain   when there is none                              explain/explain.hpp

#include "libcore/solve/solve.hpp"

namespace gpkg::solver {

/// Finds the best environment, in the order that improve.hpp tells: the requested packages are
/// together as new as possible, then GPU-or-CPU, the toolkit, builds and dependencies are decided.
Result<Outcome> solve(const Problem& problem);

/// The candidates of the first name that `problem` requests, best first. Without records that the
/// request leaves out, or a channel hides.
Result<std::vector<PackageRecord>> in_order_of_preference(const Problem& problem);

/// What puts a record before another of its name where the problem could have either, as a sentence
/// about the first: "is of a newer version".
Result<std::string> advantage(const Problem& problem,
                              const PackageRecord& better,
                              const PackageRecord& other);

}  // namespace gpkg::solver
