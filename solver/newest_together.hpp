#pragma once

// The versions of several packages that are the newest together: the sum of their ages
// (version_dates.hpp) is the least that any solution has.

#include "solver/preference.hpp"
#include "solver/reductions.hpp"
#include "solver/search.hpp"

#include <cstdint>
#include <vector>

namespace gpkg::solver {

/// A requested package that is older than it could be, because others that were requested are newer
/// so.
struct Trade {
    NameId name = kNone;
    CandidateId possible = kNone;  ///< one of the newest version that could be had
    std::int64_t age = 0;          ///< milliseconds that the chosen version is older
};

/// A solution, and the candidates of these names that are older than its own.
struct NewestTogether {
    std::vector<CandidateId> solution;
    std::vector<CandidateId> older;
    std::vector<Trade> trades;
};

/// `first` is a solution that meets `goals`, of candidates in `open`, and has all of the names.
/// Solutions whose sums are equal differ in the names' order: the first name is the newest.
NewestTogether newest_together(const Universe& universe,
                               const Narrowing& open,
                               Search& search,
                               const std::vector<Goal>& goals,
                               const std::vector<NameId>& names,
                               const std::vector<CandidateId>& first);

}  // namespace gpkg::solver
