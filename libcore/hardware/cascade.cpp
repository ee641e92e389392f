#include "libcore/hardware/cascade.hpp"

#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/spec/microarchitecture.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"

#include <algorithm>
#include <fmt/format.h>

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

/// A machine that has any architecture has no device that code is made for.
bool has_any(const std::vector<PackageRecord>& records, std::string_view name) {
    return std::any_of(records.begin(), records.end(), [&](const PackageRecord& record) {
        return record.name == name && record.version == kAnyVersion;
    });
}

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

std::vector<Version> cuda_devices(const std::vector<PackageRecord>& virtual_packages) {
    std::vector<Version> devices;
    if (auto lowest = find_version(virtual_packages, "__cuda_arch"))
        devices.push_back(*std::move(lowest));
    for (const auto& record : virtual_packages) {
        if (record.name != "__cuda_arch" || devices.empty()) continue;
        for (const auto& capability : record.flags) {
            auto device = Version::parse(capability);
            if (device && *device != devices.front()) devices.push_back(*std::move(device));
        }
    }
    return devices;
}

Cascade::Cascade(const std::vector<PackageRecord>& virtual_packages)
    : cuda_(find_version(virtual_packages, "__cuda")) {
    if (!has_any(virtual_packages, "__cuda_arch")) cuda_devices_ = cuda_devices(virtual_packages);
    if (!has_any(virtual_packages, "__amdgpu_arch"))
        amdgpu_arch_ = find_version(virtual_packages, "__amdgpu_arch");
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

std::optional<std::string> Cascade::obstacle(const MatchSpec& dependency) const {
    if (exceeds_driver(dependency))
        return fmt::format(
            "is for {}, and the driver runs CUDA {}", written(dependency), cuda_->to_string());
    if (const auto* device = device_without_code(dependency))
        return fmt::format("is for {}: no such CUDA makes code for compute capability {}",
                           written(dependency),
                           device->to_string());
    if (dependency.name != "__cuda_arch" || !dependency.version || cuda_devices_.empty() ||
        !dependency.version->matches(cuda_devices_.front()))
        return std::nullopt;
    const auto other = std::find_if(cuda_devices_.begin(), cuda_devices_.end(), [&](auto& device) {
        return !dependency.version->matches(device);
    });
    if (other == cuda_devices_.end()) return std::nullopt;
    return fmt::format("is for {}, and a GPU here is {}", written(dependency), other->to_string());
}

std::optional<std::string> Cascade::obstacle_of_build(std::string_view build) const {
    return toolkit_told(build, CodeFit::No);
}

std::optional<std::string> Cascade::obstacle_of(const PackageRecord& record) const {
    for (const auto& text : record.depends) {
        const auto name = name_in_spec(text);
        if (name != "__cuda_arch" && !tells_cuda_version(name)) continue;
        const auto spec = MatchSpec::parse(text);
        if (!spec || spec->when) continue;
        if (auto found = obstacle(*spec)) return found;
    }
    return obstacle_of_build(record.build);
}

std::optional<std::string> Cascade::caution_of_build(std::string_view build) const {
    return toolkit_told(build, CodeFit::Compiled);
}

/// What is to be said where the toolkit's code runs on a device in just that way.
std::optional<std::string> Cascade::toolkit_told(std::string_view build, CodeFit fit) const {
    if (cuda_devices_.empty()) return std::nullopt;
    const auto toolkit = toolkit_of_build(build);
    if (!toolkit) return std::nullopt;
    for (const auto& device : cuda_devices_) {
        if (toolkit_fit(*toolkit, CudaTarget::of(device)) == fit)
            return fmt::format(
                "is compiled with CUDA {}, which makes no {} for compute capability {}",
                toolkit->to_string(),
                fit == CodeFit::No ? "code" : "machine code",
                device.to_string());
    }
    return std::nullopt;
}

/// Between its bounds a spec takes all or nothing: what it takes of what the driver runs is a
/// bound, or the first of all, or the driver's own version, or the last of its major.
bool Cascade::exceeds_driver(const MatchSpec& dependency) const {
    if (!cuda_ || !dependency.version || !tells_cuda_version(dependency.name)) return false;
    auto tried = dependency.version->literals();
    tried.push_back(Version::from_number(0));
    tried.push_back(*cuda_);
    tried.push_back(*Version::parse(fmt::format("{}.9999", version_part(*cuda_, 0))));
    return std::none_of(tried.begin(), tried.end(), [&](const Version& toolkit) {
        return dependency.version->matches(toolkit) && driver_fit(toolkit, *cuda_) != DriverFit::No;
    });
}

/// Where it takes no toolkit that is known nothing is said of it.
const Version* Cascade::device_without_code(const MatchSpec& dependency) const {
    if (cuda_devices_.empty() || !dependency.version || !tells_cuda_version(dependency.name))
        return nullptr;
    const auto toolkits = toolkits_of(*dependency.version);
    const auto device = std::ranges::find_if(cuda_devices_, [&](const Version& one) {
        return std::ranges::all_of(toolkits, [target = CudaTarget::of(one)](const auto& toolkit) {
            return toolkit_fit(toolkit, target) == CodeFit::No;
        });
    });
    return toolkits.empty() || device == cuda_devices_.end() ? nullptr : &*device;
}

int Cascade::gpu_closeness(const MatchSpec& dependency, const Version& device) const {
    if (!dependency.version || !dependency.version->matches(device)) return 0;
    // What the code is for is the highest that the spec names and the device has.
    std::optional<Version> target;
    for (auto& version : dependency.version->own_literals()) {
        if (!(device < version) && (!target || *target < version)) target = std::move(version);
    }
    if (!target) return 0;
    if (*target == device) return kExactGpu;
    // AMD's code for a family of devices is named by one of its major version.
    const bool runs_as_it_is = dependency.name == "__cuda_arch"
                                   ? code_fit(*target, device) == CodeFit::SameMajor
                                   : version_part(*target, 0) == version_part(device, 0);
    return runs_as_it_is ? kSameMajorGpu + std::min(version_part(*target, 1), 99) : 0;
}

}  // namespace gpkg
