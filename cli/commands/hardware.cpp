#include "cli/commands/hardware.hpp"

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/workflow/machine.hpp"
#include "cli/workflow/settings.hpp"
#include "cli/workflow/site_profiles.hpp"
#include "libcore/base/text.hpp"
#include "libcore/spec/record_version.hpp"
#include "virtual-packages/cpu.hpp"
#include "virtual-packages/machines.hpp"
#include "virtual-packages/virtual_package.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;
using namespace virtual_packages;

struct HardwareOptions {
    SourceOptions sources;  ///< only --for and --devices
    SiteOptions site;
    std::string output;
};

/// "assumed; gpkg default"
std::string origin_of(const std::string& source, bool is_assumed) {
    return is_assumed ? "assumed; " + source : source;
}

std::string level_of(const Fact& cpu) {
    const auto level = x86_64_level(cpu.value);
    auto origin = origin_of(cpu.source, cpu.is_assumed);
    if (!level || *level == 1) return origin;
    return fmt::format("runs x86-64-v{}; {}", *level, origin);
}

std::string memory_of(const GpuDevice& gpu) {
    if (gpu.memory_mib == 0) return "";
    if (gpu.memory_mib < 1024) return fmt::format("{} MiB", gpu.memory_mib);
    return fmt::format("{:.0f} GiB", static_cast<double>(gpu.memory_mib) / 1024);
}

std::string_view name_of(OverrideEffect effect) {
    switch (effect) {
    case OverrideEffect::Sets: return "sets";
    case OverrideEffect::Drops: return "drops";
    case OverrideEffect::None: break;
    }
    return "none";
}

Json json_of(const VirtualPackage& package, const std::string& source) {
    return {{"name", package.name},
            {"version", package.version},
            {"build", package.build},
            {"source", source}};
}

/// `choice` says of which GPUs the solver is told.
Json json_of(const HardwareProfile& profile,
             const DeviceChoice& choice,
             const Detection& detection,
             const std::vector<std::string>& warnings) {
    Json document{{"platform", profile.platform},
                  {"origin", profile.origin},
                  {"known_by_names", profile.known_by_names}};
    const auto add = [&](const char* key, const std::optional<Fact>& fact) {
        document[key] = fact ? Json{{"value", fact->value}, {"source", fact->source}} : Json();
    };
    add("cpu_model", profile.cpu_model);
    add("microarchitecture", profile.microarchitecture);
    add("linux", profile.linux_);
    add("osx", profile.osx);
    add("windows", profile.windows);
    add("glibc", profile.glibc);
    add("nvidia_driver", profile.nvidia_driver);
    add("cuda", profile.cuda);
    add("amdgpu", profile.amdgpu);
    add("rocm", profile.rocm);
    document["gpus"] = Json::array();
    for (std::size_t place = 0; place < profile.gpus.size(); ++place) {
        const auto& gpu = profile.gpus[place];
        document["gpus"].push_back({{"vendor", vendor_name(gpu.vendor)},
                                    {"name", gpu.name},
                                    {"architecture", gpu.architecture},
                                    {"memory_mib", gpu.memory_mib},
                                    {"compute_units", gpu.compute_units},
                                    {"counts", counts(profile, choice, place)}});
    }
    document["others"] = Json::array();
    for (const auto& [package, source] : profile.others)
        document["others"].push_back(json_of(package, source));
    document["virtual_packages"] = Json::array();
    for (const auto& [package, source] : detection.packages) {
        auto one = json_of(package, source);
        one["assumed"] = detection.is_assumed(package.name);
        document["virtual_packages"].push_back(std::move(one));
    }
    document["overrides"] = Json::array();
    for (const auto& [variable, value, effect, text] : detection.overrides)
        document["overrides"].push_back({{"variable", variable},
                                         {"value", value},
                                         {"effect", name_of(effect)},
                                         {"text", text}});
    document["warnings"] = warnings;
    return document;
}

