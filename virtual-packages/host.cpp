#include "virtual-packages/host.hpp"

#include "virtual-packages/confine.hpp"
#include "virtual-packages/cuda.hpp"

#include <cstdlib>
#include <sys/utsname.h>
#include <system_error>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace gpkg::virtual_packages {
namespace {

#if defined(__x86_64__) || defined(__i386__)
CpuidRegisters ask_cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
    CpuidRegisters found;
    __cpuid_count(leaf, subleaf, found.eax, found.ebx, found.ecx, found.edx);
    return found;
}

std::uint64_t ask_xcr0() {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (std::uint64_t{high} << 32U) | low;
}
#endif

/// The platform this program was built for, which is that of the environments it runs.
std::string built_for() {
#if defined(__x86_64__)
    return "linux-64";
#elif defined(__i386__)
    return "linux-32";
#elif defined(__aarch64__)
    return "linux-aarch64";
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
    return "linux-ppc64le";
#elif defined(__riscv) && __riscv_xlen == 64
    return "linux-riscv64";
#elif defined(__s390x__)
    return "linux-s390x";
#else
#error "a platform that conda has no name for in gpkg"
#endif
}

std::optional<std::string> glibc_version() {
#ifdef _CS_GNU_LIBC_VERSION
    std::string text(64, '\0');
    const auto size = ::confstr(_CS_GNU_LIBC_VERSION, text.data(), text.size());
    constexpr std::string_view kPrefix = "glibc ";
    if (size == 0 || size > text.size() || !text.starts_with(kPrefix)) return std::nullopt;
    return text.substr(kPrefix.size(), size - 1 - kPrefix.size());
#else
    return std::nullopt;
#endif
}

/// Installed in bin/ with libexec/ beside it; built in a folder that has libexec/ in it.
fs::path detectors_of_this_program() {
    std::error_code code;
    const auto folder = fs::read_symlink("/proc/self/exe", code).parent_path();
    constexpr const char* kBelow = "libexec/gpkg/detectors";
    const auto installed = folder.parent_path() / kBelow;
    return fs::is_directory(installed, code) ? installed : folder / kBelow;
}

}  // namespace

std::vector<std::string> usual_cuda_libraries() {
    return {
        "libcuda.so.1",
        "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
        "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
        "/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1",
        "/usr/lib/aarch64-linux-gnu/nvidia/current/libcuda.so.1",
        "/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1",
        "/usr/lib64/libcuda.so.1",
        "/usr/lib64/nvidia/libcuda.so.1",
        "/usr/local/nvidia/lib64/libcuda.so.1",
        "/run/opengl-driver/lib/libcuda.so.1",
        "/usr/lib/wsl/lib/libcuda.so.1",
    };
}

Host this_machine() {
    Host host;
    host.native_platform = built_for();
    host.platform = host.native_platform;
    host.env = [](std::string_view name) -> std::optional<std::string> {
        const char* value = std::getenv(std::string(name).c_str());
        if (value == nullptr) return std::nullopt;
        return std::string(value);
    };
#if defined(__x86_64__) || defined(__i386__)
    host.cpuid = ask_cpuid;
    host.xcr0 = ask_xcr0;
#endif
    struct utsname names {};
    if (::uname(&names) == 0) host.kernel_release = names.release;
    host.glibc = glibc_version();
    host.cuda.program = {"/proc/self/exe", kCudaProbeVerb};
    host.cuda.libraries = usual_cuda_libraries();
    host.detectors.folders = {detectors_of_this_program()};
    host.detectors.program = {"/proc/self/exe", kConfineVerb};
    host.now = [] { return std::chrono::system_clock::now(); };
    return host;
}

}  // namespace gpkg::virtual_packages
