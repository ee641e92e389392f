#pragma once

// A request as the solver is asked: put to what is there, to the pins and to the machine.

#include "libcore/asking/request.hpp"
#include "libcore/solve/solve.hpp"

#include <vector>

namespace gpkg {

struct PosedRequest {
    Wanted wanted;    ///< its specs are the first of the problem's
    Present present;  ///< its pins are the first of the problem's constraints
    Problem problem;  ///< with the request of these two
};

/// What would be asked with these changes made to it: named is what is named then, and what was
/// asked for earlier counts again where nothing is named in its place.
Result<void> make_changes(PosedRequest& posed, const std::vector<ProblemChange>& changes);

}  // namespace gpkg
