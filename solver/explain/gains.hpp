#pragma once

// What a fix gives: the packages that the conflict is about, as the changed request has them.

#include "solver/universe.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace gpkg::solver {

/// What a conflict is about.
struct Concerned {
    std::set<std::size_t> specs;   ///< places in the request
    std::set<std::string> pinned;  ///< names of constraints
};

/// Sorted by name. `universe` is the request without the changes. Each package has a remark where
/// it is not the build that the user would expect: "CPU build", where there is a GPU.
std::vector<Fix::Package> gains_of(const Universe& universe,
                                   const Universe& changed,
                                   const Solution& solution,
                                   const std::vector<ProblemChange>& changes,
                                   const Concerned& concerned);

}  // namespace gpkg::solver
