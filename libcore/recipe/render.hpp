#pragma once

// Rendering: a Recipe, a platform and the variants to choose from make RenderedOutputs (CEP 13, 14,
// 39).

#include "libcore/recipe/recipe.hpp"
#include "libcore/recipe/rendered.hpp"
#include "libcore/recipe/variant_config.hpp"

#include <functional>
#include <optional>

namespace gpkg {

struct RenderOptions {
    std::string target_platform = "linux-64";
    std::string build_platform = "linux-64";
    /// target_platform and build_platform need not be there. Files beside a recipe may say more
    /// (variant_files.hpp); what is here goes before it.
    VariantConfig variants;
    /// What `env.get()` sees. Null: nothing is set.
    std::function<std::optional<std::string>(const std::string& name)> environment;
};

/// One element for each output that is not skipped and each of the variants that it depends on: the
/// values of keys that it reads, or that pin what it is built with. Each once, in the order of the
/// recipe; an output that needs another one of the recipe to be built comes after it.
Result<std::vector<RenderedOutput>> render_recipe(const Recipe& recipe,
                                                  const RenderOptions& options);

}  // namespace gpkg
