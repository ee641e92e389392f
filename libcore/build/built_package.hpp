#pragma once

#include "libcore/recipe/package_test.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpkg {

/// "the recipe", "the sources" ... -> a digest that changes whenever that part of what a package is
/// made of does. The recipe counts as it is rendered: a comment, or another output, changes
/// nothing.
using BuildInputs = std::map<std::string, std::string>;

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
    std::string node;  ///< of a cluster, where it was built; empty: here
    std::string job;   ///< of Slurm's that built it, "17_3"
};

}  // namespace gpkg
