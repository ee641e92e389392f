#pragma once

// What the environments of a build add to its dependencies (CEP 12, CEP 14).

#include "libcore/build/recipe/rendered.hpp"

#include <string>
#include <vector>

namespace gpkg {

/// A package in a build or host environment.
struct EnvironmentPackage {
    std::string name;
    std::string version;
    std::string build;
    RunExports run_exports;
};

/// What the host environment gets beside its own specs: strong exports of the build environment's
/// packages that the recipe names.
std::vector<std::string> host_specs(const RecipeRequirements& requirements,
                                    const std::vector<EnvironmentPackage>& build);

struct RunDependencies {
    std::vector<std::string> depends;
    std::vector<std::string> constrains;
};

/// The recipe's own run needs, then those exported by packages that it names: strong ones of build
/// and host, weak ones of host; for noarch packages only the noarch ones of host.
RunDependencies run_dependencies(const RecipeRequirements& requirements,
                                 bool noarch,
                                 const std::vector<EnvironmentPackage>& build,
                                 const std::vector<EnvironmentPackage>& host);

}  // namespace gpkg
