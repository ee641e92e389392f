#pragma once

// A recipe as it is written (CEP 13, 14): YAML with selectors and templates, nothing evaluated.
// Rendering (render.hpp) makes RenderedOutputs of it, which have neither.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/yaml/node.hpp"

#include <string>

namespace gpkg {

struct Recipe {
    fs::path file;     ///< absolute
    std::string text;  ///< the file's bytes
    yaml::Node root;

    /// Where relative paths of sources, patches and scripts start: RECIPE_DIR.
    fs::path folder() const { return file.parent_path(); }
};

/// Reads a recipe file, or recipe.yaml in a folder, and checks what can be checked before
/// rendering: its top-level keys and that it speaks of a format gpkg knows.
Result<Recipe> load_recipe(const fs::path& path);
/// The same from a text at hand; `file` names it in errors and gives its folder.
Result<Recipe> parse_recipe(std::string text, const fs::path& file);

}  // namespace gpkg
