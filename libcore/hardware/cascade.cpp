#include "libcore/hardware/cascade.hpp"

#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/hardware/toolkit.hpp"
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

/// What a record asks for wherever it is that says which CUDA and which GPUs it is for.
std::vector<MatchSpec> on_cuda(const PackageRecord& record) {
    std::vector<MatchSpec> dependencies;
    for (const auto& text : record.depends) {
        const auto name = name_in_spec(text);
        if (name != "__cuda_arch" && !tells_cuda_version(name)) continue;
        auto spec = MatchSpec::parse(text);
        if (spec && !spec->when) dependencies.push_back(*std::move(spec));
    }
    return dependencies;
}

/// 12.1 for "12.1", all of the major version for "12".
std::vector<Version> toolkits_named(std::string_view cuda) {
    const auto spec = MatchSpec::parse(fmt::format("cuda-version={}", cuda));
    return spec ? toolkits_of(*spec) : std::vector<Version>();
}

/// Of which there is none where the best that there is runs so.
std::string_view kind_of_code(CodeFit fit) { return fit == CodeFit::No ? "code" : "machine code"; }

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

std::string at_best_as_ptx(const std::string& caution) {
    return caution + ": there it runs as PTX, where it has some, or not at all";
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
    if (auto told = told_by_driver(dependency)) return told;
    if (auto told = told_by_toolkits(dependency, CodeFit::No)) return told;
    return told_by_devices(dependency);
}

std::optional<std::string> Cascade::obstacle_of_build(std::string_view build) const {
    return told_by_build(build, CodeFit::No);
}

std::optional<std::string> Cascade::obstacle_of_cuda(std::string_view cuda) const {
    return told_by_cuda(cuda, toolkits_named(cuda), CodeFit::No);
}

std::optional<std::string> Cascade::obstacle_of(const PackageRecord& record) const {
    for (const auto& dependency : on_cuda(record)) {
        if (auto told = obstacle(dependency)) return told;
    }
    return obstacle_of_build(record.build);
}

std::optional<std::string> Cascade::caution_of(const PackageRecord& record) const {
    if (toolkit_of_build(record.build)) return told_by_build(record.build, CodeFit::Compiled);
    for (const auto& dependency : on_cuda(record)) {
        if (auto told = told_by_toolkits(dependency, CodeFit::Compiled)) return told;
    }
    return std::nullopt;
}

std::optional<std::string> Cascade::caution_of_cuda(std::string_view cuda) const {
    return told_by_cuda(cuda, toolkits_named(cuda), CodeFit::Compiled);
}

/// The first device on which the best code that one of the toolkits makes runs in just that way.
const Version* Cascade::device_with(CodeFit fit, const std::vector<Version>& toolkits) const {
    if (toolkits.empty()) return nullptr;
    const auto device = std::ranges::find_if(cuda_devices_, [&](const Version& one) {
        auto best = CodeFit::No;
        for (const auto& toolkit : toolkits)
            best = std::min(best, toolkit_fit(toolkit, CudaTarget::of(one)));
        return best == fit;
    });
    return device == cuda_devices_.end() ? nullptr : &*device;
}

std::optional<std::string> Cascade::told_by_build(std::string_view build, CodeFit fit) const {
    if (cuda_devices_.empty()) return std::nullopt;
    const auto toolkit = toolkit_of_build(build);
    if (!toolkit) return std::nullopt;
    return told_by_cuda(toolkit->to_string(), {*toolkit}, fit);
}

std::optional<std::string> Cascade::told_by_cuda(std::string_view cuda,
                                                 const std::vector<Version>& toolkits,
                                                 CodeFit fit) const {
    const auto* device = device_with(fit, toolkits);
    if (device == nullptr) return std::nullopt;
    return fmt::format("is compiled with CUDA {}, which makes no {} for compute capability {}",
                       cuda,
                       kind_of_code(fit),
                       device->to_string());
}

std::optional<std::string> Cascade::told_by_toolkits(const MatchSpec& dependency,
                                                     CodeFit fit) const {
    if (cuda_devices_.empty()) return std::nullopt;
    const auto* device = device_with(fit, toolkits_of(dependency));
    if (device == nullptr) return std::nullopt;
    return fmt::format("is for {}: no such CUDA makes {} for compute capability {}",
                       written(dependency),
                       kind_of_code(fit),
                       device->to_string());
}

std::optional<std::string> Cascade::told_by_driver(const MatchSpec& dependency) const {
    if (!cuda_) return std::nullopt;
    auto toolkits = toolkits_of(dependency);
    if (toolkits.empty()) return std::nullopt;
    // The driver may be of one that is not known here, and so may others of its major version.
    for (auto own : {*cuda_, *Version::parse(fmt::format("{}.99", version_part(*cuda_, 0)))}) {
        if (dependency.version->matches(own)) toolkits.push_back(std::move(own));
    }
    const bool runs_one = std::ranges::any_of(toolkits, [&](const Version& toolkit) {
        return driver_fit(toolkit, *cuda_) != DriverFit::No;
    });
    if (runs_one) return std::nullopt;
    return fmt::format(
        "is for {}, and the driver runs CUDA {}", written(dependency), cuda_->to_string());
}

/// Of several devices it may be for the lowest and not for others.
std::optional<std::string> Cascade::told_by_devices(const MatchSpec& dependency) const {
    if (dependency.name != "__cuda_arch" || !dependency.version || cuda_devices_.empty() ||
        !dependency.version->matches(cuda_devices_.front()))
        return std::nullopt;
    const auto other = std::ranges::find_if(
        cuda_devices_, [&](const Version& device) { return !dependency.version->matches(device); });
    if (other == cuda_devices_.end()) return std::nullopt;
    return fmt::format("is for {}, and a GPU here is {}", written(dependency), other->to_string());
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
