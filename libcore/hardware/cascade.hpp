#pragma once

// Of several builds of one version, the one that was made for most of what the machine is comes
// first, as far as builds say what they were made for: by a dependency on the microarchitecture or
// on the GPU's. The order is the table in cascade.cpp.

#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/package_record.hpp"
#include "libcore/spec/version.hpp"

#include <compare>
#include <optional>
#include <vector>

namespace gpkg {

/// How closely a build was made for a machine that it runs on; nothing said is the least.
struct Closeness {
    int gpu = 0;
    int cpu = 0;

    /// The closer in each.
    void take(const Closeness& other);
    // clang-tidy 14 takes the 0 of a defaulted ordering for a null pointer.
    friend auto operator<=>(const Closeness&,
                            const Closeness&) = default;  // NOLINT(modernize-use-nullptr)
};

class Cascade {
public:
    /// Of the machine with these virtual packages.
    explicit Cascade(const std::vector<PackageRecord>& virtual_packages);

    /// What a dependency, which the machine meets, says of the build that has it.
    Closeness closeness(const MatchSpec& dependency) const;

private:
    static int gpu_closeness(const MatchSpec& dependency, const Version& device);

    std::vector<Version> cuda_devices_;  ///< the lowest first
    std::optional<Version> amdgpu_arch_;
};

}  // namespace gpkg
