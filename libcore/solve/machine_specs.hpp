#pragma once

#include "libcore/hardware/toolkit.hpp"
#include "libcore/spec/package_record.hpp"

#include <optional>
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
    /// On packages by which CudaLimits tells whether a build runs. "cuda-version ==12.1" also for
    /// what is that package, or is compiled with that CUDA.
    std::set<std::string> on_cuda;

    /// Sorts a dependency in. False where it says nothing of machines.
    bool take_dependency(std::string_view text);
    void take_constraint(std::string_view text);
    /// A record, whose name and version may tell the GPUs that it has code for, and its build
    /// string the toolkit that it is compiled with.
    void take_record(std::string_view name, std::string_view version, std::string_view build);

private:
    void take_on_cuda(std::string text);
    void take_devices(const std::optional<ToolkitRange>& range);
    void take_releases(const std::optional<ToolkitRange>& range);
};

/// All that these records say.
MachineSpecs machine_specs_of(const std::vector<PackageRecord>& records);

}  // namespace gpkg
