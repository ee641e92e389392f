#include "virtual-packages/common.hpp"

#include "libcore/spec/microarchitecture.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <functional>

namespace gpkg::virtual_packages {
namespace {

using Machines = std::span<const HardwareProfile>;
using FactOf = std::optional<Fact> HardwareProfile::*;

/// Texts that are no versions are above all that are, as "any" is.
bool is_lower(const std::string& a, const std::string& b) {
    const auto first = Version::parse(a);
    const auto second = Version::parse(b);
    if (a == kAnyVersion || !first) return false;
    return b == kAnyVersion || !second || *first < *second;
}

/// The lowest; nothing where it is not known of all, or where some have a value and others none.
std::optional<Fact> lowest(Machines machines, FactOf fact) {
    std::optional<Fact> found;
    for (const auto& machine : machines) {
        const auto& own = machine.*fact;
        if (!own || (found && found->value.empty() != own->value.empty())) return std::nullopt;
        if (!found || is_lower(own->value, found->value)) found = own;
    }
    return found;
}

std::optional<Fact> same(Machines machines, FactOf fact) {
    for (const auto& machine : machines) {
        const auto& own = machine.*fact;
        const auto& first = machines.front().*fact;
        if (!own || !first || own->value != first->value) return std::nullopt;
    }
    return machines.front().*fact;
}

/// The nearest that all descend from.
std::optional<Fact> common_microarchitecture(Machines machines) {
    const auto descends = [](std::string_view from, std::string_view name) {
        const auto line = lineage(name);
        return std::ranges::find(line, from) != line.end();
    };
    std::string_view nearest;
    for (const auto& one : microarchitectures()) {
        const bool is_common = std::ranges::all_of(machines, [&](const HardwareProfile& machine) {
            return machine.microarchitecture &&
                   descends(one.name, machine.microarchitecture->value);
        });
        // Parents come before children: the last is the nearest.
        if (is_common) nearest = one.name;
    }
    if (nearest.empty()) return std::nullopt;
    return Fact{std::string(nearest), machines.front().microarchitecture->source};
}

/// The device of the vendor's that the solver would be told of; null where there is none.
const GpuDevice* counting_device(const HardwareProfile& machine, GpuVendor vendor) {
    const GpuDevice* found = nullptr;
    for (const auto& gpu : machine.gpus) {
        if (gpu.vendor != vendor) continue;
        const bool counts =
            found == nullptr ||
            (vendor == GpuVendor::Nvidia ? is_lower(gpu.architecture, found->architecture)
                                         : gpu.compute_units > found->compute_units);
        if (counts) found = &gpu;
    }
    return found;
}

std::optional<GpuDevice> common_device(Machines machines, GpuVendor vendor) {
    const GpuDevice* found = nullptr;
    for (const auto& machine : machines) {
        const auto* own = counting_device(machine, vendor);
        if (own == nullptr) return std::nullopt;
        if (found != nullptr && vendor != GpuVendor::Nvidia &&
            own->architecture != found->architecture)
            return std::nullopt;
        if (found == nullptr || is_lower(own->architecture, found->architecture)) found = own;
    }
    return *found;
}

/// What detectors found on all of them, in the lowest version.
std::vector<DetectedPackage> common_others(Machines machines) {
    auto found = machines.front().others;
    for (const auto& machine : machines.subspan(1)) {
        std::erase_if(found, [&](DetectedPackage& kept) {
            const auto other =
                std::ranges::find_if(machine.others, [&](const DetectedPackage& own) {
                    return own.package.name == kept.package.name &&
                           own.package.build == kept.package.build;
                });
            if (other == machine.others.end()) return true;
            if (is_lower(other->package.version, kept.package.version)) kept = *other;
            return false;
        });
    }
    return found;
}

}  // namespace

std::optional<HardwareProfile> common_profile(Machines machines) {
    if (machines.empty()) return std::nullopt;
    HardwareProfile common;
    common.platform = machines.front().platform;
    for (const auto& machine : machines) {
        if (machine.platform != common.platform) return std::nullopt;
        common.known_by_names = common.known_by_names || machine.known_by_names;
    }
    common.cpu_model = same(machines, &HardwareProfile::cpu_model);
    common.microarchitecture = common_microarchitecture(machines);
    for (const auto fact : {&HardwareProfile::glibc,
                            &HardwareProfile::linux_,
                            &HardwareProfile::osx,
                            &HardwareProfile::windows,
                            &HardwareProfile::nvidia_driver,
                            &HardwareProfile::cuda,
                            &HardwareProfile::amdgpu,
                            &HardwareProfile::rocm})
        common.*fact = lowest(machines, fact);
    for (const auto vendor : {GpuVendor::Nvidia, GpuVendor::Amd, GpuVendor::Intel}) {
        const bool has_driver = vendor == GpuVendor::Nvidia ? common.cuda.has_value()
                                : vendor == GpuVendor::Amd  ? common.amdgpu.has_value()
                                                            : true;
        auto device = has_driver ? common_device(machines, vendor) : std::nullopt;
        if (device) common.gpus.push_back(*std::move(device));
    }
    common.others = common_others(machines);
    return common;
}

}  // namespace gpkg::virtual_packages
