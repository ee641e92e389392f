#pragma once

#include "libcore/spec/version.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// What records ask of machines, as specs on virtual packages, and which CUDA they are for.
struct MachineSpecs {
    std::set<std::string> depends;
    std::set<std::string> constrains;
    std::set<std::string> conditions;  ///< of dependencies (CEP 43)
    std::set<std::string> toolkits;    ///< on packages that stand for a version of CUDA

    /// Sorts a dependency in. False where it says nothing of machines.
    bool take_dependency(std::string_view text);
    void take_constraint(std::string_view text);
    /// A build string, which may tell the toolkit that the build is compiled with.
    void take_build(std::string_view build);

private:
    void take_toolkits(std::string_view text);
    void take_devices(const std::vector<Version>& of_toolkits);
};

}  // namespace gpkg
