#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/doctor/checkup.hpp"
#include "cli/workflow/doctor/remedies.hpp"
#include "cli/workflow/health/damage.hpp"
#include "cli/workflow/machine.hpp"
#include "libcore/asking/accelerator_memory.hpp"
#include "libcore/asking/earlier_wishes.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/moved.hpp"
#include "libcore/env/prefix.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;
using Grade = Finding::Grade;

struct DoctorOptions {
    TargetOptions target;
    SourceOptions sources;  ///< only --for and --devices
};

struct Looked {
    virtual_packages::HardwareProfile profile;
    virtual_packages::Detection detection;
    std::vector<std::string> warnings;
    Seen seen;
};

/// With what NVIDIA's driver says, also where no channel would ask for it.
Result<Looked> look(const Context& context, const DoctorOptions& options) {
    Looked looked;
    auto& machine = looked.seen.machine;
    GPKG_TRY(machine, machine_of(context, options.sources));
    // As in every --json: the same of a machine as of its profile.
    if (context.out.json_mode()) machine.name = "the machine";
    if (machine.profile) {
        looked.profile = *machine.profile;
    } else {
        const auto host = host_of(context);
        auto detected = virtual_packages::detect_profile(host);
        virtual_packages::describe(host, detected.profile);
        GPKG_CHECK(keep_devices(detected.profile, machine.devices));
        looked.profile = std::move(detected.profile);
        looked.warnings = std::move(detected.warnings);
    }
    const bool is_named = machine.profile.has_value();
    looked.detection = judged(context, looked.profile, machine.platform, is_named);
    explain_overrides(context, looked.detection, is_named);
    looked.warnings.insert(
        looked.warnings.end(), looked.detection.warnings.begin(), looked.detection.warnings.end());
    looked.seen.virtual_packages = looked.detection.records();
    return looked;
}

struct Examined {
    std::string machine;  ///< "this machine", "h100"
    bool has_environment = false;
    std::vector<Finding> findings;
    bool is_interrupted = false;  ///< the environment is neither the old nor the new one

    std::ptrdiff_t count(Grade grade) const {
        return std::ranges::count(findings, grade, &Finding::grade);
    }
    bool is_well() const { return count(Grade::Bad) == 0 && count(Grade::Unknown) == 0; }
};

Result<Examined> examine(Context& context, const DoctorOptions& options) {
    GPKG_TRY(const auto looked, look(context, options));
    const auto& name = looked.seen.machine.name;
    Examined examined{
        name, false, check_machine(name, looked.profile, looked.detection, looked.warnings)};
    auto& findings = examined.findings;
    const bool names_one = !options.target.name.empty() || !options.target.prefix.empty() ||
                           !context.env("CONDA_PREFIX").value_or("").empty();
    if (!names_one) return examined;
    examined.has_environment = true;
    GPKG_TRY(const auto path, existing_prefix(context, options.target));
    examined.is_interrupted = prefix_condition(path) == PrefixCondition::Interrupted;
    if (examined.is_interrupted)
        findings.push_back({Grade::Bad,
                            "environment",
                            interruption_text(path),
                            fmt::format("gpkg repair {}", target_words(context, path))});
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(const auto records, prefix.records());
    if (const auto old = moved_from(path, records))
        findings.push_back({Grade::Bad, "environment", moved_text(context, path, *old), {}});
    GPKG_TRY(const auto state, prefix.state());
    const auto accelerators = accelerators_of({}, state);
    auto wishes = wishes_of(path);
    if (wishes.empty()) wishes = leaves_of(records);
    auto sources = options.sources;
    sources.channels = state.channels;
    sources.override_channels = !state.channels.empty();
    Remedies remedies(context, sources, looked.seen, path, records);
    const Checked checked{path,
                          environment_name(context, path),
                          records,
                          wishes,
                          accelerators,
                          looked.seen,
                          remedies};
    for (auto& finding : check_environment(checked)) findings.push_back(std::move(finding));
    return examined;
}

/// For --json.
std::string_view name_of(Grade grade) {
    switch (grade) {
    case Grade::Good: return "good";
    case Grade::Warning: return "note";
    case Grade::Unknown: return "unknown";
    case Grade::Bad: return "bad";
    }
    return "";
}

/// For people, all of one width.
std::string_view mark_of(Grade grade) {
    switch (grade) {
    case Grade::Good: return "ok     ";
    case Grade::Warning: return "note   ";
    case Grade::Unknown: return "unknown";
    case Grade::Bad: return "problem";
    }
    return "";
}

/// "fits h100 (...)", "does not run on this machine: 2 problems"
std::string verdict_of(const Context& context, const Examined& examined) {
    if (examined.is_interrupted) return "repair the environment, then run gpkg doctor again";
    const auto problems = examined.count(Grade::Bad);
    if (problems > 0)
        return fmt::format("does not run on {}: {} problem{}",
                           examined.machine,
                           problems,
                           problems == 1 ? "" : "s");
    const auto unknown = examined.count(Grade::Unknown);
    if (unknown > 0) return fmt::format("may not run on {}: {} unknown", examined.machine, unknown);
    return fmt::format("fits {} (files not checked; to check them: gpkg verify {})",
                       examined.machine,
                       target_words(context, context.prefix));
}

void print(Context& context, const Examined& examined) {
    for (const auto& [grade, subject, message, hint] : examined.findings) {
        context.out.result(
            fmt::format("{}  {}: {}", context.out.bold(mark_of(grade)), subject, message));
        if (!hint.empty()) context.out.result("         " + context.out.faint(hint));
    }
    if (examined.has_environment)
        context.out.result(verdict_of(context, examined));
    else
        context.out.note("to check an environment: gpkg doctor -n NAME");
}

Json json_of(const std::vector<Finding>& findings, bool is_well) {
    Json document{{"success", is_well}, {"findings", Json::array()}};
    for (const auto& [grade, subject, message, hint] : findings)
        document["findings"].push_back({{"grade", name_of(grade)},
                                        {"subject", subject},
                                        {"message", message},
                                        {"hint", hint.empty() ? Json() : Json(hint)}});
    return document;
}

}  // namespace

Action bind_doctor(CLI::App& app) {
    const auto options = std::make_shared<DoctorOptions>();
    add_target_options(app, options->target);
    add_for_option(app, options->sources);
    app.get_option("--for")->description(
        std::string("check for another machine: a profile written by `gpkg hardware export`, or a "
                    "name listed by `gpkg hardware list`") +
        kFactsMayFollow);
    app.footer(
        "Checks an environment against this machine: driver and CUDA versions, the GPU code in "
        "its libraries, CPU builds on a machine with a GPU, and outdated package names. Exits with "
        "status 1 if something does not run, or if an assumed value of the machine decides it.\n\n"
        "  gpkg doctor -n ml\n"
        "  gpkg doctor -n ml --for a100");

    return [options](Context& context) -> Result<int> {
        GPKG_TRY(const auto examined, examine(context, *options));
        const bool is_well = examined.is_well();
        if (context.out.json_mode()) {
            context.out.json(json_of(examined.findings, is_well));
        } else {
            print(context, examined);
        }
        return is_well ? 0 : 1;
    };
}

}  // namespace gpkg::cli
