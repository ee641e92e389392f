#pragma once

// What the environments of a build add to its dependencies (CEP 12, CEP 14, CEP 41).

#include "libcore/build/environments.hpp"

#include <string>
#include <vector>

namespace gpkg {

/// Adds to the specs of a host environment what packages of the build environment export strongly:
/// those that the recipe names.
void add_strong_exports(const RecipeRequirements& requirements,
                        const std::vector<EnvironmentPackage>& build,
                        std::vector<std::string>& host);

struct RunDependencies {
    std::vector<std::string> depends;
    std::vector<std::string> constrains;
};

/// The recipe's own run needs, then those exported by packages that it names: strong ones of build
/// and host, weak ones of host; for noarch packages only the noarch ones of host. `inherited` are
/// the environments of the outputs whose run_exports count too, of which both may ignore some.
RunDependencies run_dependencies(const BuildEnvironments& own,
                                 bool noarch,
                                 const std::vector<BuildEnvironments>& inherited = {});

/// Answers every pin_compatible() of `requirements` by what the environments hold: the host's
/// packages before those of the build environment, own ones before inherited ones.
Result<void> close_pins(RecipeRequirements& requirements,
                        const BuildEnvironments& own,
                        const std::vector<BuildEnvironments>& inherited = {});

}  // namespace gpkg
