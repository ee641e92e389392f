#pragma once

// Virtual packages: what a machine offers to the solver, as packages (CEP 30, CEP 46, and for AMD
// the draft of conda/ceps#189). This is judgement over the facts of a HardwareProfile: presence
// depends on the target platform, overrides (CONDA_OVERRIDE_*) win over facts.
//
// Where CEP 30 leaves the value to the tool, gpkg uses, as rattler does, __glibc 2.28, __linux 4.18
// and __win 10.0; __osx is 0, which the CEP demands.
// An empty override drops __cuda, __cuda_arch, __glibc, __amdgpu, __amdgpu_arch and __rocm; the
// others must be present, so it is ignored.

#include "libcore/spec/package_record.hpp"
#include "virtual-packages/profile.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg::virtual_packages {

struct VirtualPackage {
    std::string name;  ///< with its two underscores
    std::string version = "0";
    std::string build = "0";

    /// "__cuda=12.4=0"
    std::string to_string() const { return name + "=" + version + "=" + build; }
    friend bool operator==(const VirtualPackage&, const VirtualPackage&) = default;
};

struct DetectedPackage {
    VirtualPackage package;
    std::string source;  ///< "uname", "CONDA_OVERRIDE_CUDA", "default of gpkg", a profile's path
};

struct Detection {
    std::vector<DetectedPackage> packages;  ///< by name
    std::vector<std::string> warnings;      ///< e.g. an override that was ignored, and why

    /// Null when the machine has no such package. The name has its underscores.
    const DetectedPackage* find(std::string_view name) const;

    /// The packages as a solver takes them: name, version and build.
    std::vector<PackageRecord> records() const;
};

/// The virtual packages of a machine with these facts, for the target `platform`.
Detection virtual_packages_of(const HardwareProfile& profile,
                              std::string_view platform,
                              const EnvLookup& env);

/// Detects what `host` is and judges it for host.platform. The GPU driver is left alone when
/// overrides decide what it would be asked for.
Detection detect_all(const Host& host);

}  // namespace gpkg::virtual_packages
