#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/workflow/machine.hpp"
#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "libcore/plan/amd_plan.hpp"
#include "libcore/plan/cuda_plan.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Who requested a device that no machine has.
constexpr const char* kByDevice = "--devices";

struct PlanVariantsOptions {
    std::vector<std::string> devices;
    std::vector<std::string> machines;
    std::vector<std::string> toolkits;
    std::string most_builds;
    bool allow_ptx = false;
    bool ptx_rest = false;
    bool exact = false;
    bool every_cuda = false;
    bool future = false;
    bool generic = false;
    bool yaml = false;
};

/// What is to be served, each once, with the names by which it was asked for.
struct VariantTargets {
    struct Nvidia {
        CudaDevice device;
        std::vector<std::string> names;
    };
    std::vector<Nvidia> nvidia;  ///< the lowest first
    std::map<std::string, std::vector<std::string>> amd;

    void add(CudaDevice device, const std::string& name);
};

struct VariantPlan {
    std::vector<CudaBuild> builds;
    AmdPlan amd;
};

void add_name(std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

void VariantTargets::add(CudaDevice device, const std::string& name) {
    const auto same = std::find_if(
        nvidia.begin(), nvidia.end(), [&](const Nvidia& one) { return one.device == device; });
    if (same != nvidia.end()) return add_name(same->names, name);
    nvidia.push_back({std::move(device), {name}});
}

/// "7.5,8.0" and "7.5" "8.0" are the same.
std::vector<std::string> words_of(const std::vector<std::string>& texts) {
    std::vector<std::string> words;
    for (const auto& text : texts) {
        for (const auto word : split(text, ',')) words.emplace_back(trim(word));
    }
    return words;
}

Result<void> add_machine(const Context& context, const std::string& name, VariantTargets& wanted) {
    SourceOptions sources;
    sources.for_machine = name;
    GPKG_TRY(const auto machine, machine_of(context, sources));
    using virtual_packages::GpuVendor;
    const auto profile = machine.profile.value_or(virtual_packages::HardwareProfile());
    std::size_t count = 0;
    for (const auto& gpu : profile.gpus) {
        if (gpu.vendor == GpuVendor::Intel) continue;
        ++count;
        if (gpu.vendor == GpuVendor::Amd) {
            GPKG_TRY(const auto target, parse_gfx(gpu.architecture));
            add_name(wanted.amd[target], name);
            continue;
        }
        CudaDevice device;
        GPKG_TRY(device.target, CudaTarget::parse(gpu.architecture));
        if (const auto& cuda = profile.cuda; cuda && !cuda->value.empty()) {
            GPKG_TRY(device.driver, Version::parse(cuda->value));
        }
        wanted.add(std::move(device), name);
    }
    if (count == 0)
        return fail(ErrorKind::Usage,
                    fmt::format("--for {}: the machine has no NVIDIA or AMD GPU", name));
    return {};
}

Result<VariantTargets> wanted_devices(const Context& context, const PlanVariantsOptions& options) {
    VariantTargets wanted;
    for (const auto& word : words_of(options.devices)) {
        if (word.starts_with("gfx")) {
            GPKG_TRY(const auto target, parse_gfx(word));
            add_name(wanted.amd[target], kByDevice);
            continue;
        }
        auto target = CudaTarget::parse(word);
        if (!target && add_machine(context, word, wanted)) continue;  // "a100"
        const bool is_name = !word.empty() && (word[0] < '0' || word[0] > '9');
        if (!target && is_name)
            return fail(ErrorKind::Usage,
                        fmt::format("--devices: '{}' is neither a compute capability nor the name "
                                    "of a machine",
                                    word),
                        "to list the names: gpkg hardware list");
        if (!target) return pass(std::move(target).error().while_doing("--devices"));
        wanted.add({*target}, kByDevice);
    }
    for (const auto& machine : options.machines) GPKG_CHECK(add_machine(context, machine, wanted));
    if (wanted.nvidia.empty() && wanted.amd.empty())
        return fail(
            ErrorKind::Usage, "no devices given", "use --devices 7.5,8.0,9.0, or --for h100,mi300");
    std::stable_sort(wanted.nvidia.begin(), wanted.nvidia.end(), [](const auto& a, const auto& b) {
        return a.device.target < b.device.target;
    });
    return wanted;
}

Result<CudaPlanOptions> plan_options(Context& context, const PlanVariantsOptions& options) {
    CudaPlanOptions plan;
    for (const auto& word : words_of(options.toolkits)) {
        auto toolkit = parse_toolkit(word);
        if (!toolkit) return pass(std::move(toolkit).error().while_doing("--cuda"));
        if (is_later_than_known(*toolkit))
            context.out.warn(
                fmt::format("CUDA {} is newer than any version gpkg knows; treating it as {}",
                            toolkit->to_string(),
                            latest_toolkits().back().to_string()));
        plan.toolkits.push_back(*std::move(toolkit));
    }
    if (plan.toolkits.empty()) plan.toolkits = latest_toolkits();
    plan.ptx = options.allow_ptx  ? PtxUse::Anywhere
               : options.ptx_rest ? PtxUse::Rest
                                  : PtxUse::Never;
    plan.exact = options.exact;
    plan.every_toolkit = options.every_cuda;
    plan.future = options.future;
    if (options.most_builds.empty()) return plan;
    const auto& text = options.most_builds;
    const auto count = whole_number<std::size_t>(text);
    if (!count || *count == 0)
        return fail(ErrorKind::Usage,
                    fmt::format("--max-builds: '{}' is not a whole number of at least 1", text));
    plan.most_builds = *count;
    return plan;
}

Result<VariantPlan> plan(Context& context,
                         const VariantTargets& wanted,
                         const PlanVariantsOptions& options) {
    GPKG_TRY(auto how, plan_options(context, options));
    VariantPlan planned;
    std::vector<std::string> gfx;
    gfx.reserve(wanted.amd.size());
    for (const auto& [target, names] : wanted.amd) gfx.push_back(target);
    planned.amd = plan_amd(gfx, options.generic);
    if (how.most_builds && !gfx.empty()) {
        if (*how.most_builds == 1 && !wanted.nvidia.empty())
            return fail(ErrorKind::Unsatisfiable,
                        "--max-builds 1: NVIDIA and AMD devices need separate builds");
        how.most_builds = std::max<std::size_t>(1, *how.most_builds - 1);
    }
    std::vector<CudaDevice> devices;
    devices.reserve(wanted.nvidia.size());
    for (const auto& [device, names] : wanted.nvidia) {
        devices.push_back(device);
        if (names.front() != kByDevice) devices.back().machine = join_some(names, "and");
    }
    GPKG_TRY(planned.builds, plan_cuda(devices, how));
    return planned;
}

std::string service_text(const std::optional<CudaService>& service) {
    if (!service) return "no";
    return fmt::format("{} {}", service->natively ? "native" : "PTX", service->by.to_string());
}

void print_table(Output& out,
                 const VariantTargets& wanted,
                 const VariantPlan& planned,
                 bool exact) {
    Table table;
    std::vector<std::string> head{"# Device", "Requested by"};
    for (const auto& build : planned.builds) head.push_back("CUDA " + build.toolkit.to_string());
    if (!wanted.amd.empty()) head.emplace_back("ROCm");
    table.add(std::move(head));
    const auto names_text = [](const std::vector<std::string>& names) {
        return fmt::format("{}", fmt::join(names, ", "));
    };
    for (const auto& [device, names] : wanted.nvidia) {
        std::vector<std::string> row{device.target.to_string(), names_text(names)};
        for (const auto& build : planned.builds)
            row.push_back(service_text(service_of(build, device, exact)));
        if (!wanted.amd.empty()) row.emplace_back("no");
        table.add(std::move(row));
    }
    for (const auto& [target, names] : wanted.amd) {
        std::vector<std::string> row{target, names_text(names)};
        row.resize(2 + planned.builds.size(), "no");
        row.push_back("native " + planned.amd.served_by.at(target));
        table.add(std::move(row));
    }
    out.result(table);
}

/// Lists that go together, as a variants.yaml has them. Keys of the other vendor are None.
std::string variants_yaml(const VariantPlan& planned) {
    std::vector<std::string> accelerators;
    std::vector<std::string> versions;
    std::vector<std::string> lists;
    for (const auto& build : planned.builds) {
        accelerators.emplace_back("cuda");
        versions.push_back(fmt::format("\"{}\"", build.toolkit.to_string()));
        lists.push_back(fmt::format("\"{}\"", build.arch_list()));
    }
    const bool has_amd = !planned.amd.targets.empty();
    if (has_amd) {
        accelerators.emplace_back("rocm");
        versions.emplace_back("None");
        lists.emplace_back("None");
    }
    std::vector<std::string> lines;
    lines.push_back(fmt::format("accel: [{}]", fmt::join(accelerators, ", ")));
    if (!planned.builds.empty()) {
        lines.push_back(fmt::format("cuda_version: [{}]", fmt::join(versions, ", ")));
        lines.push_back(fmt::format("cuda_arch_list: [{}]", fmt::join(lists, ", ")));
    }
    if (has_amd)
        lines.push_back(fmt::format("gfx_list: [\"{}\"]", fmt::join(planned.amd.targets, ";")));
    if (!planned.builds.empty())
        lines.emplace_back("zip_keys:\n  - [accel, cuda_version, cuda_arch_list]");
    return fmt::format("{}", fmt::join(lines, "\n"));
}

/// "1 build covers all 3 machines", "1 build covers both devices"
std::string summary_text(const VariantTargets& wanted, const VariantPlan& planned) {
    std::set<std::string> machines;
    bool only_machines = true;
    const auto add = [&](const std::vector<std::string>& names) {
        machines.insert(names.begin(), names.end());
        only_machines = only_machines && std::ranges::find(names, kByDevice) == names.end();
    };
    for (const auto& [device, names] : wanted.nvidia) add(names);
    for (const auto& [target, names] : wanted.amd) add(names);
    const auto count = only_machines ? machines.size() : wanted.nvidia.size() + wanted.amd.size();
    const auto* noun = only_machines ? "machine" : "device";
    const auto builds = planned.builds.size() + (planned.amd.targets.empty() ? 0 : 1);
    return fmt::format("{} {} {}",
                       count_text(builds, "build"),
                       builds == 1 ? "covers" : "cover",
                       count == 1   ? fmt::format("the {}", noun)
                       : count == 2 ? fmt::format("both {}s", noun)
                                    : "all " + count_text(count, noun));
}

/// Why no build is for the newest CUDA, if a driver is the reason.
void note_old_driver(Output& out, const VariantTargets& wanted, const VariantPlan& planned) {
    const auto newest = latest_toolkits().back();
    for (const auto& build : planned.builds) {
        if (build.toolkit == newest) return;
    }
    for (const auto& [device, names] : wanted.nvidia) {
        if (!device.driver || version_part(*device.driver, 0) >= version_part(newest, 0)) continue;
        return out.note(fmt::format("note: CUDA {} is not used: the driver of {} supports CUDA {}",
                                    newest.to_string(),
                                    join_some(names, "and"),
                                    device.driver->to_string()));
    }
}

void print(Output& out, const VariantTargets& wanted, const VariantPlan& planned, bool exact) {
    out.result(summary_text(wanted, planned) + "\n");
    print_table(out, wanted, planned, exact);
    out.result("");
    for (const auto& build : planned.builds)
        out.result(fmt::format("CUDA {}: {} (machine code for {} target{})",
                               build.toolkit.to_string(),
                               build.arch_list(),
                               build.sass.size(),
                               build.sass.size() == 1 ? "" : "s"));
    if (const auto& targets = planned.amd.targets; !targets.empty())
        out.result(fmt::format("ROCm: {} ({} target{})",
                               fmt::join(targets, ";"),
                               targets.size(),
                               targets.size() == 1 ? "" : "s"));
    out.result("\nvariants.yaml:\n" + variants_yaml(planned));
}

Json json_of(const VariantTargets& wanted, const VariantPlan& planned, bool exact) {
    auto builds = Json::array();
    for (const auto& build : planned.builds) {
        Json one{{"cuda_version", build.toolkit.to_string()},
                 {"cuda_arch_list", build.arch_list()},
                 {"cmake_cuda_architectures", build.cmake_list()},
                 {"sass", Json::array()},
                 {"ptx", Json::array()}};
        for (const auto target : build.sass) one["sass"].push_back(target.to_string());
        for (const auto target : build.ptx) one["ptx"].push_back(target.to_string());
        builds.push_back(std::move(one));
    }
    if (!planned.amd.targets.empty())
        builds.push_back({{"gfx_list", fmt::format("{}", fmt::join(planned.amd.targets, ";"))},
                          {"gfx", planned.amd.targets}});
    auto devices = Json::array();
    for (const auto& [device, names] : wanted.nvidia) {
        auto served = Json::array();
        for (std::size_t i = 0; i < planned.builds.size(); ++i) {
            const auto service = service_of(planned.builds[i], device, exact);
            if (service)
                served.push_back({{"build", i},
                                  {"how", service->natively ? "native" : "ptx"},
                                  {"by", service->by.to_string()}});
        }
        devices.push_back(
            {{"device", device.target.to_string()},
             {"asked_by", names},
             {"driver_cuda", device.driver ? Json(device.driver->to_string()) : Json()},
             {"served_by", std::move(served)}});
    }
    for (const auto& [target, names] : wanted.amd)
        devices.push_back({{"device", target},
                           {"asked_by", names},
                           {"driver_cuda", Json()},
                           {"served_by",
                            Json::array({{{"build", planned.builds.size()},
                                          {"how", "native"},
                                          {"by", planned.amd.served_by.at(target)}}})}});
    return {{"success", true},
            {"builds", std::move(builds)},
            {"devices", std::move(devices)},
            {"variants_yaml", variants_yaml(planned) + "\n"}};
}

Result<int> run_plan(Context& context, const PlanVariantsOptions& options) {
    GPKG_TRY(const auto wanted, wanted_devices(context, options));
    GPKG_TRY(const auto planned, plan(context, wanted, options));
    if (context.out.json_mode()) {
        context.out.json(json_of(wanted, planned, options.exact));
    } else if (options.yaml) {
        context.out.verbatim(variants_yaml(planned));
    } else {
        print(context.out, wanted, planned, options.exact);
        if (options.toolkits.empty()) note_old_driver(context.out, wanted, planned);
    }
    return 0;
}

}  // namespace

