// The file form of a HardwareProfile: YAML, the same for a machine that was detected and one that
// was written by hand. Every key but `gpkg_profile` and `platform` may be left out: what is not
// said is unknown. A version may be `any`: it meets every lower bound.
//
//   gpkg_profile: 1            # the format's version
//   platform: linux-64
//   cpu:
//     model: AMD EPYC 9654 96-Core Processor
//     microarchitecture: zen4  # a name of archspec's
//   system:
//     glibc: "2.36"            # none: the C library is another one
//     linux: 6.1.0             # osx and windows likewise
//   nvidia:
//     driver: 550.54.14        # the kernel module's version
//     cuda: "12.4"             # the newest CUDA version the driver supports
//   amd:
//     driver: present          # the kernel driver offers a device
//     rocm: 6.4.1
//   gpus:
//     - vendor: nvidia         # amd or intel
//       name: NVIDIA H100 80GB HBM3
//       architecture: "9.0"    # compute capability; gfx90a for amd; intel's may be left out
//       memory_mib: 81559
//       compute_units: 110     # amd's
//   virtual_packages:          # what detectors beyond gpkg's own found
//     - name: __level_zero
//       version: "1.3"         # 0 when left out, like the build
//   origin: node gpu7 of Slurm, 2026-11-24   # for people
//   known_by: names            # nobody looked at the machine; names of a site's tell the facts
//
// What cannot be true together is an error: a GPU without its driver, a CPU or a system of another
// platform.

#include "libcore/base/text.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/spec/microarchitecture.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/yaml/node.hpp"
#include "virtual-packages/forms_internal.hpp"
#include "virtual-packages/profile.hpp"
#include "virtual-packages/version_text_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <utility>

