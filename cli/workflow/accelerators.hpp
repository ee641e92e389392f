#pragma once

// Which accelerator a request is for: what is said now, what was said of the environment earlier,
// and where neither says it, the GPU of the machine.

#include "cli/workflow/question.hpp"
#include "libcore/spec/asked_spec.hpp"

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

/// Where the machine has GPUs of two vendors and the answer depends on which is meant, asks, or
/// fails where nobody can be asked.
Result<void> settle_vendor(Context& context, Question& question);

/// What is to be remembered once `question` is answered and these records are there; nothing where
/// that is what is remembered already.
std::optional<GpkgState> state_after(const Question& question,
                                     const std::vector<PackageRecord>& records);

/// What is to be remembered where these wishes are all there is.
GpkgState state_of(const AcceleratorWishes& wishes);

/// The same once these records are gone.
std::optional<GpkgState> state_without(const GpkgState& state,
                                       const std::vector<PrefixRecord>& gone);

}  // namespace gpkg::cli