/// " (overridden: 12.4)" of a detected value that an override replaces.
std::string overridden(const Detection& detection, std::string_view package) {
    const auto variable = override_variable(package);
    for (const auto& one : detection.overrides) {
        if (one.variable != variable || one.effect == OverrideEffect::None) continue;
        return fmt::format(" (overridden: {})",
                           one.effect == OverrideEffect::Sets ? printable(one.value) : "absent");
    }
    return {};
}

void print_facts(Context& context,
                 const DetectedProfile& detected,
                 const DeviceChoice& choice,
                 const Detection& detection) {
    const auto& profile = detected.profile;
    auto& out = context.out;
    const auto left_out = choice.is_standing ? fmt::format("; ignored (devices: {} in {})",
                                                           context.config.devices.value,
                                                           context.config.devices.source)
                                             : "; ignored";
    Table table;
    table.may_wrap(2);
    const auto row = [&](const std::string& name, std::string value, const std::string& remark) {
        table.add({name, std::move(value), out.faint(remark)});
    };
    const auto none = [&](const char* name, bool is_known, std::string_view package = {}) {
        row(name,
            (is_known ? "none" : "unknown") +
                (package.empty() ? std::string() : overridden(detection, package)),
            is_known ? "" : "detection failed; see the warnings");
    };
    const auto fact = [&](const char* name,
                          const std::optional<Fact>& known,
                          const char* prefix,
                          std::string_view package = {}) {
        if (known)
            row(name,
                prefix + printable(known->value) +
                    (package.empty() ? std::string() : overridden(detection, package)),
                origin_of(known->source, known->is_assumed));
    };
    row("platform", profile.platform, "");
    fact("CPU", profile.cpu_model, "");
    if (const auto& cpu = profile.microarchitecture)
        row(profile.cpu_model ? "" : "CPU",
            cpu->value + overridden(detection, "archspec"),
            level_of(*cpu));
    fact("kernel", profile.linux_, "Linux ", "linux");
    fact("system", profile.osx, "macOS ", "osx");
    fact("system", profile.windows, "Windows ", "win");
    if (profile.glibc)
        row("C library",
            (profile.glibc->value.empty() ? "not glibc" : "glibc " + profile.glibc->value) +
                overridden(detection, "glibc"),
            profile.glibc->source);
    fact("NVIDIA driver", profile.nvidia_driver, "");
    if (profile.cuda)
        fact(profile.nvidia_driver ? "" : "NVIDIA driver", profile.cuda, "up to CUDA ", "cuda");
    else if (!profile.nvidia_driver)
        none("NVIDIA driver", detected.is_nvidia_known, "cuda");
    if (profile.amdgpu) row("AMD driver", "amdgpu", profile.amdgpu->source);
    fact("ROCm", profile.rocm, "", "rocm");
    for (std::size_t place = 0; place < profile.gpus.size(); ++place) {
        const auto& gpu = profile.gpus[place];
        row(profile.gpus.size() == 1 ? "GPU" : fmt::format("GPU {}", place),
            gpu.name.empty() ? std::string(vendor_name(gpu.vendor)) : gpu.name,
            fmt::format("{}{}{}{}",
                        gpu.architecture,
                        gpu.architecture.empty() || gpu.memory_mib == 0 ? "" : ", ",
                        memory_of(gpu),
                        counts(profile, choice, place) ? "" : left_out));
    }
    if (profile.gpus.empty()) none("GPU", detected.is_nvidia_known && detected.is_amd_known);
    for (const auto& [package, source] : profile.others)
        row("detected", fmt::format("{} {}", package.name, package.version), source);
    if (!profile.origin.empty()) row("origin", profile.origin, "");
    out.result(table);
}

void print_packages(Output& out, const Detection& detection) {
    out.result("\nVirtual packages (passed to the solver):");
    Table table;
    table.may_wrap(3);
    for (const auto& [package, source] : detection.packages)
        table.add({"  " + package.name,
                   package.version,
                   package.build == "0" ? "" : package.build,
                   out.faint(origin_of(source, detection.is_assumed(package.name)))});
    out.result(table);
}