namespace gpkg::virtual_packages {
namespace {

constexpr Form kProfileForm{
    "hardware profile", "gpkg_profile", "gpkg hardware export writes one", 100'000};

/// The map below `key`; null when it is left out.
Result<const yaml::Node*> find_map(const yaml::Node& parent,
                                   std::string_view key,
                                   std::initializer_list<std::string_view> known) {
    const auto* node = parent.find(key);
    if (node == nullptr || node->is_null()) return nullptr;
    if (!node->is_map())
        return node->fail(fmt::format("expected a map, found {}", node->kind_name()));
    GPKG_CHECK(check_keys(*node, known));
    return node;
}

/// A version of up to four numbers, or "any". `least`: a version of glibc's or a kernel's has two.
Result<std::optional<Fact>> find_version(const yaml::Node* parent,
                                         std::string_view key,
                                         const std::string& source,
                                         int least = 1) {
    GPKG_TRY(const auto text, find_text(parent, key));
    if (!text) return std::nullopt;
    const bool is_numbers = !text->empty() && leading_version(*text, 4, least) == *text;
    if (!is_numbers && *text != kAnyVersion)
        return parent->find(key)->fail(
            fmt::format("expected a version such as {}, or the word 'any', found \"{}\"",
                        least > 1 ? "2.28" : "12.4",
                        *text));
    return Fact{*text, source};
}

Result<void> read_cpu_facts(const yaml::Node& root,
                            const std::string& source,
                            HardwareProfile& profile) {
    GPKG_TRY(const auto* cpu, find_map(root, "cpu", {"model", "microarchitecture"}));
    GPKG_TRY(const auto model, find_text(cpu, "model"));
    if (model) profile.cpu_model = Fact{*model, source};
    GPKG_TRY(const auto name, find_text(cpu, "microarchitecture"));
    if (!name) return {};
    if (!is_microarchitecture(*name)) {
        const auto near = near_names(*name, microarchitecture_names());
        return cpu->find("microarchitecture")
            ->fail("unknown microarchitecture " + *name,
                   near.empty() ? "use an archspec name; for a newer CPU, an older one that it is "
                                  "compatible with, e.g. x86_64_v4 or armv8.2a"
                                : "did you mean " + join_or(near) + "?");
    }
    profile.microarchitecture = Fact{*name, source};
    return {};
}

Result<void> read_system(const yaml::Node& root,
                         const std::string& source,
                         HardwareProfile& profile) {
    GPKG_TRY(const auto* system, find_map(root, "system", {"glibc", "linux", "osx", "windows"}));
    GPKG_TRY(const auto glibc, find_text(system, "glibc"));
    if (glibc == "none") {
        profile.glibc = Fact{"", source};
    } else {
        GPKG_TRY(profile.glibc, find_version(system, "glibc", source, 2));
    }
    GPKG_TRY(profile.linux_, find_version(system, "linux", source, 2));
    GPKG_TRY(profile.osx, find_version(system, "osx", source));
    GPKG_TRY(profile.windows, find_version(system, "windows", source));
    return {};
}

Result<void> read_accelerators(const yaml::Node& root,
                               const std::string& source,
                               HardwareProfile& profile) {
    GPKG_TRY(const auto* nvidia, find_map(root, "nvidia", {"driver", "cuda"}));
    GPKG_TRY(profile.nvidia_driver, find_version(nvidia, "driver", source));
    GPKG_TRY(profile.cuda, find_version(nvidia, "cuda", source));
    GPKG_TRY(const auto* amd, find_map(root, "amd", {"driver", "rocm"}));
    GPKG_TRY(const auto driver, find_text(amd, "driver"));
    if (driver == "present")
        profile.amdgpu = Fact{"", source};
    else if (driver && driver != "absent")
        return amd->find("driver")->fail("expected present or absent, found \"" + *driver + "\"");
    GPKG_TRY(profile.rocm, find_version(amd, "rocm", source));

    GPKG_TRY(const auto* gpus, find_list(root, "gpus", "GPUs"));
    if (gpus == nullptr) return {};
    for (const auto& item : gpus->items()) {
        GPKG_TRY(auto gpu, read_gpu(item));
        profile.gpus.push_back(std::move(gpu));
    }
    return {};
}

Result<void> read_others(const yaml::Node& root,
                         const std::string& source,
                         HardwareProfile& profile) {
    GPKG_TRY(const auto* list, find_list(root, "virtual_packages", "virtual packages"));
    if (list == nullptr) return {};
    for (const auto& item : list->items()) {
        GPKG_TRY(auto package, read_virtual_package(item));
        const auto is_same = [&](const DetectedPackage& other) {
            return other.package.name == package.name;
        };
        if (std::ranges::any_of(profile.others, is_same))
            return item.fail(package.name + " is listed twice");
        profile.others.push_back({std::move(package), source});
    }
    return {};
}

Result<void> read_origin(const yaml::Node& root, HardwareProfile& profile) {
    GPKG_TRY(const auto origin, find_text(&root, "origin"));
    profile.origin = origin.value_or("");
    GPKG_TRY(const auto known_by, find_text(&root, "known_by"));
    if (known_by && known_by != "names")
        return root.find("known_by")->fail("expected names, found \"" + *known_by + "\"");
    profile.known_by_names = known_by.has_value();
    return {};
}

Result<void> check_cpu(const yaml::Node& root, const HardwareProfile& profile) {
    if (!profile.microarchitecture) return {};
    const auto& name = profile.microarchitecture->value;
    if (!is_of_another_platform(name, profile.platform)) return {};
    return root.find("cpu")
        ->find("microarchitecture")
        ->fail(fmt::format("{} is not a CPU type for {}", name, profile.platform));
}

Result<void> check_system(const yaml::Node& root, const HardwareProfile& profile) {
    const auto* system = root.find("system");
    if (system == nullptr || system->is_null()) return {};
    const auto os = profile.platform.substr(0, profile.platform.find('-'));
    for (const auto& [key, value] : system->entries()) {
        const auto of = key == "glibc" ? "linux" : key == "windows" ? "win" : key;
        if (of != os)
            return value.fail(fmt::format("platform {} has no {}", profile.platform, key));
    }
    return {};
}

/// A driver knows devices that a toolkit of its time makes code for, and supports that CUDA.
Result<void> check_device(const yaml::Node& gpus, const GpuDevice& gpu, const std::string& cuda) {
    const auto supported = Version::parse(cuda);
    const auto capability = Version::parse(gpu.architecture);
    if (gpu.vendor != GpuVendor::Nvidia || cuda == kAnyVersion || gpu.architecture == kAnyVersion ||
        !supported || !capability)
        return {};
    const auto first = first_toolkit(CudaTarget::of(*capability));
    if (!first || *first <= *supported) return {};
    return gpus.fail(
        fmt::format("compute capability {} needs a driver for CUDA {} or newer, but the driver "
                    "supports {}",
                    gpu.architecture,
                    first->to_string(),
                    cuda));
}

/// The newest CUDA that a kernel module can be made to run by a cuda-compat package is of the major
/// version after its own (NVIDIA, "CUDA Compatibility", Forward Compatibility).
Result<void> check_driver_version(const yaml::Node& nvidia, const HardwareProfile& profile) {
    const auto branch = Version::parse(profile.nvidia_driver->value);
    const auto cuda = Version::parse(profile.cuda->value);
    if (!branch || !cuda || profile.cuda->value == kAnyVersion) return {};
    const int number = version_part(*branch, 0);
    constexpr int kFirstOf10 = 410, kFirstOf11 = 450, kFirstOf12 = 525, kFirstOf13 = 580;
    // Tegra's modules have numbers of their own: 35.4.1.
    if (number < kFirstOf10 || number >= kFirstOf13) return {};
    const int major = number >= kFirstOf12 ? 12 : number >= kFirstOf11 ? 11 : 10;
    if (version_part(*cuda, 0) <= major + 1) return {};
    return nvidia.fail(fmt::format("driver {} supports CUDA {} and cannot support {}",
                                   profile.nvidia_driver->value,
                                   major,
                                   profile.cuda->value));
}

/// Who writes of a GPU and of no driver forgot the driver: builds for CPUs would be chosen in
/// silence.
Result<void> check_drivers(const yaml::Node& root, const HardwareProfile& profile) {
    const auto has_gpu_of = [&](GpuVendor vendor) {
        return std::ranges::any_of(profile.gpus,
                                   [&](const auto& gpu) { return gpu.vendor == vendor; });
    };
    const auto* gpus = root.find("gpus");
    if (has_gpu_of(GpuVendor::Nvidia) && !profile.cuda)
        return gpus->fail("there is an NVIDIA GPU, but `nvidia:` with `cuda:` is missing",
                          "set `cuda:` to the newest CUDA that its driver supports, or any");
    if (has_gpu_of(GpuVendor::Amd) && !profile.amdgpu)
        return gpus->fail("there is an AMD GPU, but `amd:` with `driver: present` is missing");
    for (const auto& gpu : profile.gpus) {
        if (profile.cuda) GPKG_CHECK(check_device(*gpus, gpu, profile.cuda->value));
    }
    if (profile.nvidia_driver && profile.cuda)
        GPKG_CHECK(check_driver_version(*root.find("nvidia"), profile));
    if (!profile.platform.starts_with("osx-")) return {};
    if (profile.cuda)
        return root.find("nvidia")->fail(
            fmt::format("NVIDIA has no driver for {}", profile.platform));
    if (profile.amdgpu || profile.rocm)
        return root.find("amd")->fail(
            fmt::format("ROCm is not available for {}", profile.platform));
    return {};
}

/// Facts that cannot all be true of one machine decide nothing.
Result<void> check_together(const yaml::Node& root, const HardwareProfile& profile) {
    GPKG_CHECK(check_cpu(root, profile));
    GPKG_CHECK(check_system(root, profile));
    return check_drivers(root, profile);
}

/// A map of lines, written only when it has one.
class Section {
public:
    Section(std::string& out, std::string_view name)
        : out_(out), head_(std::string(name) + ":\n") {}

    void line(std::string_view key, std::string_view value) {
        out_ += std::exchange(head_, "");
        out_ += fmt::format("  {}: {}\n", key, yaml::quote(value));
    }
    void line(std::string_view key, const std::optional<Fact>& fact) {
        if (fact) line(key, fact->value);
    }

private:
    std::string& out_;
    std::string head_;
};

}  // namespace

Result<HardwareProfile> parse_profile(std::string_view text, const std::string& where) {
    GPKG_TRY(const auto root, parse_form(text, where, kProfileForm));
    GPKG_CHECK(check_keys(root,
                          {"gpkg_profile",
                           "platform",
                           "cpu",
                           "system",
                           "nvidia",
                           "amd",
                           "gpus",
                           "virtual_packages",
                           "origin",
                           "known_by"}));

    HardwareProfile profile;
    GPKG_TRY(const auto platform, find_text(&root, "platform"));
    if (!platform) return root.fail("expected `platform:` with a name like linux-64");
    if (!is_known_subdir(*platform) || *platform == "noarch") {
        const auto subdirs = known_subdirs();
        const auto near =
            near_names(*platform, std::vector<std::string>(subdirs.begin(), subdirs.end()));
        return root.find("platform")
            ->fail(*platform + " is not a platform",
                   near.empty() ? "for example linux-64" : "did you mean " + join_or(near) + "?");
    }
    profile.platform = *platform;
    GPKG_CHECK(read_cpu_facts(root, where, profile));
    GPKG_CHECK(read_system(root, where, profile));
    GPKG_CHECK(read_accelerators(root, where, profile));
    GPKG_CHECK(read_others(root, where, profile));
    GPKG_CHECK(read_origin(root, profile));
    GPKG_CHECK(check_together(root, profile));
    return profile;
}

Result<HardwareProfile> read_profile(const fs::path& path) {
    constexpr std::uint64_t kLongest = 1 << 20;
    GPKG_TRY(const auto text, read_file(path, kLongest));
    return parse_profile(text, path.native());
}

std::string format_profile(const HardwareProfile& profile) {
    auto out = fmt::format(
        "# Hardware profile. Use it with --for THIS_FILE to solve for that machine.\n"
        "gpkg_profile: 1\nplatform: {}\n",
        yaml::quote(profile.platform));
    Section cpu(out, "cpu");
    cpu.line("model", profile.cpu_model);
    cpu.line("microarchitecture", profile.microarchitecture);

    Section system(out, "system");
    if (profile.glibc)
        system.line("glibc", profile.glibc->value.empty() ? "none" : profile.glibc->value);
    system.line("linux", profile.linux_);
    system.line("osx", profile.osx);
    system.line("windows", profile.windows);

    Section nvidia(out, "nvidia");
    nvidia.line("driver", profile.nvidia_driver);
    nvidia.line("cuda", profile.cuda);
    Section amd(out, "amd");
    if (profile.amdgpu) amd.line("driver", "present");
    amd.line("rocm", profile.rocm);

    if (!profile.gpus.empty()) out += "gpus:\n";
    for (const auto& gpu : profile.gpus) {
        out += fmt::format("  - vendor: {}\n", vendor_name(gpu.vendor));
        if (!gpu.name.empty()) out += fmt::format("    name: {}\n", yaml::quote(gpu.name));
        if (!gpu.architecture.empty())
            out += fmt::format("    architecture: {}\n", yaml::quote(gpu.architecture));
        if (gpu.memory_mib != 0) out += fmt::format("    memory_mib: {}\n", gpu.memory_mib);
        if (gpu.compute_units != 0)
            out += fmt::format("    compute_units: {}\n", gpu.compute_units);
    }

    if (!profile.others.empty()) out += "virtual_packages:\n";
    for (const auto& [package, source] : profile.others) {
        out += fmt::format("  - name: {}\n    version: {}\n",
                           yaml::quote(package.name),
                           yaml::quote(package.version));
        if (package.build != "0") out += fmt::format("    build: {}\n", yaml::quote(package.build));
    }
    if (!profile.origin.empty()) out += fmt::format("origin: {}\n", yaml::quote(profile.origin));
    if (profile.known_by_names) out += "known_by: names\n";
    return out;
}

Result<void> write_profile(const HardwareProfile& profile, const fs::path& path) {
    return write_file_atomically(path, format_profile(profile));
}

}  // namespace gpkg::virtual_packages
