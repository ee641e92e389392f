#pragma once

// Python packages: where their files stand in a package, and the programs that entry points are.

#include "libcore/base/cancelled.hpp"
#include "libcore/recipe/rendered.hpp"

#include <set>
#include <string>
#include <vector>

namespace gpkg {

/// Makes of what a script installed what the package holds, before the new files are listed.
/// noarch: lib/pythonX.Y/site-packages/ becomes site-packages/, bin/ becomes python-scripts/
/// without the programs of entry points, byte code vanishes: all of it is made anew where the
/// package is installed. Others: a program in bin/ for each entry point, and no byte code that goes
/// by the time of its source. `before`: files that are not ours.
Result<void> lay_out_python(const fs::path& prefix,
                            const std::set<std::string>& before,
                            const RecipeBuild& build);

/// Byte code of the package's own modules in site-packages, made by the host environment's python.
/// What a script left of it (pip compiles what it installs) is made anew: it names the build's
/// folders, where the prefix cannot be replaced, and the times of files. By hash, so that neither
/// counts. Not of noarch packages, nor of what the recipe skips. A warning where python could not
/// be run; modules that are no python are left without.
Result<std::vector<std::string>> compile_python(const fs::path& prefix,
                                                const std::set<std::string>& before,
                                                const RecipeBuild& build,
                                                const Cancelled& cancelled = {});

}  // namespace gpkg
