#include "virtual-packages/host.hpp"

#include "libcore/fs/own_program.hpp"
#include "virtual-packages/confine.hpp"
#include "virtual-packages/cuda.hpp"

#include <array>
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

/// Of the library that this process runs with.
std::optional<std::string> running_glibc() {
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

/// The machine's libc.so.6, found by way of the loader that programs of this kind name: it lies
/// beside that, or where distributions keep it. Empty where there is none, as where the C library
/// is musl.
fs::path libc_of_machine() {
#if defined(__x86_64__)
    const std::array<fs::path, 3> loaders{"/lib64/ld-linux-x86-64.so.2"};
#elif defined(__aarch64__)
    const std::array<fs::path, 3> loaders{"/lib/ld-linux-aarch64.so.1"};
#elif defined(__powerpc64__)
    const std::array<fs::path, 3> loaders{"/lib64/ld64.so.2"};
#else
    const std::array<fs::path, 3> loaders{"/lib/ld-linux.so.2", "/lib/ld64.so.1"};
#endif
    for (const auto& loader : loaders) {
        std::error_code code;
        const auto place = fs::canonical(loader, code);
        if (code) continue;
        auto library = place.parent_path() / "libc.so.6";
        if (fs::is_regular_file(library, code)) return library;
    }
    return {};
}

/// A program that brings its own C library asks for that of others.
void set_glibc(Host& host) {
    if (!has_own_c_library()) {
        host.glibc = running_glibc();
        host.glibc_source = "confstr _CS_GNU_LIBC_VERSION";
        return;
    }
    const auto library = libc_of_machine();
    host.glibc_source = library.native();
    if (library.empty()) return;
    constexpr std::size_t kMost = std::size_t{64} << 20U;
    if (const auto bytes = read_file(library, kMost)) host.glibc = glibc_version_in(*bytes);
}

/// Installed in bin/ with libexec/ beside it; built in a folder that has libexec/ in it.
fs::path detectors_of_this_program() {
    std::error_code code;
    const auto folder = own_program().value_or(fs::path()).parent_path();
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

std::optional<std::string> glibc_version_in(std::string_view library) {
    // "GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\n"
    constexpr std::string_view kName = "GNU C Library ";
    constexpr std::string_view kBefore = " release version ";
    const auto name = library.find(kName);
    if (name == std::string_view::npos) return std::nullopt;
    const auto line = library.substr(name, library.substr(name).find('\n'));
    const auto before = line.find(kBefore);
    if (before == std::string_view::npos) return std::nullopt;
    const auto version = line.substr(before + kBefore.size());
    const auto end = version.find_first_not_of("0123456789.");
    auto text = std::string(version.substr(0, end));
    while (text.ends_with('.')) text.pop_back();
    if (text.empty()) return std::nullopt;
    return text;
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
    set_glibc(host);
    const auto program = own_program().value_or("/proc/self/exe").native();
    host.cuda.program = {program, kCudaProbeVerb};
    host.cuda.libraries = usual_cuda_libraries();
    host.detectors.folders = {detectors_of_this_program()};
    host.detectors.program = {program, kConfineVerb};
    host.now = [] { return std::chrono::system_clock::now(); };
    return host;
}

}  // namespace gpkg::virtual_packages
