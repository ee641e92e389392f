#pragma once

// Environments as modules: what the module of one holds, and which of those that were written are
// no longer that.

#include "cli/context.hpp"
#include "libcore/image/image.hpp"
#include "libcore/module/module_tree.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

struct WantedModule {
    std::string room;
    EnvironmentModule module;
};

/// The module of the environment as it is now. `name` is NAME or NAME/VERSION; empty: what
/// module_name of the configuration makes of it.
Result<WantedModule> module_of(const Context& context,
                               const fs::path& prefix,
                               const std::string& name);

/// The module of an environment in an image. Where the image says it belongs, it has to be seen:
/// see run_in_image().
Result<WantedModule> module_of_image(const Context& context,
                                     const ImageInfo& info,
                                     const ModuleOrigin& origin,
                                     const std::string& name);

/// Why the file is not what gpkg would write now; empty where it is.
Result<std::string> why_stale(const Context& context, const ModuleFile& file);

}  // namespace gpkg::cli
