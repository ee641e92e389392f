#pragma once

// What a user should know of an answer, in a line each.

#include "solver/universe.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gpkg::solver {

/// The version of a package that the request comes to with NAME[accel=...]; nothing where it has no
/// answer then. That takes another solve.
using WithAccelerator =
    std::function<std::optional<Version>(const std::string& name, Accelerator accelerator)>;

/// `chosen` as improve() gives it.
std::vector<std::string> notes_on(const Universe& universe,
                                  const std::vector<CandidateId>& chosen,
                                  const WithAccelerator& with_accelerator);

}  // namespace gpkg::solver
