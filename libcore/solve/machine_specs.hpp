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
    /// A record, whose name and version may tell the GPUs that it has code for, and its build
    /// string the toolkit that it is compiled with.
    void take_record(std::string_view name, std::string_view version, std::string_view build);

    /// How `toolkits` has a package that itself stands for a version of CUDA.
    static std::string exactly(std::string_view name, std::string_view version);

private:
    void take_toolkits(std::string_view text);
    void take_devices(const std::vector<Version>& of_toolkits);
};

}  // namespace gpkg
