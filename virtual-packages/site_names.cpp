#include "virtual-packages/site_names.hpp"

#include "libcore/base/text.hpp"
#include "libcore/spec/microarchitecture.hpp"
#include "virtual-packages/machines.hpp"
#include "virtual-packages/version_text_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string_view>

namespace gpkg::virtual_packages {
namespace {

constexpr std::string_view kSource = "name used by the site";

/// "tesla_v100-sxm2" is tesla, v100 and sxm2.
std::vector<std::string> parts_of(std::string_view name) {
    std::vector<std::string> parts(1);
    for (const char c : to_lower(name)) {
        if (std::string_view("_-. :/").find(c) == std::string_view::npos)
            parts.back() += c;
        else if (!parts.back().empty())
            parts.emplace_back();
    }
    return parts;
}

/// gpkg's machine whose GPU the name means: "a100" of "nvidia_a100_80gb_pcie", "rtx4090" of
/// "rtx_4090".
std::optional<HardwareProfile> machine_with(std::string_view gpu_name) {
    const auto parts = parts_of(gpu_name);
    for (std::size_t place = 0; place < parts.size(); ++place) {
        std::string candidate;
        for (auto last = place; last < std::min(place + 2, parts.size()); ++last) {
            candidate += parts[last];
            auto machine =
                candidate.empty() ? fail(ErrorKind::NotFound, "") : find_machine(candidate, {});
            if (machine && !machine->gpus.empty()) return *std::move(machine);
        }
    }
    return std::nullopt;
}

/// Only of the platform's own: "m1" is Apple's, and on a cluster a word for something else.
std::optional<std::string> microarchitecture_in(std::string_view feature,
                                                const std::string& platform) {
    auto name = to_lower(feature);
    std::ranges::replace(name, '-', '_');
    if (!is_microarchitecture(name)) return std::nullopt;
    const auto machine = find_machine(name, {});
    if (!machine || machine->platform != platform) return std::nullopt;
    return name;
}

/// "12.4" of "cuda12.4" and "cuda-12.4"; "12.0" of "cuda12".
std::optional<std::string> cuda_in(std::string_view feature) {
    constexpr std::string_view kCuda = "cuda";
    const auto name = to_lower(feature);
    if (!name.starts_with(kCuda)) return std::nullopt;
    auto version = name.substr(kCuda.size());
    if (version.starts_with('-') || version.starts_with('_')) version.erase(0, 1);
    if (version.find('.') == std::string::npos) version += ".0";
    if (leading_version(version, 2) != version) return std::nullopt;
    return version;
}

void add_gpus(const HardwareProfile& machine, HardwareProfile& profile) {
    profile.gpus.insert(profile.gpus.end(), machine.gpus.begin(), machine.gpus.end());
    if (!profile.cuda) profile.cuda = machine.cuda;
    if (!profile.amdgpu) profile.amdgpu = machine.amdgpu;
    // Of gpkg's machines those alone tell their processor whose GPU comes with one.
    if (machine.platform != "linux-64") profile.platform = machine.platform;
}

bool has_gpu_of(const HardwareProfile& profile, GpuVendor vendor) {
    return std::ranges::find(profile.gpus, vendor, &GpuDevice::vendor) != profile.gpus.end();
}

/// A driver that answers counts for nothing where it shows no device: what is built for one would
/// not run.
std::optional<std::string> lack_of(GpuVendor vendor, const HardwareProfile& seen) {
    if (has_gpu_of(seen, vendor)) return std::nullopt;
    switch (vendor) {
    case GpuVendor::Nvidia:
        if (seen.cuda)
            return fmt::format("no NVIDIA GPU: the driver, for CUDA {}, lists none",
                               seen.cuda->value);
        return seen.nvidia_driver ? fmt::format("no NVIDIA GPU: driver {} does not respond",
                                                seen.nvidia_driver->value)
                                  : "no NVIDIA GPU: the driver does not respond";
    case GpuVendor::Amd:
        return seen.amdgpu ? "no AMD GPU: the driver offers none for computing"
                           : "no AMD GPU: the driver does not respond";
    case GpuVendor::Intel: break;
    }
    return "no Intel GPU";
}

/// AMD's devices come without a name, and gpkg's table has not all of NVIDIA's: these are what
/// their machine code says.
bool is_model(const GpuDevice& seen, const GpuDevice& meant) {
    if (seen.vendor != meant.vendor) return false;
    const auto known = machine_with(seen.name);
    return known ? known->gpus.front().name == meant.name : seen.architecture == meant.architecture;
}

bool has_model(const std::vector<GpuDevice>& gpus, const GpuDevice& model) {
    return std::ranges::any_of(gpus, [&](const GpuDevice& gpu) { return is_model(gpu, model); });
}

std::string text_of(const GpuDevice& gpu) {
    return gpu.name.empty() ? fmt::format("a {} GPU", gpu.architecture) : gpu.name;
}

}  // namespace

NamedParts profile_of_names(const std::string& platform,
                            std::span<const std::string> features,
                            std::span<const std::string> gpu_types) {
    NamedParts found;
    auto& profile = found.profile;
    profile.platform = platform;
    profile.known_by_names = true;
    for (const auto& type : gpu_types) {
        if (const auto machine = machine_with(type))
            add_gpus(*machine, profile);
        else
            found.unread.push_back(type);
    }
    for (const auto& feature : features) {
        if (auto name = microarchitecture_in(feature, profile.platform)) {
            const auto& known = profile.microarchitecture;
            if (!known || lineage(*name).size() > lineage(known->value).size())
                profile.microarchitecture = Fact{*std::move(name), std::string(kSource)};
        } else if (gpu_types.empty()) {
            if (const auto machine = machine_with(feature)) add_gpus(*machine, profile);
        }
    }
    for (const auto& feature : features) {
        if (auto version = cuda_in(feature); version && profile.cuda)
            profile.cuda = Fact{*std::move(version), std::string(kSource)};
    }
    return found;
}

std::optional<std::string> lack_of_gpu(const HardwareProfile& named, const HardwareProfile& seen) {
    for (const auto& gpu : named.gpus) {
        if (auto lack = lack_of(gpu.vendor, seen)) return lack;
    }
    if (!named.gpus.empty() || !seen.gpus.empty()) return std::nullopt;
    if (seen.cuda || seen.nvidia_driver) return lack_of(GpuVendor::Nvidia, seen);
    if (seen.amdgpu) return lack_of(GpuVendor::Amd, seen);
    return "no GPU: no driver responds";
}

std::vector<std::string> other_models(std::span<const std::string> gpu_types,
                                      const HardwareProfile& seen) {
    std::vector<GpuDevice> meant;
    for (const auto& type : gpu_types) {
        const auto machine = machine_with(type);
        if (!machine) return {};
        meant.push_back(machine->gpus.front());
    }
    std::vector<std::string> others;
    for (const auto& gpu : seen.gpus) {
        // It is in the place of one of the site's that is not there.
        const bool replaces_one = std::ranges::any_of(meant, [&](const GpuDevice& model) {
            return model.vendor == gpu.vendor && !has_model(seen.gpus, model);
        });
        const bool is_meant = std::ranges::any_of(
            meant, [&](const GpuDevice& model) { return is_model(gpu, model); });
        auto text = text_of(gpu);
        if (replaces_one && !is_meant && std::ranges::find(others, text) == others.end())
            others.push_back(std::move(text));
    }
    return others;
}

}  // namespace gpkg::virtual_packages
