#pragma once

// What no host environment could tell when a package was built: asked once all of the run is.

#include "libcore/build/build_options.hpp"
#include "libcore/build/built_package.hpp"

#include <map>
#include <vector>

namespace gpkg {

/// A package that needs what nothing gives is not good: it is put aside, and why is given by its
/// place in `packages`. What else there is to say becomes a warning of the package.
std::map<std::size_t, Error> check_needs(const std::vector<BuiltPackage*>& packages,
                                         const BuildOptions& options);

}  // namespace gpkg