void print_overrides(Context& context, const Detection& detection) {
    auto& out = context.out;
    if (detection.overrides.empty()) return;
    out.result("\nOverrides:");
    Table table;
    table.may_wrap(1);
    const auto variables = set_overrides(context);
    std::map<std::string, std::string> settings;  // names by the variables that they stand for
    for (const auto& [package, value] : context.config.override_virtual_packages.value)
        settings.emplace(override_variable(package), package);
    for (const auto& one : detection.overrides) {
        const auto setting = settings.find(one.variable);
        const bool is_set = variables.contains(one.variable) || setting == settings.end();
        table.add({is_set ? fmt::format("  {}={}", one.variable, printable(one.value))
                          : fmt::format("  override_virtual_packages.{}: {}",
                                        setting->second,
                                        printable(one.value)),
                   one.effect == OverrideEffect::None ? "no effect: " + one.text : one.text,
                   is_set ? "" : out.faint(context.config.override_virtual_packages.source)});
    }
    out.result(table);
}

/// Which builds gpkg selects for these virtual packages.
std::string packages_text(const Context& context, const Detection& detection) {
    const auto& usual = context.config.accelerator;
    if (!usual.value.empty() && usual.value != "auto")
        return fmt::format("accelerator {} ({})", usual.value, usual.source);
    std::vector<std::string> builds;
    if (const auto* cuda = detection.find("__cuda"); cuda != nullptr) {
        const auto& version = cuda->package.version;
        // A driver of any version, and one of a version that no driver has.
        const bool is_known = version != kAnyVersion && version != "0";
        builds.push_back(is_known
                             ? fmt::format("CUDA builds up to CUDA {}.x (the driver supports {})",
                                           version.substr(0, version.find('.')),
                                           version)
                             : "CUDA builds");
    }
    if (detection.find("__amdgpu") != nullptr) builds.emplace_back("ROCm builds");
    return builds.empty() ? "CPU builds" : join_or(builds);
}

/// Where an override gives a CUDA and no GPU is known. `given`: the machine as --for has it.
std::optional<std::string> note_on_unknown_gpu(const Detection& detection,
                                               const std::string& given) {
    if (!given.empty() || detection.find("__cuda") == nullptr ||
        detection.find("__cuda_arch") != nullptr)
        return std::nullopt;
    return "no NVIDIA GPU is known, so builds that need a compute capability (__cuda_arch) cannot "
           "be installed; to give one: CONDA_OVERRIDE_CUDA_ARCH=9.0";
}

/// The machine that --for names, else this one, with all its GPUs.
Result<DetectedProfile> look(const Context& context, const HardwareOptions& options) {
    if (!options.sources.for_machine.empty()) {
        auto sources = options.sources;
        sources.devices = "all";
        GPKG_TRY(auto machine, machine_of(context, sources));
        DetectedProfile named;
        named.profile = *std::move(machine.profile);
        return named;
    }
    const auto host = host_of(context);
    auto detected = detect_profile(host);
    describe(host, detected.profile);
    return detected;
}

Result<int> show(Context& context, const HardwareOptions& options) {
    GPKG_TRY(auto found, look(context, options));
    const auto& profile = found.profile;
    GPKG_TRY(const auto choice, device_choice(context, options.sources));
    auto counted = profile;
    GPKG_CHECK(keep_devices(counted, choice));
    const bool is_named = !options.sources.for_machine.empty();
    auto detection = judged(
        context, counted, is_named ? profile.platform : context.config.platform.value, is_named);
    explain_overrides(context, detection, is_named);
    auto& warnings = found.warnings;
    warnings.insert(warnings.end(), detection.warnings.begin(), detection.warnings.end());

    if (context.out.json_mode()) {
        context.out.json(json_of(profile, choice, detection, warnings));
        return 0;
    }
    for (const auto& warning : warnings) context.out.warn(warning);
    if (context.out.verbose())
        for (const auto& line : found.notes) context.out.note(line);
    print_facts(context, found, choice, detection);
    print_packages(context.out, detection);
    print_overrides(context, detection);
    context.out.result("\npackages: " + packages_text(context, detection));
    if (const auto note = note_on_unknown_gpu(detection, options.sources.for_machine))
        context.out.note("note: " + *note);
    if (const auto note = assumed_note(options.sources.for_machine, detection.records()))
        context.out.note("note: " + *note);
    if (!is_named && detection.find("__cuda") == nullptr && detection.find("__amdgpu") == nullptr)
        context.out.note("to solve for another machine: --for NAME (names: gpkg hardware list)");
    if (const auto cost = cost_of_screens(counted))
        context.out.note(
            fmt::format("note: {}; to ignore it, use --devices compute, or always: gpkg config set "
                        "devices compute",
                        *cost));
    return 0;
}

