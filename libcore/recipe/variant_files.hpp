#pragma once

// The files of variant configurations: variants.yaml, whose lists have selectors as recipes have
// them (CEP 13), and conda_build_config.yaml of conda-build, with selectors in comments.

#include "libcore/recipe/recipe.hpp"
#include "libcore/recipe/render.hpp"
#include "libcore/recipe/variant_config.hpp"

#include <string>
#include <string_view>

namespace gpkg {

/// Errors begin with the file's place. What other tools set in such files and is no variant
/// (pin_run_as_build, extend_keys, ...) is left out.
Result<VariantConfig> read_variant_file(const fs::path& file, const RenderOptions& options);

/// The same from a text; `where` is the file's path, whose name tells which kind it is.
Result<VariantConfig> parse_variant_file(std::string_view text,
                                         const std::string& where,
                                         const RenderOptions& options);

/// Whether a file beside a recipe is one of those that variants_for() reads.
bool is_variant_file(const fs::path& file);

/// What the files beside the recipe say, and before it what `options` have; and build_platform.
Result<VariantConfig> variants_for(const Recipe& recipe, const RenderOptions& options);

}  // namespace gpkg
