#pragma once

// What a search may cost. A decision has a limit in conflicts, not in time: a slow machine decides
// the same. What only explains a decision may have a time as well.

#include "libcore/solve/solve.hpp"

#include <cstdint>
#include <stop_token>

namespace gpkg::solver {

/// The user does not want the answer any more: thrown by Engine::solve, caught by solver::solve.
struct Stopped {};

/// A limit was reached first: whether there is an answer is not known. Thrown by Engine::solve.
struct GaveUp {};

struct Effort {
    std::stop_token stop;
    std::uint64_t conflicts = 0;  ///< that may still be met; Engine::solve counts down
    Deadline deadline{};

    bool is_late() const { return deadline && std::chrono::steady_clock::now() >= *deadline; }
};

}  // namespace gpkg::solver
