#pragma once

// `gpkg redist import`: recipes for the components of a manifest.

#include "cli/context.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

struct RedistImport {
    std::string manifest;                 ///< a file or a URL
    std::string output = "recipes";       ///< a folder for each recipe goes in here
    std::vector<std::string> components;  ///< empty: all of the platform
    std::string platform;                 ///< a subdir; empty: this machine's
    std::string mirror;                   ///< of the archives, a folder or a URL
    std::string source_cache;
    std::string cuda_variant;
    bool tegra = false;
    bool with_cuda_version = false;
    bool fetch = false;
    bool force = false;
};

/// Gives the exit status.
Result<int> import_redist(Context& context, const RedistImport& options);

}  // namespace gpkg::cli
