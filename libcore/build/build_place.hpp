#pragma once

// Where an output is built: folders below the work folder, named after the output, or after the
// staging output that it begins with, whose files then need no other paths. Used by the builder
// only.

#include "libcore/build/recipe/rendered.hpp"

namespace gpkg {

struct BuildPlace {
    fs::path folder;
    fs::path prefix;        ///< PREFIX, kPlaceholderLength long
    fs::path build_prefix;  ///< BUILD_PREFIX
    fs::path work;          ///< SRC_DIR
    fs::path log;
    fs::path lock;

    static Result<BuildPlace> of(const RenderedOutput& output, const fs::path& work_folder);

    /// Makes the folders anew, empty, and an empty log.
    Result<void> clear() const;
    /// Removes `folder`, whatever modes a script gave to what is in it.
    Result<void> remove() const;
};

}  // namespace gpkg
