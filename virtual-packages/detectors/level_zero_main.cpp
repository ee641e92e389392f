// gpkg-detect-level-zero: what Level Zero's loader and Intel's driver below it say of the GPUs, as
// a detector's answer. A program of its own, since drivers hang and crash; gpkg runs it confined
// (virtual-packages/detectors.hpp).
//
// Level Zero is the interface of oneapi-src.github.io/level-zero-spec. A handle is a pointer, a
// result an int, 0 for success; lists are asked for twice, first for their length. A structure
// begins with its type and a pointer to the next of a chain.

#include "libcore/base/shared_library.hpp"
#include "libcore/yaml/node.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using Handle = void*;

constexpr std::uint32_t kGpuOnly = 1;             // ZE_INIT_FLAG_GPU_ONLY
constexpr std::uint32_t kNoDriver = 0x78000001;   // ZE_RESULT_ERROR_UNINITIALIZED
constexpr std::uint32_t kDeviceProperties = 0x3;  // ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES
constexpr std::uint32_t kMemoryProperties = 0x7;  // ..._DEVICE_MEMORY_PROPERTIES
constexpr std::uint32_t kIpVersion = 0x1000f;     // ..._DEVICE_IP_VERSION_EXT
constexpr std::uint32_t kGpu = 1;                 // ZE_DEVICE_TYPE_GPU
constexpr std::uint32_t kIntel = 0x8086;          // PCI's number
constexpr std::uint32_t kMostHandles = 4096;

struct IpVersion {
    std::uint32_t type = kIpVersion;
    void* next = nullptr;
    std::uint32_t version = 0;
};

struct DeviceProperties {
    std::uint32_t type = kDeviceProperties;
    void* next = nullptr;
    std::uint32_t kind = 0;
    std::uint32_t vendor = 0;
    std::uint32_t device = 0;
    std::uint32_t flags = 0;
    std::uint32_t subdevice = 0;
    std::uint32_t clock = 0;
    std::uint64_t most_memory_at_once = 0;
    std::array<std::uint32_t, 7> counts{};  // hardware contexts to slices
    std::uint64_t timer_resolution = 0;
    std::array<std::uint32_t, 2> timer_bits{};
    std::array<std::uint8_t, 16> uuid{};
    std::array<char, 256> name{};
};

struct MemoryProperties {
    std::uint32_t type = kMemoryProperties;
    void* next = nullptr;
    std::uint32_t flags = 0;
    std::uint32_t clock = 0;
    std::uint32_t bus_width = 0;
    std::uint64_t bytes = 0;
    std::array<char, 256> name{};
};

static_assert(sizeof(IpVersion) == 24 && sizeof(DeviceProperties) == 368 &&
              sizeof(MemoryProperties) == 296);

struct Functions {
    std::uint32_t (*init)(std::uint32_t) = nullptr;
    std::uint32_t (*drivers)(std::uint32_t*, Handle*) = nullptr;
    std::uint32_t (*api_version)(Handle, std::uint32_t*) = nullptr;
    std::uint32_t (*devices)(Handle, std::uint32_t*, Handle*) = nullptr;
    std::uint32_t (*properties)(Handle, DeviceProperties*) = nullptr;
    std::uint32_t (*memories)(Handle, std::uint32_t*, MemoryProperties*) = nullptr;
};

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    ::_exit(1);
}

void check(const char* step, std::uint32_t result) {
    if (result != 0) give_up(fmt::format("{} returned {:#x}", step, result));
}

Functions load() {
    gpkg::SharedLibrary library("libze_loader.so.1");
    Functions ze;
    library.find(ze.init, "zeInit");
    library.find(ze.drivers, "zeDriverGet");
    library.find(ze.api_version, "zeDriverGetApiVersion");
    library.find(ze.devices, "zeDeviceGet");
    library.find(ze.properties, "zeDeviceGetProperties");
    library.find(ze.memories, "zeDeviceGetMemoryProperties");
    if (!library.problem().empty()) give_up(library.problem());
    return ze;
}

/// What `ask`, called with a length and a place, gives a list of.
template <typename Item, typename Ask>
std::vector<Item> list_of(const char* step, const Ask& ask) {
    std::uint32_t count = 0;
    check(step, ask(&count, static_cast<Item*>(nullptr)));
    std::vector<Item> items(std::min(count, kMostHandles));
    count = static_cast<std::uint32_t>(items.size());
    if (count > 0) check(step, ask(&count, items.data()));
    items.resize(std::min<std::size_t>(count, items.size()));
    return items;
}

std::uint64_t memory_mib(const Functions& ze, Handle device) {
    std::uint64_t bytes = 0;
    const auto memories = list_of<MemoryProperties>(
        "zeDeviceGetMemoryProperties",
        [&](auto* count, auto* items) { return ze.memories(device, count, items); });
    for (const auto& memory : memories) bytes += memory.bytes;
    return bytes >> 20U;
}

/// "12.60.7": architecture, release and revision of the graphics core.
std::string architecture(std::uint32_t ip) {
    return fmt::format("{}.{}.{}", ip >> 22U, (ip >> 14U) & 0xFFU, ip & 0x3FU);
}

/// The device as an item of the answer's list; empty for what is no GPU of Intel's.
std::string gpu_text(const Functions& ze, Handle device) {
    IpVersion ip;
    DeviceProperties properties;
    properties.next = &ip;
    // Drivers from before the extension may refuse a chain.
    if (ze.properties(device, &properties) != 0) {
        properties = {};
        check("zeDeviceGetProperties", ze.properties(device, &properties));
    }
    if (properties.kind != kGpu || properties.vendor != kIntel) return {};
    properties.name.back() = '\0';
    auto text = fmt::format("  - vendor: intel\n    name: {}\n    memory_mib: {}\n",
                            gpkg::yaml::quote(properties.name.data()),
                            memory_mib(ze, device));
    if (ip.version != 0)
        text += fmt::format("    architecture: \"{}\"\n", architecture(ip.version));
    return text;
}

/// The newest interface that a driver has, and the GPUs of all.
std::string answer(const Functions& ze) {
    std::string text = "gpkg_detected: 1\n";
    const auto result = ze.init(kGpuOnly);
    if (result == kNoDriver) return text;  // a loader alone
    check("zeInit", result);
    std::uint32_t newest = 0;
    std::string gpus;
    for (auto* driver : list_of<Handle>("zeDriverGet", ze.drivers)) {
        std::uint32_t version = 0;
        check("zeDriverGetApiVersion", ze.api_version(driver, &version));
        newest = std::max(newest, version);
        const auto devices = list_of<Handle>("zeDeviceGet", [&](auto* count, auto* items) {
            return ze.devices(driver, count, items);
        });
        for (auto* device : devices) gpus += gpu_text(ze, device);
    }
    if (newest != 0)
        text += fmt::format("virtual_packages:\n  - name: __level_zero\n    version: \"{}.{}\"\n",
                            newest >> 16U,
                            newest & 0xFFFFU);
    if (!gpus.empty()) text += "gpus:\n" + gpus;
    return text;
}

}  // namespace

int main() {
    // What the driver prints is not taken for the answer.
    const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    const auto text = answer(load());
    if (::write(out, text.data(), text.size()) != static_cast<ssize_t>(text.size())) ::_exit(1);
    ::_exit(0);  // no exit handlers: those of a driver can hang
}
