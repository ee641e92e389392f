#include "libcore/hardware/cascade.hpp"

#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/cuda_limits.hpp"
#include "libcore/spec/microarchitecture.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>

namespace gpkg {
namespace {

// The order, the best first.
//
//   GPU, by the lowest device of a vendor (CEP 46), of NVIDIA's by each of them, before
//   1  code for this very architecture: a bound on __cuda_arch or __amdgpu_arch that names it
//   2  code for an earlier one of the same major version, the nearest first: NVIDIA's SASS runs on
//      later minor versions (CUDA C++ Programming Guide, "Binary Compatibility"), and AMD's
//      generic targets (gfx9-4-generic) are for all of a family (LLVM, "AMDGPU Usage")
//   3  anything else: PTX, which the driver compiles, or nothing said. All code is on a machine
//      that has "any" architecture: it is made for no device, and the newest code, whose bound is
//      the nearest, runs on the fewest.
//   CPU, by __archspec or _x86_64-microarch-level
//   1  x86-64-v4, v3, v2
//   2  within a level, and for Arm and POWER, the microarchitecture with the longer ancestry in
//      archspec's database: zen5 before zen4, armv9.0a before armv8.2a
//   3  x86-64, aarch64, ppc64le: nothing that others do not have
constexpr int kExactGpu = 1000;
constexpr int kSameMajorGpu = 500;  // and the minor version, which is below 100
constexpr int kLevel = 100;         // more than any ancestry is long

/// The least of all that the name stands for: "^(x86_64_v3|haswell|...)$" is x86_64_v3.
int archspec_closeness(const StringMatcher& build) {
    std::optional<int> least;
    for (const auto& entry : microarchitectures()) {
        if (!build.matches(entry.name)) continue;
        const auto ancestors = static_cast<int>(lineage(entry.name).size());
        const auto level = x86_64_level(entry.name).value_or(0);
        // The plain architecture is what is there anyway.
        const int own = entry.parents.empty() ? 0 : level * kLevel + ancestors;
        least = std::min(least.value_or(own), own);
    }
    return least.value_or(0);
}

int level_closeness(const MatchSpec& dependency) {
    int level = 0;
    for (const auto& version : dependency.version->literals())
        level = std::max(level, version_part(version, 0));
    return level > 1 ? level * kLevel : 0;
}

}  // namespace

void Closeness::take(const Closeness& other) {
    gpu = std::max(gpu, other.gpu);
    cpu = std::max(cpu, other.cpu);
}

Cascade::Cascade(const std::vector<PackageRecord>& virtual_packages)
    : cuda_devices_(cuda_devices(virtual_packages)) {
    const auto* amd = find_record(virtual_packages, "__amdgpu_arch");
    if (amd == nullptr || amd->version == kAnyVersion) return;
    if (auto version = version_of(*amd)) amdgpu_arch_ = *std::move(version);
}

/// Of several NVIDIA devices what is made for one alone is made for none: it has to run on each.
Closeness Cascade::closeness(const MatchSpec& dependency) const {
    if (dependency.name == "__amdgpu_arch")
        return {amdgpu_arch_ ? gpu_closeness(dependency, *amdgpu_arch_) : 0, 0};
    if (dependency.name == "__cuda_arch") {
        std::optional<int> least;
        for (const auto& device : cuda_devices_) {
            const auto own = gpu_closeness(dependency, device);
            least = std::min(least.value_or(own), own);
        }
        return {least.value_or(0), 0};
    }
    if (dependency.name == "__archspec" && dependency.build)
        return {0, archspec_closeness(*dependency.build)};
    if (dependency.name == "_x86_64-microarch-level" && dependency.version)
        return {0, level_closeness(dependency)};
    return {};
}

int Cascade::gpu_closeness(const MatchSpec& dependency, const Version& device) {
    if (dependency.name == "__cuda_arch") {
        const auto code = declared_code(dependency, device);
        if (!code || code->fit == CodeFit::Compiled) return 0;
        return code->fit == CodeFit::Exact ? kExactGpu
                                           : kSameMajorGpu + code->target.capability % 10;
    }
    if (!dependency.version || !dependency.version->matches(device)) return 0;
    // What the code is for is the highest that the spec names and the device has.
    std::optional<Version> target;
    for (auto& version : dependency.version->own_literals()) {
        if (!(device < version) && (!target || *target < version)) target = std::move(version);
    }
    if (!target) return 0;
    if (*target == device) return kExactGpu;
    // AMD's code for a family of devices is named by one of its major version.
    const bool is_of_family = version_part(*target, 0) == version_part(device, 0);
    return is_of_family ? kSameMajorGpu + std::min(version_part(*target, 1), 99) : 0;
}

}  // namespace gpkg
