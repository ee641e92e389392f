#pragma once

// Which accelerator a request is for: what is said now, what was said of the environment earlier,
// and where neither says it, the GPU of the machine.

#include "libcore/env/prefix.hpp"
#include "libcore/solve/accelerators.hpp"
#include "libcore/spec/asked_spec.hpp"

#include <optional>
#include <vector>

namespace gpkg::cli {

/// `all` is the first that is to be tried. Fails where the environment's state makes no sense.
Result<Accelerators> accelerators_of(const AcceleratorWishes& wishes, const GpkgState& state);

/// The choices for all packages in the order in which they are to be tried; never empty. Of
/// several, those for GPUs that the machine does not have are left out.
std::vector<AcceleratorChoice> accelerators_to_try(
    const AcceleratorWishes& wishes,
    const GpkgState& state,
    const std::vector<PackageRecord>& virtual_packages);

/// What is to be remembered where these wishes are all there is.
GpkgState state_of(const AcceleratorWishes& wishes);

/// The same once these records are gone.
std::optional<GpkgState> state_without(const GpkgState& state,
                                       const std::vector<PrefixRecord>& gone);

}  // namespace gpkg::cli
