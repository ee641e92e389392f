#pragma once

// A recipe for a component of a manifest: a staging output unpacks the archive and lays its files
// out, and packages split them, every file in exactly one.

#include "libcore/redist/archive_listing.hpp"
#include "libcore/redist/component_layout.hpp"
#include "libcore/redist/manifest.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpkg {

struct ComponentRecipeInput {
    const RedistManifest& manifest;
    const RedistComponent& component;
    const RedistChoice& choice;
    std::string subdir;             ///< "linux-64"
    bool tegra = false;             ///< for linux-aarch64
    std::vector<std::string> urls;  ///< of the archive, tried in order
    /// By component, of the archives that are at hand. Where this component's is not, there is a
    /// package for every part, some perhaps without files, and the build refuses what only a look
    /// could have told.
    const std::map<std::string, RedistListing>& listings;
};

struct ComponentRecipe {
    std::string package;   ///< for the folder's name: "cuda-cudart"
    std::string recipe;    ///< the text of recipe.yaml
    std::string variants;  ///< the text of variants.yaml; empty: there is none
    std::vector<std::string> packages;
    std::vector<std::string> unknown_needs;  ///< libraries of which nobody knows who gives them
};

/// `platform` is a manifest's.
RedistLayout layout_of(const RedistComponent& component, std::string_view platform);

ComponentRecipe component_recipe(const ComponentRecipeInput& input);

/// conda-forge's cuda-version, for channels that stand alone: it makes packages of one CUDA go
/// together, and asks the driver for its major. `version` is "12.9".
std::string cuda_version_recipe(const std::string& version);

}  // namespace gpkg
