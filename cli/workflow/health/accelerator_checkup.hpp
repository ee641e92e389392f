#pragma once

// Whether what is installed is for the GPU that is there: builds for CPUs beside a GPU, and builds
// for a GPU that is not there.

#include "cli/workflow/health/checkup.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/old_names.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpkg::cli {

/// One finding for what hangs together: of pytorch and libtorch, pytorch. `machine` are the
/// machine's virtual packages.
std::vector<Finding> check_accelerators(const Checked& checked,
                                        const std::vector<PackageRecord>& machine);

/// pytorch and none of "pytorch-cpu", a package that is there to choose pytorch's build.
std::optional<BuildInName> build_chosen_by(const std::vector<PrefixRecord>& records,
                                           const std::string& name);

/// "is a build for nvidia, of which there is no GPU here"
std::string for_no_gpu_here(Accelerator accelerator);

}  // namespace gpkg::cli
