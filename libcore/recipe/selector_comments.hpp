#pragma once

// Selectors of conda-build's meta.yaml ("# [win]") in a recipe.yaml, where they are only comments.

#include "libcore/recipe/recipe.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gpkg {

struct SelectorComment {
    std::size_t line = 0;     ///< from 1
    std::string selector;     ///< "win and not arm64"
    std::string replacement;  ///< how to write it in a recipe.yaml
};

/// Comments at the end of a line that conda-build would read as a selector.
std::vector<SelectorComment> selector_comments(const Recipe& recipe);

}  // namespace gpkg
