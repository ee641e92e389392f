#pragma once

// Which builds a machine's NVIDIA driver and GPUs do not run, or run as PTX at best, though all
// that the builds ask of the machine is there: told by the CUDA that they go with.

#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/hardware/toolkit.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/package_record.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// Whether specs on the package may say which CUDA a build goes with: cuda-version, and
/// conda-forge's arm-variant, by which it tells servers from systems on a chip.
bool tells_cuda_limits(std::string_view name);

/// The first CUDA of which servers and systems on a chip have the same toolkit.
inline constexpr int kFirstCudaForTegraToo = 13;

/// What a caution of CudaLimits comes to: "..., which has no machine code for compute capability
/// 12.0; it runs there only if it contains PTX".
std::string at_best_as_ptx(const std::string& caution);

/// Code that a record declares.
struct DeclaredCode {
    CudaTarget target;
    CodeFit fit = CodeFit::No;
};

/// The code for a device that suits it best, of all that the record declares: by bounds on
/// __cuda_arch that the device meets, and by flags ("sm:80") that stand for machine code. Nothing
/// where it declares none that runs there.
std::optional<DeclaredCode> declared_code(const PackageRecord& record, const Version& device);
/// The same of one dependency.
std::optional<DeclaredCode> declared_code(const MatchSpec& dependency, const Version& device);

class CudaLimits {
public:
    /// Of the machine with these virtual packages.
    explicit CudaLimits(const std::vector<PackageRecord>& virtual_packages);

    /// What a dependency says of why the build does not run here, though all that it asks of the
    /// machine is there: it is for a CUDA that the driver does not run, or that makes no code for
    /// one of the GPUs, or not for every one of them. "needs cuda-version >=12, but the
    /// driver supports CUDA 11.4".
    std::optional<std::string> obstacle(const MatchSpec& dependency) const;
    /// The same of a spec in `constrains`. What that names need not be there, so it says nothing of
    /// the build that has it, but where it names the kind of Arm machine that this is for:
    /// conda-forge's arm-variant.
    std::optional<std::string> obstacle_in_constrains(const MatchSpec& spec) const;

    /// The same by the toolkit that compiled the build: the driver may be for an older CUDA, and
    /// CUDA 13 makes no code for devices before compute capability 7.5.
    std::optional<std::string> obstacle_of_build(std::string_view build) const;
    /// The same of what is compiled with a CUDA, "12.1" or just "12".
    std::optional<std::string> obstacle_of_cuda(std::string_view cuda) const;
    /// The same of a package by its name and version: what stands for a CUDA (cuda-version), and
    /// libraries that gave up GPUs (gpu_libraries.hpp).
    std::optional<std::string> obstacle_of_version(std::string_view name,
                                                   const Version& version) const;
    /// The same of a part of CUDA (toolkit_of_part); not of what is for building, which needs no
    /// driver.
    std::optional<std::string> obstacle_of_part(std::string_view name,
                                                const Version& version) const;
    /// The first of these that there is of a record.
    std::optional<std::string> obstacle_of(const PackageRecord& record) const;
    /// Where the toolkit is older than a device, so that at best PTX runs there: "is compiled with
    /// CUDA 12.6, which has no machine code for compute capability 12.0".
    std::optional<std::string> caution_of(const PackageRecord& record) const;
    std::optional<std::string> caution_of_cuda(std::string_view cuda) const;

private:
    /// The ends of sentences on what is for one of these releases: ", but the driver supports CUDA
    /// 11.4", ", which does not support compute capability 7.0".
    std::optional<std::string> lack_of(const std::optional<ToolkitRange>& cuda) const;
    std::optional<std::string> lack_of_code(const std::optional<ToolkitRange>& cuda,
                                            CodeFit fit) const;
    std::optional<std::string> told_by_devices(const MatchSpec& dependency) const;
    std::optional<std::string> told_by_arm_variant(const MatchSpec& dependency) const;
    std::optional<std::string> told_of_library(std::string_view name, const Version& version) const;

    std::optional<ToolkitVersion> driver_;  ///< the newest CUDA that it supports
    std::vector<Version> devices_;          ///< the lowest first
};

}  // namespace gpkg
