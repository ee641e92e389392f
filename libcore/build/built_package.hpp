#pragma once

#include "libcore/recipe/package_test.hpp"

#include <string>
#include <vector>

namespace gpkg {

/// What a run made of an output, or found unchanged.
struct BuiltPackage {
    std::string distribution;
    fs::path file;
    fs::path log;         ///< what the script said; of an earlier run when reused
    bool reused = false;  ///< it was there, built from the same inputs
    /// It lies in the channel. Else it waits in the work folder, built by this run or by an earlier
    /// one that was cut off.
    bool is_published = false;
    /// Distributions of the environments that had a part in it, those of the staging outputs that
    /// it inherits among them.
    std::vector<std::string> built_with;
    std::vector<PackageTest> tests;
    bool tested = false;  ///< as it is now it passed them in an earlier run
    std::vector<std::string> warnings;
};

}  // namespace gpkg
