#pragma once

// Where an output is built: folders below the work folder, named after the output, or after the
// staging output that it begins with, whose files then need no other paths. Used by the builder
// only.

#include "libcore/build/build_options.hpp"
#include "libcore/recipe/recipe.hpp"
#include "libcore/recipe/rendered.hpp"

namespace gpkg {

/// What the logs and folders of an output are called: a package's are its distribution's. Staging
/// outputs of several recipes may have one name and one hash; theirs tell the recipes apart.
std::string build_name(const Recipe& recipe, const RenderedOutput& output);

/// The output that `output` begins with: itself where it inherits nothing.
const RenderedOutput& outermost(const RenderedOutput& output);

/// The folders under the paths by which scripts, and what they make, call them.
struct ScriptView {
    fs::path folder;
    fs::path prefix;
    fs::path build_prefix;
    fs::path work;
};

struct BuildPlace {
    fs::path folder;
    fs::path prefix;        ///< PREFIX, kPlaceholderLength long
    fs::path build_prefix;  ///< BUILD_PREFIX
    fs::path work;          ///< SRC_DIR
    fs::path log;
    ScriptView seen;

    static Result<BuildPlace> of(const Recipe& recipe,
                                 const RenderedOutput& output,
                                 const BuildOptions& options);

    /// Makes the folders anew, empty, and an empty log.
    Result<void> clear() const;
    /// Removes `folder`, whatever modes a script gave to what is in it.
    Result<void> remove() const;
};

}  // namespace gpkg
