#include "libcore/solve/accelerators.hpp"

#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/toolkit.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
AcceleratorChoice Accelerators::choice(std::string_view package) const {
    const std::string name(package);
    if (const auto own = of_package.find(name); own != of_package.end()) return own->second;
    const auto passed = of_dependency.find(name);
    return passed == of_dependency.end() ? all : passed->second;
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
    return vendor != Accelerator::None &&
           find_record(virtual_packages, row_of(vendor).device) != nullptr;
}

bool tells_of_vendor(std::string_view virtual_package, Accelerator vendor) {
    const auto& row = row_of(vendor);
    return row.has_virtual_package(virtual_package) && virtual_package != row.software;
}

bool has_vendor(const std::vector<PackageRecord>& virtual_packages, Accelerator vendor) {
    return std::ranges::any_of(virtual_packages, [&](const PackageRecord& record) {
        return tells_of_vendor(record.name, vendor);
    });
}

std::vector<Accelerator> vendors_with(const std::vector<PackageRecord>& virtual_packages,
                                      IsThere is_there) {
    std::vector<Accelerator> found;
    for (const auto& vendor : vendors()) {
        if (is_there(virtual_packages, vendor.accelerator)) found.push_back(vendor.accelerator);
    }
    return found;
}

std::string machine_reason(std::string_view machine,
                           const std::vector<PackageRecord>& virtual_packages,
                           Accelerator accelerator) {
    if (accelerator == Accelerator::None)
        return vendors_with(virtual_packages, has_vendor).empty()
                   ? fmt::format("{} has no GPU", machine)
                   : "";
    const bool has_gpu = has_device(virtual_packages, accelerator);
    if (!has_gpu && !has_vendor(virtual_packages, accelerator)) return "";
    return fmt::format(
        "{} has an {} {}", machine, vendor_title(accelerator), has_gpu ? "GPU" : "driver");
}

std::optional<std::string> note_on_cuda_minor_version(
    const std::vector<PackageRecord>& virtual_packages, const std::vector<PackageRecord>& records) {
    const auto driver = driver_release(virtual_packages, Accelerator::Nvidia);
    if (!driver || find_record(records, "cuda-compat") != nullptr) return std::nullopt;
    std::optional<ToolkitVersion> latest;
    for (const auto& record : records) {
        const auto text = cuda_of(record);
        const auto cuda = text ? release_named(Accelerator::Nvidia, *text) : std::nullopt;
        if (cuda && driver_fit(cuda->first, *driver) == DriverFit::MinorVersion)
            latest = std::max(latest.value_or(cuda->first), cuda->first);
    }
    if (!latest) return std::nullopt;
    const auto& there = *find_record(virtual_packages, "__cuda");
    return fmt::format(
        "CUDA {} runs with a driver for CUDA {}{} (same major version), except code that needs PTX "
        "compilation",
        latest->to_string(),
        there.version,
        assumed_mark(there));
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
    for (const auto is_there : {has_device, has_vendor}) {
        const auto found = vendors_with(virtual_packages, is_there);
        if (found.size() > 1) return std::nullopt;
        if (!found.empty()) return found.front();
    }
    return Accelerator::None;
}

bool names_cuda(const std::vector<MatchSpec>& asked,
                const std::vector<PackageRecord>& virtual_packages) {
    const bool has_driver = has_vendor(virtual_packages, Accelerator::Nvidia);
    return std::ranges::any_of(asked, [&](const MatchSpec& spec) {
        if (spec.when) return false;
        return spec.version ? is_part_of_cuda(spec.name) || tells_cuda_version(spec.name)
                            : has_driver && tells_cuda_version(spec.name);
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
    const auto is_compiler = [](const MatchSpec& spec) {
        return !spec.when && is_for_building(spec.name);
    };
    return std::ranges::any_of(asked, is_compiler) && std::ranges::none_of(records, is_for_running);
}

}  // namespace gpkg
