#pragma once

// Python packages: where their files stand in a package, and the programs that entry points are.

#include "libcore/build/recipe/rendered.hpp"

#include <set>

namespace gpkg {

/// Makes of what a script installed what the package holds, before the new files are listed.
/// noarch: lib/pythonX.Y/site-packages/ becomes site-packages/, bin/ becomes python-scripts/
/// without the programs of entry points, byte code vanishes: all of it is made anew where the
/// package is installed. Others: a program in bin/ for each entry point. `before`: files that are
/// not ours.
Result<void> lay_out_python(const fs::path& prefix,
                            const std::set<std::string>& before,
                            const RecipeBuild& build);

}  // namespace gpkg
