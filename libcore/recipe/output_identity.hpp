#pragma once

// What an output of a recipe is called, and whether it may say what it says (CEP 14, CEP 41).

#include "libcore/recipe/expression.hpp"
#include "libcore/recipe/recipe.hpp"

#include <string>

namespace gpkg {

struct OutputIdentity {
    std::string name;
    std::string version;  ///< empty: of a staging output
};

/// Fails for keys that no output has, or no staging output. `node` is an element of `outputs:`.
Result<void> check_output(const yaml::Node& node);

/// `node` is an element of `outputs:` or, of a recipe of one package, its root. What it leaves open
/// `recipe:` says.
Result<OutputIdentity> read_identity(const Recipe& recipe,
                                     const yaml::Node& node,
                                     const Names& names);

}  // namespace gpkg
