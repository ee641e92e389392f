// A stand-in for libze_loader.so.1 with two drivers. A detector gets no variables of ours, so that
// a file beside the library steers it, fake_ze.txt, with one of these words in it:
//   none   zeInit says that there is no driver        fail    zeDriverGet fails
//   hang   zeInit does not return                     crash   nor does it here
//   old    the driver refuses a chain of structures   chatter prints to standard output

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

namespace {

// The interface's structures, as far as they are filled.
struct Base {
    std::uint32_t type;
    Base* next;
};
struct Device {
    const char* name;
    std::uint32_t kind, vendor, ip;
    std::uint64_t mib;
};
// A GPU, the NPU beside it, and another vendor's GPU of the second driver.
constexpr Device kDevices[] = {
    {"Intel(R) Data Center GPU Max 1550", 1, 0x8086, (12U << 22U) | (60U << 14U) | 7U, 65536},
    {"Intel(R) AI Boost", 5, 0x8086, 0, 0},
    {"Another GPU", 1, 0x1234, 0, 1024}};

bool told_to(const char* what) {
    Dl_info info{};
    ::dladdr(reinterpret_cast<void*>(&told_to), &info);
    std::string path = info.dli_fname;
    std::ifstream file(path.substr(0, path.rfind('/')) + "/fake_ze.txt");
    std::string word;
    file >> word;
    return word == what;
}

// A handle is a place in here.
char handles[8];
void* handle(std::size_t number) { return &handles[number]; }
std::size_t number(void* handle) {
    return static_cast<std::size_t>(static_cast<char*>(handle) - handles);
}

void put(void* at, std::size_t offset, const void* value, std::size_t size) {
    std::memcpy(static_cast<char*>(at) + offset, value, size);
}

/// As lists are told: the length, and as many as fit.
void tell(std::uint32_t* count, void** items, std::size_t first, std::uint32_t length) {
    if (items == nullptr) {
        *count = length;
        return;
    }
    *count = std::min(*count, length);
    for (std::uint32_t i = 0; i < *count; ++i) items[i] = handle(first + i);
}

}  // namespace

// The names are Level Zero's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

std::uint32_t zeInit(std::uint32_t flags);
std::uint32_t zeDriverGet(std::uint32_t* count, void** drivers);
std::uint32_t zeDriverGetApiVersion(void* driver, std::uint32_t* version);
std::uint32_t zeDeviceGet(void* driver, std::uint32_t* count, void** devices);
std::uint32_t zeDeviceGetProperties(void* device, void* properties);
std::uint32_t zeDeviceGetMemoryProperties(void* device, std::uint32_t* count, void* memories);

std::uint32_t zeInit(std::uint32_t flags) {
    if (told_to("none")) return 0x78000001;
    if (told_to("crash")) std::abort();
    while (told_to("hang")) ::pause();
    if (told_to("chatter")) {
        std::puts("gpkg_detected: 1\nvirtual_packages: [{name: __level_zero, version: 99.0}]");
        std::fflush(stdout);
    }
    return flags == 1 ? 0 : 0x78000004;
}

std::uint32_t zeDriverGet(std::uint32_t* count, void** drivers) {
    if (told_to("fail")) return 0x70000001;
    tell(count, drivers, 1, 2);
    return 0;
}

std::uint32_t zeDriverGetApiVersion(void* driver, std::uint32_t* version) {
    *version = (1U << 16U) | (number(driver) == 1 ? 6U : 3U);
    return 0;
}

std::uint32_t zeDeviceGet(void* driver, std::uint32_t* count, void** devices) {
    if (number(driver) == 1)
        tell(count, devices, 0, 2);
    else
        tell(count, devices, 2, 1);
    return 0;
}

std::uint32_t zeDeviceGetProperties(void* device, void* properties) {
    const auto& is = kDevices[number(device)];
    auto* base = static_cast<Base*>(properties);
    if (base->type != 0x3) return 0x78000004;
    if (base->next != nullptr && told_to("old")) return 0x78000004;
    put(properties, 16, &is.kind, 4);
    put(properties, 20, &is.vendor, 4);
    put(properties, 112, is.name, std::strlen(is.name) + 1);
    if (base->next != nullptr && base->next->type == 0x1000f) put(base->next, 16, &is.ip, 4);
    return 0;
}

std::uint32_t zeDeviceGetMemoryProperties(void* device, std::uint32_t* count, void* memories) {
    if (memories == nullptr) {
        *count = 2;
        return 0;
    }
    const std::uint64_t half = (kDevices[number(device)].mib << 20U) / 2;
    for (std::uint32_t i = 0; i < *count; ++i) put(memories, std::size_t{296} * i + 32, &half, 8);
    return 0;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
