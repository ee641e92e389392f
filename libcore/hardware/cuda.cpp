#include "libcore/hardware/cuda.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/vendors.hpp"
#include "libcore/spec/package_record.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace gpkg {

std::string dotted_release(std::string_view digits) {
    if (digits.find('.') != std::string_view::npos || digits.size() < 2) return std::string(digits);
    const auto major = digits[0] == '1' ? 2U : 1U;
    if (digits.size() <= major) return std::string(digits);
    return fmt::format("{}.{}", digits.substr(0, major), digits.substr(major));
}

int version_part(const Version& version, std::size_t place) {
    std::string_view part = version.to_string();
    for (; place > 0; --place) {
        const auto dot = part.find('.');
        if (dot == std::string_view::npos) return 0;
        part.remove_prefix(dot + 1);
    }
    int number = 0;
    std::from_chars(part.data(), part.data() + part.size(), number);
    return number;
}

std::vector<std::string_view> cuda_version_packages() {
    std::vector<std::string_view> names;
    for (const auto& package : row_of(Accelerator::Nvidia).toolkit_packages) {
        if (package.says != ToolkitPackage::Says::AtLeast) names.push_back(package.name);
    }
    return names;
}

bool tells_cuda_version(std::string_view name) {
    const auto* package = row_of(Accelerator::Nvidia).find_toolkit_package(name);
    return package != nullptr && package->says != ToolkitPackage::Says::AtLeast;
}

bool is_part_of_cuda(std::string_view name) { return row_of(Accelerator::Nvidia).has_part(name); }

bool is_for_building(std::string_view name) {
    constexpr auto kCompilers = std::to_array<std::string_view>(
        {"cuda-compiler", "cuda-toolkit", "cuda-nvcc", "cuda-nvvm", "cuda-crt", "cuda-cccl"});
    return begins_with_one_of(name, kCompilers) ||
           (is_part_of_cuda(name) && (name.find("-dev") != std::string_view::npos ||
                                      name.find("-static") != std::string_view::npos));
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
