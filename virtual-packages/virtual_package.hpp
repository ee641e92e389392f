#pragma once

// Virtual packages: what a machine offers to the solver, as packages (CEP 30, CEP 46, and for AMD
// the draft of conda/ceps#189). This is judgement over the facts of a HardwareProfile: presence
// depends on the target platform, overrides (CONDA_OVERRIDE_*) win over facts.
//
// Where CEP 30 leaves the value to the tool, gpkg uses, as rattler does, __glibc 2.28, __linux 4.18
// and __win 10.0; __osx is 0, which the CEP demands.
// An empty override drops __cuda, __cuda_arch, __glibc, __amdgpu, __amdgpu_arch and __rocm; the
// others must be present, so it is ignored. What detectors beyond gpkg's own found (detectors.hpp)
// is handed on; CONDA_OVERRIDE_ and its name in capitals override it, and an empty one drops it.

#include "libcore/spec/package_record.hpp"
#include "virtual-packages/profile.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg::virtual_packages {

struct DeviceChoice;

/// The source of a value that nobody detected or wrote.
constexpr std::string_view kDefaultSource = "gpkg default";

enum class OverrideEffect { Sets, Drops, None };

/// A variable of the CONDA_OVERRIDE_ family that is set.
struct ActiveOverride {
    std::string variable;
    std::string value;
    OverrideEffect effect = OverrideEffect::None;
    std::string text;  ///< "__cuda is 12.4", "no __cuda", or why it has no effect
};

struct Detection {
    std::vector<DetectedPackage> packages;  ///< by name
    std::vector<std::string> assumed;       ///< names of packages whose value gpkg assumes
    /// Of all NVIDIA devices, where they differ; nothing where __cuda_arch is not told by them.
    std::vector<std::string> compute_capabilities;
    std::vector<std::string> warnings;      ///< e.g. an override that was ignored, and why
    std::vector<ActiveOverride> overrides;  ///< of those that somebody knows

    /// Null when the machine has no such package. The name has its underscores.
    const DetectedPackage* find(std::string_view name) const;
    bool is_assumed(std::string_view name) const;

    /// The packages as a solver takes them: name, version and build. Those that __cuda_arch stands
    /// for are its flags, as Cascade wants it. An assumed value has kAssumedFlag.
    std::vector<PackageRecord> records() const;
};

/// The virtual packages of a machine with these facts, for the target `platform`. `detectable` is
/// what detectors could find, and so can be overridden, beside what is in the profile.
Detection virtual_packages_of(const HardwareProfile& profile,
                              std::string_view platform,
                              const EnvLookup& env,
                              const std::vector<std::string>& detectable = {});

/// Detects what `host` is, with the devices of the choice, and judges it for host.platform. What
/// overrides decide is not asked of NVIDIA's driver and of detectors' programs. A Usage error for a
/// device that is not there.
Result<Detection> detect(const Host& host, const DeviceChoice& choice);

/// The same with all devices.
Detection detect_all(const Host& host);

}  // namespace gpkg::virtual_packages
