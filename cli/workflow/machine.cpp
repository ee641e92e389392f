#include "cli/workflow/machine.hpp"

#include "cli/workflow/settings.hpp"
#include "libcore/base/text.hpp"
#include "libcore/process/process.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/record_version.hpp"
#include "virtual-packages/detectors.hpp"
#include "virtual-packages/machines.hpp"
#include "virtual-packages/virtual_package.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace gpkg::cli {
namespace {

Result<void> check_platform(const std::string& platform) {
    if (is_known_subdir(platform) && platform != "noarch") return {};
    const auto known = known_subdirs();
    const std::vector<std::string> names(known.begin(), known.end());
    const auto near = near_names(platform, names);
    return fail(ErrorKind::Usage,
                fmt::format("--platform {}: unknown platform", platform),
                did_you_mean(near, "for example linux-64"));
}

using ProfilePointer = std::shared_ptr<const virtual_packages::HardwareProfile>;

Result<ProfilePointer> profile_named(const Context& context, const std::string& name) {
    auto& known = context.profiles[name];
    if (known) return known;
    if (const auto machines = virtual_packages::machines_in(name); machines.size() > 1) {
        const bool is_fact = machines[1].find('=') != std::string::npos;
        return fail(
            ErrorKind::Usage,
            is_fact
                ? fmt::format("--for {}: unknown fact '{}'", name, machines[1])
                : fmt::format("--for {}: expected one machine, found {}", name, machines.size()),
            is_fact ? virtual_packages::hint_for_fact(machines[1])
                    : "gpkg lock and gpkg build plan-variants take several");
    }
    auto profile = virtual_packages::find_machine(name, profile_folders(context.config));
    if (!profile) {
        auto error = std::move(profile).error();
        if (error.kind == ErrorKind::NotFound) error.kind = ErrorKind::Usage;
        if (!error.message.starts_with("--for")) error.message = "--for " + error.message;
        return pass(std::move(error));
    }
    known = std::make_shared<const virtual_packages::HardwareProfile>(*std::move(profile));
    return known;
}

/// What overrides the facts of a machine: CONDA_OVERRIDE_ variables in `environment`, and where
/// they say nothing, the configuration.
EnvLookup overriding(const Context& context, EnvLookup environment, bool is_named) {
    auto configured = configured_overrides(context, is_named);
    if (configured.empty()) return environment;
    return [environment = std::move(environment),
            configured = std::move(configured)](std::string_view name) {
        auto value = environment(name);
        if (value) return value;
        const auto found = configured.find(name);
        return found == configured.end() ? std::nullopt : std::optional(found->second);
    };
}

Result<virtual_packages::Detection> detect(const Context& context,
                                           const Machine& machine,
                                           EnvLookup env) {
    env = overriding(context, std::move(env), machine.profile.has_value());
    if (machine.profile)
        return virtual_packages::virtual_packages_of(
            *machine.profile, machine.platform, env, detectable_packages(context));
    auto host = host_of(context);
    host.env = std::move(env);
    host.platform = machine.platform;
    return virtual_packages::detect(host, machine.devices);
}

/// The variable that is meant by one that nobody listens to.
std::string near_variable(const Context& context, const std::string& variable) {
    std::vector<std::string> names;
    for (const auto name : known_virtual_packages())
        names.push_back(override_variable(name.substr(2)));
    for (const auto& name : detectable_packages(context))
        names.push_back(override_variable(std::string_view(name).substr(2)));
    const auto near = near_names(variable, names, 1);
    return near.empty() ? "" : fmt::format("; did you mean {}?", near.front());
}

std::vector<virtual_packages::ActiveOverride> unknown_overrides(
    const Context& context, const virtual_packages::Detection& detection, bool is_named) {
    std::vector<virtual_packages::ActiveOverride> unknown;
    auto known = set_overrides(context);
    known.merge(configured_overrides(context, is_named));
    for (const auto& set : known) {
        const auto is_it = [&](const auto& one) { return one.variable == set.first; };
        if (std::ranges::none_of(detection.overrides, is_it))
            unknown.push_back({set.first,
                               set.second,
                               virtual_packages::OverrideEffect::None,
                               "no such virtual package" + near_variable(context, set.first)});
    }
    return unknown;
}

/// The need of a virtual package in "no: needs __cuda >=13, but ..."; a spec without a name where
/// there is none.
MatchSpec need_in(std::string_view text) {
    constexpr std::string_view kStart = "needs __";
    const auto at = text.find(kStart);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + kStart.size() - 2);
    const auto end = std::min(text.find(", but"), text.find(" ("));
    return MatchSpec::parse(text.substr(0, end)).value_or(MatchSpec());
}

