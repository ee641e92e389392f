#pragma once

// The sections of a recipe, read from evaluated trees into their types. Every unknown key, wrong
// type and impossible value is an error with its place in the file.

#include "libcore/recipe/rendered.hpp"
#include "libcore/recipe/tree.hpp"

namespace gpkg {

/// All take a tree that may be null (the section is absent). `folder` is the recipe's.
Result<std::vector<RecipeSource>> read_sources(const Tree& tree, const fs::path& folder);
Result<RecipeBuild> read_build(const Tree& tree, const fs::path& folder);
Result<RecipeRequirements> read_requirements(const Tree& tree);
Result<std::vector<PackageTest>> read_recipe_tests(const Tree& tree, const fs::path& folder);
Result<RecipeAbout> read_about(const Tree& tree);
/// Any tree as JSON text, keys sorted.
std::string tree_json(const Tree& tree);

/// `build.variant`, which is read before the rest as it decides on the hash.
struct VariantKeys {
    std::vector<std::string> use;
    std::vector<std::string> ignore;
    int down_priority = 0;
};
Result<VariantKeys> read_variant_keys(const Tree& build);

}  // namespace gpkg