/// A profile is what a machine is, and overrides are what is said of one.
void warn_of_overrides(Context& context, const HardwareProfile& profile, bool is_named) {
    const auto detection = judged(context, profile, profile.platform, is_named);
    std::vector<std::string> active;
    for (const auto& [variable, value, effect, text] : detection.overrides) {
        if (effect != OverrideEffect::None)
            active.push_back(fmt::format("{}={}", variable, printable(value)));
    }
    if (active.empty()) return;
    context.out.warn(
        fmt::format("overrides are not exported: {}; set {} again where the profile is used",
                    join_some(active, "and", active.size()),
                    active.size() == 1 ? "it" : "them"));
}

/// "login" of a file login.yaml in a folder of profiles, else empty.
std::string name_in_folders(const Context& context, const std::string& file) {
    const auto path = absolute_path(file, context.home);
    if (path.extension() != ".yaml") return {};
    const auto folders = profile_folders(context.config);
    const bool is_in_one = std::ranges::any_of(folders, [&](const fs::path& folder) {
        return path.parent_path() == (folder / "").lexically_normal().parent_path();
    });
    return is_in_one ? path.stem().native() : "";
}

/// A profile of a machine known by its name only lacks glibc, and packages need it most often: a
/// commented line says where to write it.
std::string with_glibc_line(std::string text, const HardwareProfile& profile) {
    if (profile.glibc || !profile.platform.starts_with("linux-")) return text;
    constexpr std::string_view kSection = "\nsystem:\n";
    constexpr std::string_view kLine =
        "#  glibc: \"2.28\"  # assumed; for another version (ldd --version), edit and uncomment\n";
    if (const auto at = text.find(kSection); at != std::string::npos)
        return text.insert(at + kSection.size(), kLine);
    return text + fmt::format("#system:\n{}", kLine);
}

Result<int> write(Context& context, const HardwareOptions& options) {
    const bool is_file = !options.output.empty() && options.output != "-";
    GPKG_TRY(auto found, look(context, options));
    GPKG_TRY(const auto choice, device_choice(context, options.sources));
    GPKG_CHECK(keep_devices(found.profile, choice));
    for (const auto& warning : found.warnings) context.out.warn(warning);
    warn_of_overrides(context, found.profile, !options.sources.for_machine.empty());
    auto text = with_glibc_line(format_profile(found.profile), found.profile);
    if (auto again = parse_profile(text, "the machine"); !again)
        return pass(
            std::move(again).error().while_doing("the detected hardware is not a valid profile"));
    if (is_file) {
        GPKG_CHECK(check_is_profile(options.output));
        GPKG_CHECK(write_file_atomically(options.output, text));
    }
    // What it says is true, and less than the machine is.
    const bool is_whole = found.warnings.empty();
    if (context.out.json_mode()) {
        Json document{{"success", is_whole}, {"profile", text}, {"warnings", found.warnings}};
        if (is_file) document["file"] = options.output;
        context.out.json(document);
    } else if (!is_file) {
        text.pop_back();  // verbatim() ends the line
        context.out.verbatim(text);
    } else {
        const auto& file = options.output;
        const auto& machine = options.sources.for_machine;
        const auto name = name_in_folders(context, file);
        const auto place = !name.empty()                         ? name
                           : file.find('/') == std::string::npos ? "./" + file
                                                                 : file;
        if (is_whole)
            context.out.note(fmt::format("wrote {}; use --for {} to solve for {}",
                                         file,
                                         place,
                                         machine.empty() ? "this machine" : machine));
        else
            context.out.note(fmt::format(
                "wrote {}, which is incomplete: add the undetected hardware before using --for {}",
                file,
                place));
    }
    return is_whole ? 0 : 1;
}

