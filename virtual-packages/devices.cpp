#include "virtual-packages/devices.hpp"

#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "virtual-packages/virtual_package.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::virtual_packages {
namespace {

constexpr std::uint64_t kSmall = 4096;  // MiB
constexpr std::uint64_t kTimes = 4;

bool has_device(const HardwareProfile& profile, GpuVendor vendor) {
    return std::any_of(profile.gpus.begin(), profile.gpus.end(), [&](const GpuDevice& gpu) {
        return gpu.vendor == vendor;
    });
}

/// The compute capability or gfx version that the solver would be told of.
std::string told(const HardwareProfile& profile, std::string_view name) {
    const auto detection = virtual_packages_of(
        profile, profile.platform, [](std::string_view) { return std::nullopt; });
    const auto* found = detection.find(name);
    return found == nullptr ? "none" : found->package.version;
}

}  // namespace

Result<DeviceChoice> DeviceChoice::parse(std::string_view text) {
    DeviceChoice choice;
    if (text == "all") return choice;
    if (text == "compute") {
        choice.kind = Kind::Compute;
        return choice;
    }
    choice.kind = Kind::Some;
    for (const auto word : split(text, ',')) {
        const auto place = whole_number<std::size_t>(trim(word));
        if (!place)
            return fail(ErrorKind::Usage,
                        fmt::format("--devices {}: not a list of GPUs", text),
                        "use all, compute (no display cards), or numbers: 0,2");
        choice.places.push_back(*place);
    }
    return choice;
}

bool is_for_screen(const HardwareProfile& profile, std::size_t place) {
    const auto memory = profile.gpus.at(place).memory_mib;
    return memory > 0 && memory <= kSmall &&
           std::any_of(profile.gpus.begin(), profile.gpus.end(), [&](const GpuDevice& other) {
               return other.memory_mib >= kTimes * memory;
           });
}

bool counts(const HardwareProfile& profile, const DeviceChoice& choice, std::size_t place) {
    switch (choice.kind) {
    case DeviceChoice::Kind::All: return true;
    case DeviceChoice::Kind::Compute: return !is_for_screen(profile, place);
    case DeviceChoice::Kind::Some: break;
    }
    if (choice.is_standing && std::all_of(choice.places.begin(),
                                          choice.places.end(),
                                          [&](auto one) { return one >= profile.gpus.size(); }))
        return true;
    return std::find(choice.places.begin(), choice.places.end(), place) != choice.places.end();
}

Result<void> keep_devices(HardwareProfile& profile, const DeviceChoice& choice) {
    for (const auto place : choice.places) {
        if (place >= profile.gpus.size() && !choice.is_standing)
            return fail(ErrorKind::Usage,
                        fmt::format("--devices {}: no GPU with this number", place),
                        profile.gpus.empty() ? "no GPU was found"
                                             : fmt::format("list the {} GPU{}: gpkg hardware",
                                                           profile.gpus.size(),
                                                           profile.gpus.size() == 1 ? "" : "s"));
    }
    const bool had_nvidia = has_device(profile, GpuVendor::Nvidia);
    const bool had_amd = has_device(profile, GpuVendor::Amd);
    std::vector<GpuDevice> kept;
    for (std::size_t place = 0; place < profile.gpus.size(); ++place) {
        if (counts(profile, choice, place)) kept.push_back(profile.gpus[place]);
    }
    profile.gpus = std::move(kept);
    if (had_nvidia && !has_device(profile, GpuVendor::Nvidia)) {
        profile.cuda.reset();
        profile.nvidia_driver.reset();
    }
    if (had_amd && !has_device(profile, GpuVendor::Amd)) {
        profile.amdgpu.reset();
        profile.rocm.reset();
    }
    return {};
}

std::optional<std::string> cost_of_screens(const HardwareProfile& profile) {
    for (std::size_t place = 0; place < profile.gpus.size(); ++place) {
        const auto& gpu = profile.gpus[place];
        // No virtual package follows from what Intel's are.
        if (gpu.vendor == GpuVendor::Intel || !is_for_screen(profile, place)) continue;
        const auto* name = gpu.vendor == GpuVendor::Nvidia ? "__cuda_arch" : "__amdgpu_arch";
        auto without = profile;
        DeviceChoice compute;
        compute.kind = DeviceChoice::Kind::Compute;
        if (!keep_devices(without, compute)) return std::nullopt;
        const auto now = told(profile, name);
        const auto then = told(without, name);
        if (now != then)
            return fmt::format("{} sets {} to {}; without it, {}",
                               gpu.name.empty() ? fmt::format("GPU {}", place) : gpu.name,
                               name,
                               now,
                               then);
    }
    return std::nullopt;
}

}  // namespace gpkg::virtual_packages
