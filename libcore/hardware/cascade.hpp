#pragma once

// Of several builds of one version, the one that was made for most of what the machine is comes
// first, as far as builds say what they were made for: by a dependency on the microarchitecture or
// on the GPU's. The order is the table in cascade.cpp.

#include "libcore/hardware/cuda.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/package_record.hpp"

#include <compare>
#include <optional>
#include <string>
#include <string_view>
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

/// The compute capabilities of a machine's NVIDIA devices, the lowest first: __cuda_arch, and its
/// flags, which are those of all devices where they differ.
std::vector<Version> cuda_devices(const std::vector<PackageRecord>& virtual_packages);

/// What a caution of Cascade's comes to: "..., which makes no machine code for compute capability
/// 12.0: there it runs as PTX, where it has some, or not at all".
std::string at_best_as_ptx(const std::string& caution);

class Cascade {
public:
    /// Of the machine with these virtual packages.
    explicit Cascade(const std::vector<PackageRecord>& virtual_packages);

    /// What a dependency, which the machine meets, says of the build that has it.
    Closeness closeness(const MatchSpec& dependency) const;

    /// What a dependency says of why the build does not run here, though all that it asks of the
    /// machine is there: it is for a CUDA that the driver does not run, or that makes no code for
    /// one of the GPUs, or not for every one of them. "is for cuda-version >=12, and the driver
    /// runs CUDA 11.4".
    std::optional<std::string> obstacle(const MatchSpec& dependency) const;

    /// The same by the toolkit that compiled the build: CUDA 13 makes no code for devices before
    /// compute capability 7.5.
    std::optional<std::string> obstacle_of_build(std::string_view build) const;
    /// The same of what is compiled with a CUDA, "12.1" or just "12".
    std::optional<std::string> obstacle_of_cuda(std::string_view cuda) const;
    /// The first of these that there is of a record.
    std::optional<std::string> obstacle_of(const PackageRecord& record) const;
    /// Where the toolkit is older than a device, so that at best PTX runs there: "is compiled with
    /// CUDA 12.6, which makes no machine code for compute capability 12.0".
    std::optional<std::string> caution_of(const PackageRecord& record) const;
    std::optional<std::string> caution_of_cuda(std::string_view cuda) const;

private:
    const Version* device_with(CodeFit fit, const std::vector<Version>& toolkits) const;
    std::optional<std::string> told_by_build(std::string_view build, CodeFit fit) const;
    std::optional<std::string> told_by_cuda(std::string_view cuda,
                                            const std::vector<Version>& toolkits,
                                            CodeFit fit) const;
    std::optional<std::string> told_by_toolkits(const MatchSpec& dependency, CodeFit fit) const;
    std::optional<std::string> told_by_driver(const MatchSpec& dependency) const;
    std::optional<std::string> told_by_devices(const MatchSpec& dependency) const;
    int gpu_closeness(const MatchSpec& dependency, const Version& device) const;

    std::optional<Version> cuda_;
    std::vector<Version> cuda_devices_;  ///< the lowest first
    std::optional<Version> amdgpu_arch_;
};

}  // namespace gpkg
