#pragma once

// Rendering: a Recipe, a platform and a variant make RenderedOutputs (CEP 13, 14, 39).

#include "libcore/build/recipe/recipe.hpp"
#include "libcore/build/recipe/rendered.hpp"

#include <functional>
#include <optional>

namespace gpkg {

struct RenderOptions {
    std::string target_platform = "linux-64";
    std::string build_platform = "linux-64";
    /// Keys as variant_key() spells them. target_platform and build_platform need not be there.
    Variant variant;
    /// What `env.get()` sees. Null: nothing is set.
    std::function<std::optional<std::string>(const std::string& name)> environment;
};

/// One element per output that is not skipped, in the order of the recipe: an output that needs
/// another one of the recipe to be built comes after it.
Result<std::vector<RenderedOutput>> render_recipe(const Recipe& recipe,
                                                  const RenderOptions& options);

}  // namespace gpkg
