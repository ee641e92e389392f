// A stand-in for libcuda.so.1, steered by environment variables:
//   FAKE_CUDA_VERSION=12040      what cuDriverGetVersion says
//   FAKE_CUDA_INIT=0             what cuInit returns
//   FAKE_CUDA_DEVICES=9.0:81559:NVIDIA H100,7.5:15109:Tesla T4
//                                capability, MiB and name of each; "fail" is one that answers
//                                errors
//   FAKE_CUDA_DO=hang-version|hang-init|hang-device|crash-version|crash-init|exit-version|exit-init|chatter|helper
//                                chatter: prints to standard output; helper: leaves a process
//                                behind
// Compiled with FAKE_CUDA_STUB it is the stub that toolkits ship for linking.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

std::string setting(const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return value == nullptr ? otherwise : value;
}

bool told_to(const char* what) { return setting("FAKE_CUDA_DO", "") == what; }

[[noreturn]] void hang() {
    for (;;) ::pause();
}

std::vector<std::string> devices() {
    std::vector<std::string> found;
    std::string rest = setting("FAKE_CUDA_DEVICES", "9.0:81559:NVIDIA H100 80GB HBM3");
    while (!rest.empty()) {
        const auto comma = rest.find(',');
        found.push_back(rest.substr(0, comma));
        rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    }
    return found;
}

struct Device {
    int major = 0;
    int minor = 0;
    unsigned long mib = 0;
    std::string name;
};

/// False for a device that does not answer.
bool read_device(int ordinal, Device& device) {
    const auto text = devices().at(static_cast<std::size_t>(ordinal));
    if (text == "fail") return false;
    int used = 0;
    if (std::sscanf(
            text.c_str(), "%d.%d:%lu:%n", &device.major, &device.minor, &device.mib, &used) != 3)
        return false;
    device.name = text.substr(static_cast<std::size_t>(used));
    return true;
}

}  // namespace

// The names are NVIDIA's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

int cuDriverGetVersion(int* version);
int cuInit(unsigned flags);
int cuDeviceGetCount(int* count);
int cuDeviceGet(int* device, int ordinal);
int cuDeviceGetAttribute(int* value, int attribute, int device);
int cuDeviceGetName(char* name, int length, int device);
int cuDeviceTotalMem_v2(std::size_t* bytes, int device);

int cuDriverGetVersion(int* version) {
#ifdef FAKE_CUDA_STUB
    *version = 0;
    return 34;
#endif
    if (told_to("hang-version")) hang();
    if (told_to("crash-version")) std::abort();
    if (told_to("exit-version")) std::exit(0);
    *version = std::atoi(setting("FAKE_CUDA_VERSION", "12040").c_str());
    return 0;
}

int cuInit(unsigned /*flags*/) {
    if (told_to("hang-init")) hang();
    if (told_to("crash-init")) std::abort();
    if (told_to("exit-init")) std::exit(3);
    if (told_to("chatter")) {
        std::printf("driver 99990\nhello from the driver\n");
        std::fflush(stdout);
    }
    if (told_to("helper") && ::fork() == 0) {
        ::sleep(20);
        ::_exit(0);
    }
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (visible != nullptr) return 100;
    // Devices come in the order that this asks for.
    if (setting("CUDA_DEVICE_ORDER", "") != "PCI_BUS_ID") return 100;
    return std::atoi(setting("FAKE_CUDA_INIT", "0").c_str());
}

int cuDeviceGetCount(int* count) {
    *count = static_cast<int>(devices().size());
    return 0;
}

int cuDeviceGet(int* device, int ordinal) {
    if (ordinal > 0 && told_to("hang-device")) hang();
    *device = ordinal;
    return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
    Device found;
    if (!read_device(device, found)) return 999;
    *value = attribute == 75 ? found.major : found.minor;
    return attribute == 75 || attribute == 76 ? 0 : 1;
}

int cuDeviceGetName(char* name, int length, int device) {
    Device found;
    if (!read_device(device, found)) return 999;
    std::snprintf(name, static_cast<std::size_t>(length), "%s", found.name.c_str());
    return 0;
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
    Device found;
    if (!read_device(device, found)) return 999;
    *bytes = std::size_t{found.mib} << 20U;
    return 0;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
