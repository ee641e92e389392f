#pragma once

// Environments as modules: what the module of one holds, and which of those that were written are
// no longer that.

#include "cli/context.hpp"
#include "libcore/image/image.hpp"
#include "libcore/module/module_tree.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gpkg::cli {

struct WantedModule {
    ModuleTexts texts;
    std::vector<std::string> left_out;  ///< what activation does beyond them
};

/// The module of the environment as it is now. `name` is NAME or NAME/VERSION; empty: what
/// module_name of the configuration makes of it.
Result<WantedModule> module_of(const Context& context,
                               const fs::path& prefix,
                               const std::string& name);

/// The module of an environment in an image: what `origin` has of it, the image and the disk, and
/// perhaps the program, is known. The environment is looked at where the image says it belongs, in
/// a private view. `note`: see ImageRunOptions.
Result<WantedModule> module_of_image(const Context& context,
                                     const ImageInfo& info,
                                     const ModuleOrigin& origin,
                                     const std::string& name,
                                     const std::function<void(const std::string&)>& note);

/// The modules below `root`, those marked whose environment or image is gone.
Result<std::vector<ModuleFile>> known_modules(const fs::path& root);

/// What somebody called the module of the same environment, or image, when it was written; empty:
/// nobody did.
std::string name_before(const ModuleOrigin& origin, const std::vector<ModuleFile>& before);

/// Why the file is not what gpkg would write now; empty where it is.
Result<std::string> why_stale(const Context& context, const ModuleFile& file);

}  // namespace gpkg::cli
