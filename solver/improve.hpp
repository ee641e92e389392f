#pragma once

// From an answer to the best answer. Names are settled one after the other: the requested ones in
// their order, then dependencies breadth first, then, breadth first again, the conditional ones
// that apply to what is settled. A name is settled on a candidate when no solution that keeps
// everything settled before has a better one.

#include "solver/search.hpp"

#include <cstdint>
#include <vector>

namespace gpkg::solver {

/// `first` must meet `goals`. Gives the chosen candidates in the order in which they were settled.
/// `open` is what the answer can be made of, the request's specs and constraints being known.
std::vector<CandidateId> improve(const Universe& universe,
                                 Narrowing open,
                                 const std::vector<std::uint32_t>& ranks,
                                 Search& search,
                                 std::vector<Goal> goals,
                                 const std::vector<CandidateId>& first);

}  // namespace gpkg::solver
