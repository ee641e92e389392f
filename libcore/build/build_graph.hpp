#pragma once

// What a run of the builder has to do, output by output, and what has to be done first. Used by the
// builder only.

#include "libcore/build/build_options.hpp"
#include "libcore/recipe/recipe.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gpkg {

/// What no other output has: "linux-64/numpy-1.24.2-hb0f4dca_0".
std::string full_name(const RenderedOutput& output);

struct BuildGraph {
    struct RecipeFile {
        fs::path file;
        std::optional<Recipe> recipe;
        std::optional<Error> error;  ///< it cannot be read, or not be rendered
    };
    /// One output of one variant of a recipe.
    struct Step {
        std::size_t recipe = 0;
        RenderedOutput output;
        std::vector<std::size_t> after;  ///< steps that make what its environments are to hold
        /// Steps that make what those bring along: by their run dependencies and run_exports. Where
        /// these go in a circle, an earlier build in the channel has to do.
        std::vector<std::size_t> after_others;
        /// Steps that make what the environments of its tests hold; they may need it in turn.
        std::vector<std::size_t> tested_with;
    };

    /// Of the recipes as `options` renders them; one that makes none of options.only is an error.
    static BuildGraph of(const std::vector<fs::path>& files, const BuildOptions& options);

    const Recipe& recipe_of(const Step& step) const { return *recipes[step.recipe].recipe; }

    /// The names under which a run claims what it builds.
    std::set<std::string> claimed_names() const;

    /// Recipes of which build.skip leaves no output.
    std::vector<fs::path> skipped() const;

    /// Steps that need each other to be built; none as a rule.
    std::vector<std::size_t> circle() const;

    std::vector<RecipeFile> recipes;
    std::vector<Step> steps;  ///< in the order of the recipes and their outputs
};

}  // namespace gpkg
