#pragma once

// What a user should know of a solution.

#include "libcore/solve/note.hpp"
#include "solver/improve.hpp"
#include "solver/universe.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpkg::solver {

/// What another solution has of the requested packages, by name.
struct Build {
    Version version;
    Accelerator accelerator;
    bool runs = true;  ///< on the machine, with the rest of that solution
};
using Builds = std::map<std::string, Build>;

/// The solution if `spec` is requested too and may change installed packages, or if the constraint
/// WherePossible on the name `spec` is dropped; nothing if there is none. Takes another solve.
using WithSpec = std::function<std::optional<Builds>(const std::string& spec)>;

std::vector<Note> notes_on(const Universe& universe,
                           const Selected& selected,
                           const WithSpec& with_spec);

}  // namespace gpkg::solver
