#include "libcore/hardware/cuda.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/spec/package_record.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace gpkg {

std::string dotted_cuda(std::string_view digits) {
    if (digits.find('.') != std::string_view::npos || digits.size() < 2) return std::string(digits);
    const auto major = digits.size() == 2 && digits[0] != '1' ? 1U : 2U;
    if (digits.size() <= major) return std::string(digits);
    return fmt::format("{}.{}", digits.substr(0, major), digits.substr(major));
}

int version_part(const Version& version, std::size_t place) {
    const auto parts = split(version.to_string(), '.');
    int number = 0;
    if (place < parts.size())
        std::from_chars(parts[place].data(), parts[place].data() + parts[place].size(), number);
    return number;
}

DriverFit driver_fit(const Version& toolkit,
                     const Version& driver,
                     const std::optional<Version>& compat) {
    const auto supports = [&](const Version& newest) {
        const auto asked = std::pair(version_part(toolkit, 0), version_part(toolkit, 1));
        return asked <= std::pair(version_part(newest, 0), version_part(newest, 1));
    };
    if (toolkit <= driver || supports(driver)) return DriverFit::Native;
    if (compat && supports(*compat)) return DriverFit::Forward;
    const auto major = version_part(toolkit, 0);
    return major >= kFirstCompatibleCuda && major == version_part(driver, 0)
               ? DriverFit::MinorVersion
               : DriverFit::No;
}

bool tells_cuda_version(std::string_view name) {
    const auto& all = kCudaVersionPackages;
    return std::find(all.begin(), all.end(), name) != all.end();
}

bool is_part_of_cuda(std::string_view name) {
    // "libcu" and "libnv" alone would take libcurl and libnvme too.
    constexpr auto kBeginnings = std::to_array<std::string_view>({
        "cuda-",       "cusparselt",   "cutensor",    "libcublas",        "libcudnn",
        "libcudss",    "libcufft",     "libcufile",   "libcuobjclient",   "libcurand",
        "libcusolver", "libcusparse",  "libcutensor", "libnpp",           "libnvcomp",
        "libnvfatbin", "libnvjitlink", "libnvjpeg",   "libnvptxcompiler", "libnvshmem",
        "libnvvm",     "nsight-",
    });
    constexpr auto kNames = std::to_array<std::string_view>(
        {"cuda", "cudatoolkit", "cudnn", "gds-tools", "nccl", "nvcomp"});
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
           std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](std::string_view beginning) {
               return name.starts_with(beginning);
           });
}

bool is_for_building(std::string_view name) {
    constexpr auto kCompilers = std::to_array<std::string_view>(
        {"cuda-compiler", "cuda-toolkit", "cuda-nvcc", "cuda-nvvm", "cuda-crt", "cuda-cccl"});
    const auto begins = [&](std::string_view with) { return name.starts_with(with); };
    return std::any_of(kCompilers.begin(), kCompilers.end(), begins) ||
           (is_part_of_cuda(name) && (name.find("-dev") != std::string_view::npos ||
                                      name.find("-static") != std::string_view::npos));
}

CodeFit code_fit(const Version& code, const Version& device) {
    return code_fit(CudaTarget::of(code), CudaTarget::of(device));
}

std::vector<Version> cuda_devices(const std::vector<PackageRecord>& virtual_packages) {
    std::vector<Version> devices;
    for (const auto& record : virtual_packages) {
        if (record.name != "__cuda_arch") continue;
        if (record.version == kAnyVersion) return {};
        auto lowest = version_of(record);
        if (!lowest) continue;
        devices.push_back(*std::move(lowest));
        for (const auto& capability : record.flags) {
            auto device = Version::parse(capability);
            if (device && *device != devices.front()) devices.push_back(*std::move(device));
        }
    }
    return devices;
}

}  // namespace gpkg