Action bind_build_plan_variants(CLI::App& app) {
    const auto options = std::make_shared<PlanVariantsOptions>();
    app.add_option(
           "--devices",
           options->devices,
           "GPU types to cover: compute capabilities (8.0), AMD targets (gfx90a) or names (a100)")
        ->type_name("LIST")
        ->check(not_empty("the list of devices is empty"));
    add_machines_option(
        app, options->machines, "add the GPUs of these machines: v100,h100; may be repeated");
    app.add_option("--cuda",
                   options->toolkits,
                   "CUDA versions to choose from (default: the newest of each major)")
        ->type_name("VERSIONS");
    app.add_option(
           "--max-builds", options->most_builds, "exit with status 1 if more builds are needed")
        ->type_name("N");
    auto* anywhere = app.add_flag("--allow-ptx",
                                  options->allow_ptx,
                                  "use PTX (compiled at the first start) to save machine code");
    app.add_flag("--ptx-rest",
                 options->ptx_rest,
                 "use PTX only for devices without machine code in any CUDA given")
        ->excludes(anywhere);
    app.add_flag(
        "--exact", options->exact, "build machine code for exactly the capability of each device");
    app.add_flag("--future", options->future, "add PTX of the highest target for future devices");
    auto* every = app.add_flag("--every-cuda",
                               options->every_cuda,
                               "plan one build for each CUDA version, not the fewest");
    app.get_option("--max-builds")->excludes(every);
    app.add_flag("--generic", options->generic, "use generic targets for families of AMD devices");
    app.add_flag("--yaml", options->yaml, "print only the lines for variants.yaml");
    app.footer(
        "Finds the fewest builds, and the fewest targets for each, that give every device machine "
        "code it can run: code for 8.0 also runs on 8.6 and 8.9. For a machine (--for), its "
        "driver must support the CUDA version of the build.\n"
        "\n"
        "  gpkg build plan-variants --devices 7.5,8.0,8.6,9.0,12.0\n"
        "  gpkg build plan-variants --for v100,h100 --cuda 11.8,12.9,13.0\n"
        "  gpkg build plan-variants --devices 8.0,9.0a,gfx90a --yaml > variants.yaml");

    return [options](Context& context) { return run_plan(context, *options); };
}

}  // namespace gpkg::cli
