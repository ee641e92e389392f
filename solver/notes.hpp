#pragma once

// What a user should know of an answer, in a line each.

#include "solver/universe.hpp"

#include <string>
#include <vector>

namespace gpkg::solver {

/// `chosen` as improve() gives it.
std::vector<std::string> notes_on(const Universe& universe, const std::vector<CandidateId>& chosen);

}  // namespace gpkg::solver