int list(Context& context) {
    const auto folders = profile_folders(context.config);
    const auto& folder = folders.front();  // the user's own
    const auto machines = named_machines(folders);
    if (context.out.json_mode()) {
        Json document{{"folder", folder.native()}, {"machines", Json::array()}};
        for (const auto& [name, summary, source] : machines)
            document["machines"].push_back(
                {{"name", name}, {"summary", summary}, {"source", source}});
        context.out.json(document);
        return 0;
    }
    Table table;
    table.may_shorten(2, 16, Keep::End);
    table.may_wrap(1);
    for (const auto& [name, summary, source] : machines)
        table.add({name, summary, source == "gpkg" ? "" : context.out.faint(source)});
    context.out.result(table);
    std::vector<std::string> names;
    names.reserve(folders.size());
    for (const auto& one : folders) names.push_back(one.native());
    context.out.note(fmt::format(
        "also: every archspec microarchitecture (x86_64_v3, zen4, neoverse_v2, ...) and each "
        "NAME.yaml in {}",
        join_some(names, "and", names.size())));
    return 0;
}

}  // namespace

Action bind_hardware(CLI::App& app) {
    const auto options = std::make_shared<HardwareOptions>();
    auto* export_app = app.add_subcommand("export", "write a profile of this machine for --for");
    auto* list_app = app.add_subcommand("list", "list the machine names that --for accepts");
    for (auto* sub : {export_app, list_app}) sub->fallthrough();  // --json after the verb
    add_for_option(app, options->sources);
    app.get_option("--for")->description(std::string("show another machine: a profile written by "
                                                     "`gpkg hardware export`, or a name listed by "
                                                     "`gpkg hardware list`") +
                                         kFactsMayFollow);
    add_site_options(app, options->site);
    app.add_option("-o,--output",
                   options->site.folder,
                   "folder for --slurm and --hosts; default: your profiles")
        ->type_name("PATH");
    export_app->add_option("-o,--output", options->output, "the file to write; - or none: stdout")
        ->type_name("FILE");
    export_app->footer(
        "Also takes --for NAME: the profile of a known machine, to edit and use with --for "
        "FILE.\n\n"
        "  gpkg hardware export -o here.yaml\n"
        "  gpkg create -n ml --for here.yaml pytorch   # on another machine\n"
        "  gpkg hardware export --for a100 -o a100.yaml");
    list_app->footer(
        "  gpkg hardware list\n"
        "  gpkg create -n ml --for h100 pytorch");
    app.footer(
        "Shows the hardware of this machine, how it was detected, and the virtual packages for the "
        "solver. CONDA_OVERRIDE_CUDA=12.4 overrides a value, as do CONDA_OVERRIDE_GLIBC, _LINUX, "
        "_OSX, _ARCHSPEC, _CUDA_ARCH, _ROCM and _AMDGPU_ARCH. With -v, shows the result of every "
        "detector.\n\n"
        "  gpkg hardware\n"
        "  gpkg hardware --for h100\n"
        "  gpkg hardware export -o here.yaml\n"
        "  gpkg hardware --slurm   # then: gpkg create --for partition=gpu ...");

    for (const auto* site_option : {"--slurm", "--hosts"})
        app.get_option("--for")->excludes(app.get_option(site_option));

    return [=](Context& context) -> Result<int> {
        if (options->site.is_meant() && (*export_app || *list_app))
            return fail(
                ErrorKind::Usage,
                fmt::format("{} cannot be used with {}: it writes profiles of other machines",
                            options->site.slurm ? "--slurm" : "--hosts",
                            *export_app ? "export" : "list"),
                fmt::format("gpkg hardware {}",
                            options->site.slurm ? "--slurm" : "--hosts HOST,..."));
        if (*export_app) return write(context, *options);
        if (*list_app) return list(context);
        if (options->site.is_meant()) return write_site_profiles(context, options->site);
        return show(context, *options);
    };
}

}  // namespace gpkg::cli