/// A value for --for NAME,KEY=...: a CPU is no version, and has names.
std::string example_value(std::string_view key, const PackageRecord& record) {
    if (key != "cpu") return "VERSION";
    std::string assumed(value_told(record));
    return assumed.starts_with("x86_64") ? "x86_64_v4" : assumed;
}

}  // namespace

Result<virtual_packages::DeviceChoice> device_choice(const Context& context,
                                                     const SourceOptions& options) {
    using virtual_packages::DeviceChoice;
    if (!options.devices.empty()) return DeviceChoice::parse(options.devices);
    const auto& configured = context.config.devices;
    if (configured.value.empty()) return DeviceChoice();
    GPKG_TRY(auto choice, DeviceChoice::parse(configured.value));
    choice.is_standing = true;
    if (choice.kind == DeviceChoice::Kind::Some && !options.for_machine.empty())
        return DeviceChoice();
    return choice;
}

Result<Machine> machine_of(const Context& context, const SourceOptions& options) {
    Machine machine;
    GPKG_TRY(machine.devices, device_choice(context, options));
    machine.platform = options.platform.empty() ? context.config.platform.value : options.platform;
    if (options.for_machine.empty()) {
        GPKG_CHECK(check_platform(machine.platform));
        if (machine.platform != virtual_packages::this_machine().native_platform)
            machine.name = fmt::format("platform {}", machine.platform);
        return machine;
    }
    // As a list of machines has it: "h100,glibc=2.36", also where blanks were typed.
    const auto machines = virtual_packages::machines_in(options.for_machine);
    const auto& given = machines.size() == 1 ? machines.front() : options.for_machine;
    GPKG_TRY(const auto profile, profile_named(context, given));
    if (!options.platform.empty() && options.platform != profile->platform)
        return fail(ErrorKind::Usage,
                    fmt::format("--platform {} conflicts with --for {}, which is {}",
                                options.platform,
                                options.for_machine,
                                profile->platform),
                    "remove --platform");
    machine.platform = profile->platform;
    GPKG_CHECK(check_platform(machine.platform));
    machine.name = given;
    machine.given = given;
    machine.profile = *profile;
    GPKG_CHECK(virtual_packages::keep_devices(*machine.profile, machine.devices));
    return machine;
}

std::optional<std::string> assumed_note(const std::string& given,
                                        const std::vector<PackageRecord>& virtual_packages,
                                        const std::vector<std::string>& unmet) {
    if (given.empty()) return std::nullopt;
    std::vector<std::string> facts;
    std::string example;
    for (const auto& record : virtual_packages) {
        const auto key = virtual_packages::given_key(record.name);
        if (!is_assumed(record) || !key) continue;
        facts.push_back(fmt::format("{}={}", *key, value_told(record)));
        if (example.empty() || *key == "glibc")
            example = fmt::format("--for {},{}={}", given, *key, example_value(*key, record));
    }
    if (facts.empty()) return std::nullopt;
    if (!unmet.empty()) {
        example.clear();
        for (const auto& text : unmet) {
            auto spec = need_in(text);
            const auto* there = find_record(virtual_packages, spec.name);
            if (there == nullptr || !is_assumed(*there)) continue;
            example = how_to_give(given, {std::move(spec), there});
            break;
        }
        if (example.empty()) return std::nullopt;
    }
    return fmt::format("assumed for {}: {}; to give a value: {}",
                       given,
                       join_some(facts, "and", facts.size()),
                       example);
}

std::string how_to_give(const std::string& given, const UnmetNeed& need) {
    const auto& name = need.spec.name;
    auto value = values_taken(need).example;
    if (value.empty()) value = "VERSION";
    const auto key = virtual_packages::given_key(name);
    return given.empty() || !key
               ? fmt::format("{}={}", override_variable(std::string_view(name).substr(2)), value)
               : fmt::format("--for {},{}={}", shell_word(given), *key, value);
}

Context without_overrides(const Context& context) {
    std::vector<std::string> left_out;
    for (const auto& [variable, value] : set_overrides(context)) left_out.push_back(variable);
    if (left_out.empty()) return context;
    context.out.note(fmt::format(
        "note: ignored with --for: {} (a lock is for machines as --for names them; to give a fact: "
        "--for NAME,glibc=2.36)",
        join_some(left_out, "and", left_out.size())));
    auto without = context;
    without.env = [env = context.env](std::string_view name) {
        return name.starts_with(kOverrides) ? std::nullopt : env(name);
    };
    return without;
}

