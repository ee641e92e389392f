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
//     - vendor: nvidia         # or amd
//       name: NVIDIA H100 80GB HBM3
//       architecture: "9.0"    # compute capability; gfx90a for amd
//       memory_mib: 81559
//       compute_units: 110     # amd's

#include "libcore/base/text.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/yaml/node.hpp"
#include "virtual-packages/amd.hpp"
#include "virtual-packages/cpu.hpp"
#include "virtual-packages/profile.hpp"
#include "virtual-packages/version_text_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <limits>
#include <utility>

namespace gpkg::virtual_packages {
namespace {

constexpr long long kFormat = 1;

/// Refuses keys that are none of `known`.
Result<void> check_keys(const yaml::Node& map, std::initializer_list<std::string_view> known) {
    const std::vector<std::string> names(known.begin(), known.end());
    for (const auto& [key, value] : map.entries()) {
        if (std::ranges::find(names, key) != names.end()) continue;
        const auto near = near_names(key, names);
        return value.fail(
            "unknown key " + key,
            near.empty() ? "known keys: " + join_or(names) : "did you mean " + join_or(near) + "?");
    }
    return {};
}

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

Result<std::optional<std::string>> find_text(const yaml::Node* parent, std::string_view key) {
    const auto* node = parent == nullptr ? nullptr : parent->find(key);
    if (node == nullptr || node->is_null()) return std::nullopt;
    GPKG_TRY(auto text, node->as_text(key));
    return text;
}

/// A version of two to four numbers, or "any".
Result<std::optional<Fact>> find_version(const yaml::Node* parent,
                                         std::string_view key,
                                         const std::string& source) {
    GPKG_TRY(const auto text, find_text(parent, key));
    if (!text) return std::nullopt;
    if (leading_version(*text, 4) != *text && *text != kAnyVersion)
        return parent->find(key)->fail("expected a version like 12.4 or any, found \"" + *text +
                                       "\"");
    return Fact{*text, source};
}

template <typename Number>
Result<Number> find_number(const yaml::Node& parent, std::string_view key) {
    const auto* node = parent.find(key);
    if (node == nullptr || node->is_null()) return Number{0};
    GPKG_TRY(const auto value, node->as_int(key));
    if (value < 0 || static_cast<unsigned long long>(value) > std::numeric_limits<Number>::max())
        return node->fail(fmt::format("{} is out of range", value));
    return static_cast<Number>(value);
}

bool is_compute_capability(std::string_view text) {
    return text == kAnyVersion || (text.size() <= 5 && leading_version(text, 2) == text);
}

Result<GpuDevice> read_gpu(const yaml::Node& node) {
    if (!node.is_map())
        return node.fail(fmt::format("expected a GPU as a map, found {}", node.kind_name()));
    GPKG_CHECK(check_keys(node, {"vendor", "name", "architecture", "memory_mib", "compute_units"}));
    GpuDevice gpu;
    GPKG_TRY(const auto vendor, find_text(&node, "vendor"));
    if (vendor == "amd")
        gpu.vendor = GpuVendor::Amd;
    else if (vendor != "nvidia")
        return node.fail("expected `vendor: nvidia` or `vendor: amd`");
    GPKG_TRY(auto name, find_text(&node, "name"));
    gpu.name = std::move(name).value_or("");
    GPKG_TRY(auto architecture, find_text(&node, "architecture"));
    gpu.architecture = std::move(architecture).value_or("");
    const bool fits = gpu.vendor == GpuVendor::Amd ? gfx_version(gpu.architecture).has_value()
                                                   : is_compute_capability(gpu.architecture);
    if (!fits)
        return node.fail(gpu.vendor == GpuVendor::Amd
                             ? "expected `architecture:` with a name like gfx90a"
                             : "expected `architecture:` with a compute capability like \"9.0\"");
    GPKG_TRY(gpu.memory_mib, find_number<std::uint64_t>(node, "memory_mib"));
    GPKG_TRY(gpu.compute_units, find_number<std::uint32_t>(node, "compute_units"));
    return gpu;
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
                   near.empty() ? "the names are those of archspec, e.g. x86_64_v3"
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
        GPKG_TRY(profile.glibc, find_version(system, "glibc", source));
    }
    GPKG_TRY(profile.linux_, find_version(system, "linux", source));
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

    const auto* gpus = root.find("gpus");
    if (gpus == nullptr || gpus->is_null()) return {};
    if (!gpus->is_list())
        return gpus->fail(fmt::format("expected a list of GPUs, found {}", gpus->kind_name()));
    for (const auto& item : gpus->items()) {
        GPKG_TRY(auto gpu, read_gpu(item));
        profile.gpus.push_back(std::move(gpu));
    }
    return {};
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
    GPKG_TRY(const auto root, yaml::Node::parse(text, where));
    if (root.is_null())
        return fail(ErrorKind::Parse, where + ": expected a hardware profile, found nothing");
    if (!root.is_map())
        return root.fail(fmt::format("expected a hardware profile, found {}", root.kind_name()));
    const auto* format = root.find("gpkg_profile");
    if (format == nullptr)
        return root.fail("this is no hardware profile: the key gpkg_profile is missing",
                         "gpkg hardware export writes one");
    GPKG_TRY(const auto version, format->as_int("gpkg_profile"));
    if (version != kFormat)
        return format->fail(
            fmt::format("format {} is not known to this gpkg, which reads {}", version, kFormat),
            "a newer gpkg may read it");
    GPKG_CHECK(
        check_keys(root, {"gpkg_profile", "platform", "cpu", "system", "nvidia", "amd", "gpus"}));

    HardwareProfile profile;
    GPKG_TRY(const auto platform, find_text(&root, "platform"));
    if (!platform || platform->find('-') == std::string::npos)
        return root.fail("expected `platform:` with a name like linux-64");
    profile.platform = *platform;
    GPKG_CHECK(read_cpu_facts(root, where, profile));
    GPKG_CHECK(read_system(root, where, profile));
    GPKG_CHECK(read_accelerators(root, where, profile));
    return profile;
}

Result<HardwareProfile> read_profile(const fs::path& path) {
    GPKG_TRY(const auto text, read_file(path));
    return parse_profile(text, path.native());
}

std::string format_profile(const HardwareProfile& profile) {
    auto out = fmt::format(
        "# What a machine is. With --for THIS_FILE gpkg decides as on that machine.\n"
        "gpkg_profile: {}\nplatform: {}\n",
        kFormat,
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
        out += fmt::format("  - vendor: {}\n", gpu.vendor == GpuVendor::Amd ? "amd" : "nvidia");
        if (!gpu.name.empty()) out += fmt::format("    name: {}\n", yaml::quote(gpu.name));
        out += fmt::format("    architecture: {}\n", yaml::quote(gpu.architecture));
        if (gpu.memory_mib != 0) out += fmt::format("    memory_mib: {}\n", gpu.memory_mib);
        if (gpu.compute_units != 0)
            out += fmt::format("    compute_units: {}\n", gpu.compute_units);
    }
    return out;
}

Result<void> write_profile(const HardwareProfile& profile, const fs::path& path) {
    return write_file_atomically(path, format_profile(profile));
}

}  // namespace gpkg::virtual_packages
