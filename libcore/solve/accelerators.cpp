#include "libcore/solve/accelerators.hpp"

#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/toolkit.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>

namespace gpkg {
namespace {

bool has_any(const std::vector<PackageRecord>& records,
             std::initializer_list<std::string_view> names) {
    return std::any_of(records.begin(), records.end(), [&](const auto& record) {
        return std::find(names.begin(), names.end(), record.name) != names.end();
    });
}

}  // namespace

AcceleratorChoice Accelerators::choice(std::string_view package) const {
    const auto own = of_package.find(std::string(package));
    return own == of_package.end() ? all : own->second;
}

bool Accelerators::is_asked(std::string_view package) const {
    const std::string name(package);
    return asked_packages.contains(name) || (all_is_asked && !of_package.contains(name));
}

bool Accelerators::is_bound(std::string_view package) const {
    const auto wanted = choice(package);
    return wanted != AcceleratorChoice::Auto && wanted != AcceleratorChoice::Conda;
}

bool Accelerators::is_bound_without_any(std::string_view package) const {
    return is_bound(package) && (binds_what_has_none || of_package.contains(std::string(package)));
}

std::vector<AcceleratorChoice> Accelerators::in_turn_on(
    const std::vector<PackageRecord>& virtual_packages) const {
    return in_turn.empty() ? std::vector{all} : choices_on(virtual_packages, in_turn);
}

bool has_device(const std::vector<PackageRecord>& virtual_packages, Accelerator vendor) {
    switch (vendor) {
    case Accelerator::Nvidia: return has_any(virtual_packages, {"__cuda_arch"});
    case Accelerator::Amd: return has_any(virtual_packages, {"__amdgpu_arch"});
    case Accelerator::None: break;
    }
    return false;
}

bool tells_of_vendor(std::string_view virtual_package, Accelerator vendor) {
    // ROCm is software: a login node has it without a GPU.
    return vendor_of_virtual_package(virtual_package) == vendor && virtual_package != "__rocm";
}

bool has_vendor(const std::vector<PackageRecord>& virtual_packages, Accelerator vendor) {
    return std::ranges::any_of(virtual_packages, [&](const PackageRecord& record) {
        return tells_of_vendor(record.name, vendor);
    });
}

std::string machine_reason(std::string_view machine,
                           const std::vector<PackageRecord>& virtual_packages,
                           Accelerator accelerator) {
    if (accelerator == Accelerator::None) {
        const bool has_any_vendor = has_vendor(virtual_packages, Accelerator::Nvidia) ||
                                    has_vendor(virtual_packages, Accelerator::Amd);
        return has_any_vendor ? "" : fmt::format("{} has no GPU", machine);
    }
    const bool has_gpu = has_device(virtual_packages, accelerator);
    if (!has_gpu && !has_vendor(virtual_packages, accelerator)) return "";
    return fmt::format(
        "{} has an {} {}", machine, vendor_title(accelerator), has_gpu ? "GPU" : "driver");
}

std::optional<std::string> note_on_cuda_minor_version(
    const std::vector<PackageRecord>& virtual_packages, const std::vector<PackageRecord>& records) {
    const auto* there = find_record(virtual_packages, "__cuda");
    if (there == nullptr) return std::nullopt;
    const auto driver = version_of(*there);
    if (!driver || find_record(records, "cuda-compat") != nullptr) return std::nullopt;
    std::optional<Version> latest;
    for (const auto& record : records) {
        const auto text = cuda_of(record);
        if (!text) continue;
        auto cuda = Version::parse(*text);
        if (!cuda || driver_fit(*cuda, *driver) != DriverFit::MinorVersion) continue;
        if (!latest || *latest < *cuda) latest = *std::move(cuda);
    }
    if (!latest) return std::nullopt;
    return fmt::format(
        "CUDA {} runs with a driver for CUDA {}{} (same major version), except code that needs PTX "
        "compilation",
        latest->to_string(),
        there->version,
        assumed_mark(*there));
}

std::vector<AcceleratorChoice> choices_on(const std::vector<PackageRecord>& virtual_packages,
                                          std::vector<AcceleratorChoice> order) {
    if (order.size() < 2) return order;
    const auto is_elsewhere = [&](AcceleratorChoice choice) {
        const auto vendor = vendor_of(choice);
        return vendor && !has_vendor(virtual_packages, *vendor);
    };
    auto here = order;
    std::erase_if(here, is_elsewhere);
    return here.empty() ? order : here;
}

std::optional<Accelerator> found_accelerator(const std::vector<PackageRecord>& installed,
                                             const std::vector<PackageRecord>& virtual_packages) {
    std::set<Accelerator> built;
    for (const auto& record : installed) {
        const auto of = accelerator_of(record);
        if (of.accelerator != Accelerator::None && !of.is_by_library) built.insert(of.accelerator);
    }
    if (built.size() == 1) return *built.begin();
    for (const auto has : {has_device, has_vendor}) {
        const bool nvidia = has(virtual_packages, Accelerator::Nvidia);
        const bool amd = has(virtual_packages, Accelerator::Amd);
        if (nvidia && amd) return std::nullopt;
        if (nvidia) return Accelerator::Nvidia;
        if (amd) return Accelerator::Amd;
    }
    return Accelerator::None;
}

bool names_cuda(const std::vector<MatchSpec>& asked,
                const std::vector<PackageRecord>& virtual_packages) {
    const bool has_driver = has_vendor(virtual_packages, Accelerator::Nvidia);
    return std::ranges::any_of(asked, [&](const MatchSpec& spec) {
        return (spec.version && is_part_of_cuda(spec.name)) ||
               (tells_cuda_version(spec.name) && (spec.version || has_driver));
    });
}

bool only_compiles_for_nvidia(const std::vector<MatchSpec>& asked,
                              const std::vector<PackageRecord>& records,
                              const Accelerators& accelerators) {
    const auto is_for_running = [&](const PackageRecord& record) {
        const auto of = accelerator_of(record);
        if (of.accelerator == Accelerator::Nvidia || of.is_for_either) return true;
        return of.accelerator == Accelerator::None && !of.evidence.empty() &&
               accelerators.choice(record.name) != AcceleratorChoice::None;
    };
    return std::any_of(asked.begin(),
                       asked.end(),
                       [](const MatchSpec& spec) { return is_for_building(spec.name); }) &&
           std::none_of(records.begin(), records.end(), is_for_running);
}

}  // namespace gpkg
