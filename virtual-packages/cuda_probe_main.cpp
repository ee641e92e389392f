#include "virtual-packages/cuda.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace gpkg::virtual_packages {
namespace {

// NVIDIA's driver API: every function returns a CUresult, an int enumeration; a CUdevice is an int.
constexpr int kStubLibrary = 34;
constexpr int kComputeCapabilityMajor = 75;
constexpr int kComputeCapabilityMinor = 76;
/// Stubs answer nonsense: nothing older than CUDA 1.0 or newer than 99.9 is a version.
constexpr int kOldestDriver = 1000;
constexpr int kNewestDriver = 99990;

struct CloseLibrary {
    void operator()(void* library) const { ::dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

/// Writes the report to where standard output went, which the driver may not disturb.
class Lines {
public:
    Lines() : fd_(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) {
        const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nowhere >= 0) ::dup2(nowhere, STDOUT_FILENO);
    }

    void say(std::string line) const {
        std::ranges::replace_if(
            line, [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
        line += '\n';
        std::string_view rest = line;
        while (!rest.empty()) {
            const auto count = ::write(fd_, rest.data(), rest.size());
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) ::_exit(1);  // nobody listens any more
            rest.remove_prefix(static_cast<std::size_t>(count));
        }
    }

private:
    int fd_;
};

template <typename Function>
Function* function_of(const Library& library, const char* name) {
    return reinterpret_cast<Function*>(::dlsym(library.get(), name));
}

/// The file the loader took, for a name without a slash.
std::string loaded_path(void* function, const std::string& name) {
    Dl_info info{};
    if (::dladdr(function, &info) != 0 && info.dli_fname != nullptr) return info.dli_fname;
    return name;
}

/// The library, after it told a version that can be true.
Library open_driver(const std::string& name, const Lines& lines) {
    const auto reject = [&](const std::string& reason) {
        lines.say(fmt::format("rejected {}: {}", name, reason));
        return Library();
    };
    Library library(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (!library) {
        const char* told = ::dlerror();
        const std::string reason = told == nullptr ? "cannot be loaded" : told;
        // Not being there is normal. A missing library is told with its name in front, so this
        // does not hide that a library of the driver's own is missing.
        if (reason.starts_with(name + ": cannot open shared object file")) return library;
        return reject(reason);
    }
    auto* get_version = function_of<int(int*)>(library, "cuDriverGetVersion");
    if (get_version == nullptr) return reject("has no cuDriverGetVersion");
    int version = 0;
    const int code = get_version(&version);
    if (code == kStubLibrary) return reject("is a stub library (error 34)");
    if (code != 0) return reject(fmt::format("cuDriverGetVersion returned {}", code));
    if (version < kOldestDriver || version > kNewestDriver)
        return reject(fmt::format("claims the implausible CUDA version {}", version));
    lines.say("library " + loaded_path(reinterpret_cast<void*>(get_version), name));
    lines.say(fmt::format("driver {}", version));
    return library;
}

void tell_device(const Library& library, int ordinal, const Lines& lines) {
    auto* get = function_of<int(int*, int)>(library, "cuDeviceGet");
    auto* attribute = function_of<int(int*, int, int)>(library, "cuDeviceGetAttribute");
    auto* get_name = function_of<int(char*, int, int)>(library, "cuDeviceGetName");
    auto* get_memory = function_of<int(std::size_t*, int)>(library, "cuDeviceTotalMem_v2");
    int device = 0;
    int major = 0;
    int minor = 0;
    if (get == nullptr || attribute == nullptr || get(&device, ordinal) != 0 ||
        attribute(&major, kComputeCapabilityMajor, device) != 0 ||
        attribute(&minor, kComputeCapabilityMinor, device) != 0)
        return;
    std::size_t memory = 0;
    if (get_memory == nullptr || get_memory(&memory, device) != 0) memory = 0;
    std::array<char, 256> name{};
    if (get_name == nullptr ||
        get_name(name.data(), static_cast<int>(name.size()) - 1, device) != 0)
        name[0] = '\0';
    lines.say(fmt::format(
        "device {} cc {} {} memory {} name {}", ordinal, major, minor, memory, name.data()));
}

void tell_devices(const Library& library, const Lines& lines) {
    auto* init = function_of<int(unsigned)>(library, "cuInit");
    auto* get_count = function_of<int(int*)>(library, "cuDeviceGetCount");
    if (init == nullptr || get_count == nullptr) return;
    const int code = init(0);
    lines.say(fmt::format("init {}", code));
    int count = 0;
    if (code != 0 || get_count(&count) != 0) return;
    lines.say(fmt::format("devices {}", count));
    for (int ordinal = 0; ordinal < count; ++ordinal) tell_device(library, ordinal, lines);
}

}  // namespace

void cuda_probe_main(std::span<char* const> libraries) {
    // Whoever asked may be gone before the driver answers, and a crash is nobody's core file.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);

    const Lines lines;
    lines.say("probe");
    for (const char* name : libraries) {
        Library library = open_driver(name, lines);
        if (!library) continue;
        tell_devices(library, lines);
        (void)library.release();  // closing a driver that works can hang as well
        break;
    }
    lines.say("end");
    // No exit handlers: those of a driver can hang.
    ::_exit(0);
}

}  // namespace gpkg::virtual_packages
