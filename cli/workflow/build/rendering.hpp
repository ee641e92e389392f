#pragma once

// How the recipes of a command line are rendered: for which platform, in which variants.

#include "cli/workflow/source_options.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/recipe/render.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace gpkg::cli {

struct Context;

struct VariantOptions {
    std::vector<std::string> files;    ///< variants.yaml or conda_build_config.yaml
    std::vector<std::string> choices;  ///< KEY=VALUE[,VALUE...]
};

/// -m and --variant.
void add_variant_options(CLI::App& app, VariantOptions& options);

Result<RenderOptions> render_options(const Context& context,
                                     const SourceOptions& sources,
                                     const VariantOptions& variants);

/// Warns of selectors of conda-build ("# [win]"), which are only comments in a recipe.yaml.
void warn_of_selector_comments(Context& context, const std::vector<fs::path>& recipes);

/// Warns of keys of --variant and in the files of -m that change no output of the recipes.
/// conda_build_config.yaml is written for many recipes and left out.
void warn_of_unused_keys(Context& context,
                         const std::vector<fs::path>& recipes,
                         const VariantOptions& variants,
                         const RenderOptions& render);

}  // namespace gpkg::cli
