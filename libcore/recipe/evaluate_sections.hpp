#pragma once

// The sections of one output, with those of the recipe's top level merged in (CEP 14).

#include "libcore/recipe/recipe.hpp"
#include "libcore/recipe/tree.hpp"

namespace gpkg {

/// The trees of one output, everything merged in but not yet read into types.
struct Sections {
    Tree source, build, requirements, tests, about, extra;
    const yaml::Node* build_string = nullptr;
};

/// `node` is the output, or the recipe's root when that is its only one. `ancestors` are the
/// outputs that it inherits (CEP 41), the outermost first, which inherits the top level. `build`
/// and `about` are merged; requirements, tests and scripts are not; sources come with the files of
/// an ancestor.
Result<Sections> evaluate_sections(const Recipe& recipe,
                                   const yaml::Node& node,
                                   const std::vector<const yaml::Node*>& ancestors,
                                   const Names& names);

}  // namespace gpkg
