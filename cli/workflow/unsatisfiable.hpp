#pragma once

// What a user reads, and a program gets, when a request has no solution: the clash, and fixes as
// commands in the user's own words.

#include "cli/context.hpp"
#include "cli/workflow/change.hpp"
#include "libcore/base/error.hpp"
#include "libcore/solve/solve.hpp"

namespace gpkg::cli {

/// What a fix is told in terms of.
struct Asked {
    const Context& context;
    const ChangeRequest& wanted;  ///< its specs are the first of the problem's
    const Request& request;
    std::size_t pins = 0;  ///< the first constraints are of conda-meta/pinned
};

Error unsatisfiable(const Asked& asked, const Explanation& explanation);

}  // namespace gpkg::cli
