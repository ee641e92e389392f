#pragma once

// Which accelerator a request is for: what is said now, what was said of the environment earlier,
// and where neither says it, the GPU of the machine.

#include "libcore/env/prefix.hpp"
#include "libcore/hardware/asked_spec.hpp"
#include "libcore/solve/accelerators.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpkg {

/// `all` is the first of those that are to be tried in turn.
Accelerators accelerators_of(const AcceleratorWishes& wishes, const GpkgState& state);

/// Whether it says anything of all packages.
bool says_all(const AcceleratorWishes& wishes);

/// Of the names, those that stay with what was asked for them alone, where something else is asked
/// for all: a line for each.
std::vector<std::string> notes_on_own_choices(const AcceleratorWishes& wishes,
                                              const GpkgState& state,
                                              const std::vector<std::string>& names);

/// "accelerator nvidia has no effect: ...", where one vendor is asked for and no record of the
/// solution is a build for an accelerator, or a CPU build beside one. `specs`: the requested
/// packages.
std::optional<std::string> note_on_no_gpu_build(const AcceleratorWishes& wishes,
                                                const std::vector<MatchSpec>& specs,
                                                const std::vector<PackageRecord>& records);

/// What is to be remembered where these wishes are all there is.
GpkgState remembered(const AcceleratorWishes& wishes);

/// Adds what is wished for now to what is remembered. Of several it stays open which holds.
void remember(GpkgState& state, const AcceleratorWishes& wishes);

/// Of several that were asked for, this one was taken, and holds for what comes later; not before
/// one of the records is a build for it, or for another.
void remember_taken(GpkgState& state,
                    AcceleratorChoice taken,
                    const std::vector<PackageRecord>& records);

/// The same once these records are gone.
std::optional<GpkgState> state_without(const GpkgState& state,
                                       const std::vector<PrefixRecord>& gone);

}  // namespace gpkg
