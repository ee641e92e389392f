#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/table.hpp"
#include "virtual-packages/cpu.hpp"
#include "virtual-packages/virtual_package.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;
using namespace virtual_packages;

std::string level_of(const std::string& microarchitecture) {
    const auto level = x86_64_level(microarchitecture);
    return level && *level > 1 ? fmt::format("runs x86-64-v{}", *level) : "";
}

std::string vendor_name(GpuVendor vendor) { return vendor == GpuVendor::Nvidia ? "nvidia" : "amd"; }

std::string memory_of(const GpuDevice& gpu) {
    if (gpu.memory_mib == 0) return "";
    return fmt::format("{:.0f} GiB", static_cast<double>(gpu.memory_mib) / 1024);
}

Json to_json(const HardwareProfile& profile,
             const Detection& detection,
             const std::vector<std::string>& warnings) {
    Json document{{"platform", profile.platform}};
    const auto add = [&](const char* key, const std::optional<Fact>& fact) {
        document[key] = fact ? Json{{"value", fact->value}, {"source", fact->source}} : Json();
    };
    add("microarchitecture", profile.microarchitecture);
    add("linux", profile.linux_);
    add("osx", profile.osx);
    add("windows", profile.windows);
    add("glibc", profile.glibc);
    add("cuda", profile.cuda);
    add("amdgpu", profile.amdgpu);
    add("rocm", profile.rocm);
    document["gpus"] = Json::array();
    for (const auto& gpu : profile.gpus)
        document["gpus"].push_back({{"vendor", vendor_name(gpu.vendor)},
                                    {"name", gpu.name},
                                    {"architecture", gpu.architecture},
                                    {"memory_mib", gpu.memory_mib}});
    document["virtual_packages"] = Json::array();
    for (const auto& [package, source] : detection.packages)
        document["virtual_packages"].push_back({{"name", package.name},
                                                {"version", package.version},
                                                {"build", package.build},
                                                {"source", source}});
    document["warnings"] = warnings;
    return document;
}

void print_facts(Output& out, const HardwareProfile& profile) {
    Table table;
    const auto row = [&](const char* name, std::string value, const std::string& remark) {
        table.add({name, std::move(value), out.faint(remark)});
    };
    const auto fact = [&](const char* name, const std::optional<Fact>& known, const char* prefix) {
        if (known) row(name, prefix + known->value, known->source);
    };
    row("platform", profile.platform, "");
    if (const auto& cpu = profile.microarchitecture) row("CPU", cpu->value, level_of(cpu->value));
    fact("kernel", profile.linux_, "Linux ");
    fact("system", profile.osx, "macOS ");
    fact("system", profile.windows, "Windows ");
    if (profile.glibc)
        row("C library",
            profile.glibc->value.empty() ? "not glibc" : "glibc " + profile.glibc->value,
            profile.glibc->source);
    if (profile.cuda)
        fact("NVIDIA driver", profile.cuda, "up to CUDA ");
    else
        row("NVIDIA driver", "none", "");
    if (profile.amdgpu) row("AMD driver", "amdgpu", profile.amdgpu->source);
    fact("ROCm", profile.rocm, "");
    for (const auto& gpu : profile.gpus)
        row("GPU",
            gpu.name.empty() ? vendor_name(gpu.vendor) : gpu.name,
            fmt::format(
                "{}{}{}", gpu.architecture, gpu.memory_mib == 0 ? "" : ", ", memory_of(gpu)));
    if (profile.gpus.empty()) row("GPU", "none", "");
    for (const auto& line : table.lines()) out.result(line);
}

void print_packages(Output& out, const Detection& detection) {
    out.result("\nThe solver is told, as virtual packages:");
    Table table;
    for (const auto& [package, source] : detection.packages)
        table.add({"  " + package.name,
                   package.version,
                   package.build == "0" ? "" : package.build,
                   out.faint(source)});
    for (const auto& line : table.lines()) out.result(line);
}

Result<int> show_hardware(Context& context) {
    auto host = this_machine();
    host.env = context.env;
    host.platform = context.config.platform.value;
    host.cuda.cache_folder = context.config.index_cache();
    auto [profile, warnings] = detect_profile(host);
    const auto detection = virtual_packages_of(profile, host.platform, host.env);
    warnings.insert(warnings.end(), detection.warnings.begin(), detection.warnings.end());

    if (context.out.json_mode()) {
        context.out.json(to_json(profile, detection, warnings));
        return 0;
    }
    for (const auto& warning : warnings) context.out.warn(warning);
    print_facts(context.out, profile);
    print_packages(context.out, detection);
    return 0;
}

}  // namespace

Action bind_hardware(CLI::App& app) {
    app.footer(
        "Shows what this machine is, how that is known, and what the solver is told of it.\n"
        "CONDA_OVERRIDE_CUDA=12.4 and its like tell the solver something else.\n"
        "  gpkg hardware --json");

    return [](Context& context) { return show_hardware(context); };
}

}  // namespace gpkg::cli