std::string machine_flags(const SourceOptions& options) {
    std::string text;
    if (!options.for_machine.empty()) text += " --for " + shell_word(options.for_machine);
    if (!options.devices.empty()) text += " --devices " + shell_word(options.devices);
    return text;
}

Result<std::vector<PackageRecord>> detected_packages(Context& context, const Machine& machine) {
    GPKG_TRY(const auto detection, detect(context, machine, context.env));
    const DeferredNotes deferred(context.out);
    if (machine.profile && machine.profile->known_by_names)
        context.out.warn_once(
            fmt::format("{}: guessed from the names Slurm lists; gpkg hardware --slurm detects the "
                        "hardware on a node",
                        machine.name));
    if (machine.profile && machine.profile->nvidia_driver && detection.find("__cuda") == nullptr)
        context.out.warn_once(
            fmt::format("{}: has an NVIDIA driver version but no `cuda:` (the newest CUDA the "
                        "driver supports), so no __cuda and no CUDA builds",
                        machine.name));
    for (const auto& [variable, value, effect, text] : detection.overrides) {
        if (machine.profile && effect != virtual_packages::OverrideEffect::None)
            context.out.note_once(fmt::format(
                "note: {}={} also applies to {}: {}", variable, value, machine.name, text));
    }
    for (const auto& warning : detection.warnings) context.out.warn(warning);
    for (const auto& one : unknown_overrides(context, detection, machine.profile.has_value()))
        context.out.warn_once(fmt::format("{}={}: {}", one.variable, one.value, one.text));
    return detection.records();
}

std::vector<PackageRecord> virtual_packages_with(const Context& context,
                                                 const Machine& machine,
                                                 EnvLookup env) {
    const auto detection = detect(context, machine, std::move(env));
    return detection ? detection->records() : std::vector<PackageRecord>();
}

virtual_packages::Host host_of(const Context& context) {
    auto host = virtual_packages::this_machine();
    host.env = overriding(context, context.env, false);
    host.cuda.cache_folder = context.config.index_cache();
    host.detectors.cache_folder = host.cuda.cache_folder;
    host.detectors.folders.insert(host.detectors.folders.begin(),
                                  context.config.root_prefix.value / "detectors");
    return host;
}

std::vector<std::string> detectable_packages(const Context& context) {
    return virtual_packages::detectable_packages(host_of(context));
}

OverrideMap configured_overrides(const Context& context, bool is_named) {
    OverrideMap configured;
    if (is_named) return configured;
    for (const auto& [package, value] : context.config.override_virtual_packages.value)
        configured.emplace(override_variable(package), value);
    return configured;
}

virtual_packages::Detection judged(const Context& context,
                                   const virtual_packages::HardwareProfile& profile,
                                   const std::string& platform,
                                   bool is_named) {
    return virtual_packages::virtual_packages_of(profile,
                                                 platform,
                                                 overriding(context, context.env, is_named),
                                                 detectable_packages(context));
}

OverrideMap set_overrides(const Context& context) {
    const auto all = current_environment();
    OverrideMap variables(all.begin(), all.end());
    std::erase_if(variables, [&](const auto& variable) {
        return !variable.first.starts_with(kOverrides) || !context.env(variable.first);
    });
    return variables;
}

void explain_overrides(const Context& context,
                       virtual_packages::Detection& detection,
                       bool is_named) {
    const auto variables = current_environment();
    for (const auto& [variable, value] : configured_overrides(context, is_named)) {
        if (variables.contains(variable)) continue;
        for (auto& found : detection.packages) {
            if (found.source == variable)
                found.source = "override_virtual_packages in " +
                               context.config.override_virtual_packages.source;
        }
    }
    auto& known = detection.overrides;
    for (auto& one : unknown_overrides(context, detection, is_named))
        known.push_back(std::move(one));
    std::sort(known.begin(), known.end(), [](const auto& a, const auto& b) {
        return a.variable < b.variable;
    });
}

std::vector<fs::path> profile_folders(const Config& config) {
    std::vector<fs::path> folders{config.root_prefix.value / "profiles"};
    const auto& further = config.profile_folders.value;
    folders.insert(folders.end(), further.begin(), further.end());
    return folders;
}

}  // namespace gpkg::cli
