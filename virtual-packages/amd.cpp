#include "virtual-packages/amd.hpp"

#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "libcore/hardware/gpu_targets.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <system_error>

namespace gpkg::virtual_packages {
namespace {

constexpr std::string_view kTopology = "sys/class/kfd/kfd/topology/nodes";

bool is_number(std::string_view text) { return whole_number<std::uint64_t>(text).has_value(); }

/// Folders below `path` whose name is `prefix` and a number, in the order of the numbers.
std::vector<fs::path> numbered_folders(const fs::path& path, std::string_view prefix = "") {
    std::vector<std::pair<std::uint64_t, fs::path>> found;
    std::error_code code;
    for (fs::directory_iterator entry(path, code), end; !code && entry != end;
         entry.increment(code)) {
        const auto name = entry->path().filename().native();
        if (!name.starts_with(prefix)) continue;
        if (const auto number =
                whole_number<std::uint64_t>(std::string_view(name).substr(prefix.size())))
            found.emplace_back(*number, entry->path());
    }
    std::ranges::sort(found);
    std::vector<fs::path> folders;
    folders.reserve(found.size());
    for (auto& [number, folder] : found) folders.push_back(std::move(folder));
    return folders;
}

/// "key value" lines of sysfs.
std::map<std::string, std::uint64_t, std::less<>> read_properties(const fs::path& path) {
    std::map<std::string, std::uint64_t, std::less<>> found;
    const auto text = read_file(path);
    if (!text) return found;
    for (const auto line : split(*text, '\n')) {
        const auto space = line.find(' ');
        if (space == std::string_view::npos) continue;
        if (const auto value = whole_number<std::uint64_t>(trim(line.substr(space))))
            found.emplace(line.substr(0, space), *value);
    }
    return found;
}

std::uint64_t value_or_zero(const std::map<std::string, std::uint64_t, std::less<>>& properties,
                            std::string_view key) {
    const auto found = properties.find(key);
    return found == properties.end() ? 0 : found->second;
}

/// The device's own memory: the banks that are frame buffer, visible to the CPU or not.
std::uint64_t memory_mib(const fs::path& node) {
    std::uint64_t bytes = 0;
    for (const auto& bank : numbered_folders(node / "mem_banks")) {
        const auto properties = read_properties(bank / "properties");
        const auto heap = value_or_zero(properties, "heap_type");
        if (heap == 1 || heap == 2) bytes += value_or_zero(properties, "size_in_bytes");
    }
    return bytes >> 20U;
}

std::vector<GpuDevice> kfd_devices(const Host& host) {
    std::vector<GpuDevice> devices;
    for (const auto& node : numbered_folders(host.root / kTopology)) {
        const auto properties = read_properties(node / "properties");
        const auto version = value_or_zero(properties, "gfx_target_version");
        const auto gfx =
            gfx_name(static_cast<std::uint32_t>(std::min<std::uint64_t>(version, UINT32_MAX)));
        if (!gfx) continue;
        const auto simds = value_or_zero(properties, "simd_count");
        const auto per_unit = value_or_zero(properties, "simd_per_cu");
        const auto units = per_unit == 0 ? 0 : simds / per_unit;
        devices.push_back({GpuVendor::Amd,
                           "",
                           *gfx,
                           memory_mib(node),
                           static_cast<std::uint32_t>(std::min<std::uint64_t>(units, UINT32_MAX))});
    }
    return devices;
}

/// The display class knows devices that KFD does not offer for computing.
bool drm_has_amdgpu(const Host& host) {
    for (const auto& card : numbered_folders(host.root / "sys/class/drm", "card")) {
        const auto vendor = read_file(card / "device/vendor");
        std::error_code code;
        const auto driver = fs::read_symlink(card / "device/driver", code);
        if (vendor && to_lower(trim(*vendor)) == "0x1002" && !code && driver.filename() == "amdgpu")
            return true;
    }
    return false;
}

/// "6.4.1-83" in $ROCM_PATH/.info/version is ROCm 6.4.1.
std::optional<Fact> rocm_version(const Host& host) {
    const auto set = host.env("ROCM_PATH");
    const fs::path folder = set && !set->empty() ? fs::path(*set) : fs::path("/opt/rocm");
    const auto path = folder / ".info/version";
    const auto text = read_file(host.root / path.relative_path());
    if (!text) return std::nullopt;
    const auto line = trim(split(*text, '\n').front());
    const auto version = line.substr(0, line.find('-'));
    const auto parts = split(version, '.');
    if (parts.size() < 2 || !std::ranges::all_of(parts, is_number)) return std::nullopt;
    return Fact{std::string(version), path.native()};
}

}  // namespace

AmdFacts detect_amd(const Host& host) {
    AmdFacts facts;
    facts.devices = kfd_devices(host);
    facts.rocm = rocm_version(host);
    if (!facts.devices.empty()) {
        facts.driver = Fact{"", "/" + std::string(kTopology)};
        std::error_code code;
        if (!fs::exists(host.root / "dev/kfd", code))
            facts.warnings.emplace_back(
                "/dev/kfd is missing: the AMD GPU cannot be used for computing "
                "(in a container, pass the device)");
    } else if (drm_has_amdgpu(host)) {
        facts.driver = Fact{"", "/sys/class/drm"};
    }
    return facts;
}

}  // namespace gpkg::virtual_packages
