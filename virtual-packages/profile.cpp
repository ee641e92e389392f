#include "virtual-packages/profile.hpp"

#include "libcore/base/text.hpp"
#include "virtual-packages/amd.hpp"
#include "virtual-packages/cpu.hpp"
#include "virtual-packages/cuda.hpp"
#include "virtual-packages/detectors.hpp"
#include "virtual-packages/version_text_internal.hpp"

#include <utility>

namespace gpkg::virtual_packages {
namespace {

/// "2.36" of "2.36" and of "2.36.9000".
std::optional<std::string> major_minor(std::string_view text) {
    const auto mainline = leading_version(text, 2);
    if (mainline.empty()) return std::nullopt;
    return std::string(mainline);
}

/// The version of NVIDIA's kernel module: the loaded one's, which a library that was updated since
/// then need not have.
std::optional<Fact> kernel_driver(const Host& host) {
    const auto text = read_file(host.root / "sys/module/nvidia/version");
    const auto version = text ? trim(*text) : std::string_view{};
    if (version.empty() || leading_version(version, 4) != version) return std::nullopt;
    return Fact{std::string(version), "/sys/module/nvidia/version"};
}

void add_cuda(const Host& host, DetectedProfile& detected) {
    auto report = probe_cuda(host);
    detected.is_nvidia_known = report.warnings.empty();
    append(detected.warnings, std::move(report.warnings));
    auto& profile = detected.profile;
    if (!report.driver) return;
    auto source = report.library + " cuDriverGetVersion";
    if (report.from_cache) source += ", cached";
    profile.cuda = Fact{cuda_version_text(*report.driver), source};
    profile.gpus.insert(profile.gpus.begin(), report.devices.begin(), report.devices.end());
}

void add_others(const Host& host,
                const std::vector<std::string>& decided,
                DetectedProfile& detected) {
    auto found = ask_detectors(host, decided);
    detected.profile.others = std::move(found.packages);
    auto& gpus = detected.profile.gpus;
    gpus.insert(gpus.end(), found.gpus.begin(), found.gpus.end());
    append(detected.warnings, std::move(found.warnings));
    append(detected.notes, std::move(found.notes));
}

/// What costs next to nothing: no program runs for it and no library is loaded.
DetectedProfile detect_in_files(const Host& host) {
    DetectedProfile detected;
    auto& profile = detected.profile;
    profile.platform = host.native_platform;
    profile.microarchitecture = detect_microarchitecture(host);

    if (host.native_platform.starts_with("linux-")) {
        if (const auto kernel = leading_version(host.kernel_release, 4); !kernel.empty())
            profile.linux_ = Fact{std::string(kernel), "uname"};
        else if (!host.kernel_release.empty())
            detected.warnings.push_back("uname: no kernel version in \"" + host.kernel_release +
                                        "\"");
        if (!host.glibc)
            profile.glibc = Fact{"", "the C library of this machine"};
        else if (auto version = major_minor(*host.glibc))
            profile.glibc = Fact{*std::move(version), host.glibc_source};
    }

    auto amd = detect_amd(host);
    profile.amdgpu = std::move(amd.driver);
    profile.rocm = std::move(amd.rocm);
    profile.gpus = std::move(amd.devices);
    detected.is_amd_known = amd.warnings.empty();
    append(detected.warnings, std::move(amd.warnings));
    return detected;
}

}  // namespace

void describe(const Host& host, HardwareProfile& profile) {
    profile.cpu_model = detect_cpu_model(host);
    profile.nvidia_driver = kernel_driver(host);
}

DetectedProfile detect_profile(const Host& host, const Decided& decided) {
    auto detected = detect_in_files(host);
    if (!decided.cuda) add_cuda(host, detected);
    add_others(host, decided.others, detected);
    return detected;
}

}  // namespace gpkg::virtual_packages
