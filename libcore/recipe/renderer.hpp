#pragma once

// One recipe with one value for each variant key. Used by render.cpp only.

#include "libcore/recipe/render.hpp"

#include <set>
#include <string>
#include <vector>

namespace gpkg {

/// What a recipe is with one value for each variant key.
struct Rendering {
    std::vector<RenderedOutput> outputs;  ///< packages, in the order in which they are built
    std::set<std::string> decisive;       ///< the keys that would make another one of it
};

Result<Rendering> render_variant(const Recipe& recipe,
                                 const RenderOptions& options,
                                 const Variant& variant);

}  // namespace gpkg
