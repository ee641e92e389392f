#include "libcore/solve/why_not.hpp"

#include "cli/command.hpp"
#include "cli/commands/why_not.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/ask/explanation_json.hpp"
#include "cli/workflow/ask/fitting.hpp"
#include "cli/workflow/ask/hints.hpp"
#include "cli/workflow/ask/question.hpp"
#include "cli/workflow/ask/unsatisfiable.hpp"
#include "cli/workflow/record_text.hpp"
#include "cli/workflow/settings.hpp"
#include "cli/workflow/wishes/wishes.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/asked_spec.hpp"
#include "libcore/solve/accelerators.hpp"
#include "libcore/solve/machine_needs.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"
#include "solver/solver.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;
using Verdict = WhyNot::Verdict;

constexpr std::size_t kMostDifferences = 10;

struct WhyNotOptions {
    TargetOptions target;
    SourceOptions sources;
    WishOptions wishes;
    std::string spec;
    bool all = false;
    bool no_pin = false;
};

bool names_environment(const WhyNotOptions& options) {
    return !options.target.name.empty() || !options.target.prefix.empty();
}

bool is_environment_active(const Context& context) {
    const auto active = context.env("CONDA_PREFIX");
    return active && !active->empty();
}

/// The request that is named, else the environment as it is, else the package by its bare name.
Result<ChangeRequest> request_of(Context& context, WhyNotOptions& options, const AskedSpec& asked) {
    const auto& spec = asked.spec;
    GPKG_TRY(auto wishes, read_wishes(context, options.wishes, options.sources));
    if (!wishes.files.empty())
        return fail(ErrorKind::Usage, "package files cannot be solved; give specs instead");
    auto request = change_request(std::move(wishes));
    if (asked.accelerator) request.accelerators.of_package[spec.name] = *asked.accelerator;
    request.update = {spec.name};  // it may move, and the channels are asked for it
    request.reach.no_pin = options.no_pin;
    if (!request.specs.empty()) {
        if (names_environment(options))
            return fail(ErrorKind::Usage,
                        "give either a request (specs) or an environment (-n or -p), not both");
        GPKG_CHECK(heed_usual_accelerator(context, request.accelerators));
        return request;
    }
    if (!names_environment(options) && !is_environment_active(context)) {
        MatchSpec bare;
        bare.name = spec.name;
        request.specs.push_back(std::move(bare));
        GPKG_CHECK(heed_usual_accelerator(context, request.accelerators));
        return request;
    }
    GPKG_TRY(request.prefix, existing_prefix(context, options.target));
    return request;
}

bool needs_other_machine(const Fix& fix) {
    return std::ranges::find(fix.changes, ProblemChange::Kind::SetMachine, &ProblemChange::kind) !=
           fix.changes.end();
}

/// Whether another request has it, on the same machine.
bool could_be_asked_for(const Explanation& explanation) {
    return !std::ranges::all_of(explanation.fixes, needs_other_machine);
}

void print_differences(Output& out, const WhyNot& found, bool all) {
    if (found.differences.empty()) return;
    out.result("this would change:");
    const auto shown =
        all ? found.differences.size() : std::min(kMostDifferences, found.differences.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const auto& [now, then] = found.differences[i];
        if (!now) {
            out.result(fmt::format("  + {}", record_title(*then)));
        } else if (!then) {
            out.result(fmt::format("  - {}", record_title(*now)));
        } else {
            out.result(fmt::format(
                "  ~ {} instead of {} {}", record_title(*then), now->version, now->build));
        }
    }
    if (shown < found.differences.size())
        out.result(
            fmt::format("  and {} more; --all shows them", found.differences.size() - shown));
}

/// "gpkg install -n ml numpy=2 -c conda-forge": the line of this command, asking for the spec.
std::string install_command(const Context& context, const std::string& spec) {
    auto words = context.arguments;
    words.front() = "gpkg";
    bool is_verb = true;
    for (const auto place : context.positionals) {
        words[place] = std::exchange(is_verb, false) ? "install" : spec;
    }
    std::erase_if(words, [](const auto& word) { return word == "--all" || word == "--json"; });
    return shell_words(words);
}

/// Whether nothing that is asked for has a part in the clash.
bool is_alone(const Explanation& explanation) {
    const auto& lines = explanation.clashes.front().lines;
    return std::count_if(lines.begin(), lines.end(), [](const auto& line) {
               return line.depth == 0 && (line.kind == ExplanationLine::Kind::Request ||
                                          line.kind == ExplanationLine::Kind::Pin);
           }) == 1;
}

/// "no searched channel has numpy=3; available: 2.4 and 2.3"; empty where some channel has it.
std::string not_in_channels(const std::string& asked, const Explanation& explanation) {
    if (explanation.clashes.size() != 1) return {};
    const auto& lines = explanation.clashes.front().lines;
    const auto& line = lines.front();
    if (lines.size() != 1 || line.kind != ExplanationLine::Kind::Request || line.askers == 0 ||
        line.versions.empty() || !line.left_out.empty())
        return {};
    const auto text = line.text();
    const auto available = text.find("; ");
    return fmt::format("no searched channel has {}{}",
                       asked,
                       available == std::string::npos ? "" : text.substr(available));
}

/// How another machine is named: by a fact behind the name of --for where that is only assumed.
std::string other_machine_text(const Question& question, const Explanation& explanation) {
    std::vector<std::string> needs;
    for (const auto& fix : explanation.fixes) {
        for (const auto& change : fix.changes) {
            if (change.kind != ProblemChange::Kind::SetMachine) continue;
            needs.push_back(change.name == "__archspec"
                                ? fmt::format("needs {} * {}", change.name, change.build)
                                : fmt::format("needs {} >={}", change.name, change.version));
        }
    }
    return assumed_note(question.machine.given, question.problem.virtual_packages, needs)
        .value_or("or for another machine: --for NAME (gpkg hardware list)");
}

void print_impossible(Output& out,
                      const std::string& asked,
                      const Question& question,
                      const Explanation& explanation) {
    const auto& machine = question.problem.machine;
    if (const auto text = not_in_channels(asked, explanation); !text.empty()) {
        out.result(text);
    } else {
        out.result(fmt::format("{} {}",
                               asked,
                               !is_alone(explanation) ? "conflicts with the request"
                               : could_be_asked_for(explanation)
                                   ? "cannot be installed here as requested"
                                   : "cannot be installed on " + machine));
        out.result(explanation.tree());
    }
    if (explanation.fixes.empty()) return;
    out.result("what would work:");
    for (const auto& fix : explanation.fixes) out.result("  " + fix.text());
    if (std::ranges::any_of(explanation.fixes, needs_other_machine))
        out.result("  " + other_machine_text(question, explanation));
}

/// How many builds the chosen version has; 0 where a channel has a newer version, and for virtual
/// packages.
std::size_t builds_of_newest(const Question& question, const PackageRecord& chosen) {
    const auto version = version_of(chosen);
    std::size_t builds = 0;
    for (const auto& index : question.problem.indexes) {
        const auto records = index->find(chosen.name);
        if (!version || !records) continue;
        for (const auto* row : records->choices(question.problem.exclude_newer)) {
            const auto other = Version::parse(records->version(*row));
            if (other && *version < *other) return 0;
            if (other && *version == *other) ++builds;
        }
    }
    return builds;
}

/// ": newest version, CUDA build"; empty where neither is known.
std::string why_chosen(const Question& question, const PackageRecord& chosen) {
    std::vector<std::string> reasons;
    const auto builds = builds_of_newest(question, chosen);
    if (builds > 0) reasons.emplace_back("newest version");
    const auto of = accelerator_of(chosen);
    if (of.evidence.empty() && builds > 1) reasons.emplace_back("best build");
    if (!of.evidence.empty())
        reasons.push_back(fmt::format("{} build", compute_platform(of.accelerator)));
    return reasons.empty() ? "" : fmt::format(": {}", fmt::join(reasons, ", "));
}

/// "CUDA build because h100 has an NVIDIA GPU", and how an older driver runs it.
std::vector<std::string> on_build(const Question& question, const PackageRecord& chosen) {
    if (accelerator_remark(chosen).empty()) return {};
    std::vector<std::string> lines;
    if (auto reason = build_reason(question, chosen); !reason.empty())
        lines.push_back(std::move(reason));
    if (auto note = note_on_cuda_minor_version(question.problem.virtual_packages, {chosen}))
        lines.push_back(*std::move(note));
    return lines;
}

/// "accelerator nvidia has no effect yet: ...", where that is asked for.
std::string on_accelerator(const Question& question, const PackageRecord& chosen) {
    const auto& asked = question.wanted.accelerators;
    const auto own = asked.of_package.find(chosen.name);
    auto choice = AcceleratorChoice::Auto;
    if (own != asked.of_package.end())
        choice = own->second;
    else if (asked.all.size() == 1)
        choice = asked.all.front();
    const auto vendor = vendor_of(choice);
    if (!vendor || !accelerator_of(chosen).evidence.empty() || is_vendor_part(chosen.name))
        return {};
    return fmt::format("accelerator {} has no effect on {} {}: it has no {} builds",
                       to_string(choice),
                       chosen.name,
                       chosen.version,
                       compute_platform(*vendor));
}

/// "t 2.0 cuda129_0 cannot be used: needs __cuda >=12, but this machine has no NVIDIA driver",
/// of a build that meets the spec; empty where none is newer than `possible`.
std::string newer_for_other_machine(const Question& question,
                                    const MatchSpec& spec,
                                    const PackageRecord& possible) {
    const auto version = version_of(possible);
    if (!version) return {};
    for (const auto& index : question.problem.indexes) {
        const auto records = index->find(spec.name);
        if (!records) continue;
        for (const auto* row : records->choices(question.problem.exclude_newer)) {
            const auto other = Version::parse(records->version(*row));
            if (!other || !(*version < *other)) continue;
            if (spec.build && !spec.build->matches(records->build(*row))) continue;
            const auto record = index->record(*records, *row);
            if (!record || !spec.matches(*record)) continue;
            const auto needs = unmet_needs(*record, question.problem.virtual_packages);
            if (needs.empty()) continue;
            return fmt::format("{} cannot be used: {}",
                               record_title(*record),
                               unmet_text(needs.front(), question.problem.machine));
        }
    }
    return {};
}

void print(const Context& context,
           const WhyNotOptions& options,
           const Question& question,
           const MatchSpec& spec,
           const WhyNot& found) {
    auto& out = context.out;
    const bool in_environment = !question.prefix.empty();
    const auto asked = as_typed(spec);
    const bool is_possible = found.verdict == Verdict::Unneeded ||
                             found.verdict == Verdict::LessGood ||
                             found.verdict == Verdict::Outranked;
    // A GPU build that is not the newest is chosen where newer ones do not run.
    const bool is_gpu_build = found.verdict == Verdict::Chosen &&
                              accelerator_of(*found.chosen).accelerator != Accelerator::None;
    if (is_possible || is_gpu_build) {
        const auto text =
            newer_for_other_machine(question, spec, is_possible ? *found.possible : *found.chosen);
        if (!text.empty()) {
            out.result(text);
            if (is_gpu_build)
                out.result(
                    fmt::format("an older {} build is possible:",
                                compute_platform(accelerator_of(*found.chosen).accelerator)));
        }
    }
    switch (found.verdict) {
    case Verdict::NoAnswer:
    case Verdict::Unknown: return;
    case Verdict::Chosen: {
        const auto* installed = find_record(question.present.records, spec.name);
        if (!in_environment) {
            const auto& chosen = *found.chosen;
            out.result(
                fmt::format("{} is chosen{}", record_title(chosen), why_chosen(question, chosen)));
            for (const auto& line : on_build(question, chosen)) out.result(line);
            if (const auto text = on_accelerator(question, chosen); !text.empty()) out.result(text);
        } else if (installed != nullptr && spec.matches(installed->package)) {
            out.result(fmt::format("{} is installed{}",
                                   record_title(installed->package),
                                   accelerator_remark(installed->package)));
            const auto lines = on_build(question, installed->package);
            for (const auto& line : lines) out.result(line);
            const auto vendor = accelerator_of(installed->package).accelerator;
            if (lines.empty() && vendor != Accelerator::None &&
                !has_device(question.problem.virtual_packages, vendor))
                out.result(
                    fmt::format("{} has no {} GPU; for the machine that the environment is "
                                "for, add --for NAME or --for FILE",
                                question.problem.machine,
                                vendor_title(vendor)));
        } else {
            out.result(fmt::format("it can be installed: {}  # gives {}",
                                   install_command(context, asked),
                                   record_title(*found.chosen)));
        }
        return;
    }
    case Verdict::Impossible:
        print_impossible(out, asked, question, found.explanation);
        if (const auto hint = hint_on_exact_version(question.problem.indexes, spec); !hint.empty())
            out.result(hint);
        return;
    case Verdict::Unneeded:
        out.result(fmt::format("no package needs {}; if requested, it would be {}",
                               spec.extras.empty() ? spec.name : asked,
                               record_title(*found.possible)));
        break;
    case Verdict::LessGood:
        out.result(fmt::format("{} is possible, but {} {}",
                               record_title(*found.possible),
                               record_title(*found.chosen),
                               found.reason));
        break;
    case Verdict::Outranked:
        out.result(fmt::format("{} is possible, but conflicts with the best match for the request",
                               record_title(*found.possible)));
        if (!found.explanation.clashes.empty()) out.result(found.explanation.tree());
        break;
    }
    print_differences(out, found, options.all);
    if (in_environment)
        out.result("to install it: " + install_command(context, asked));
    else if (found.verdict != Verdict::Unneeded)
        out.result(fmt::format("to get it, add {} to the request", shell_word(asked)));
}

std::string_view name_of(Verdict verdict) {
    switch (verdict) {
    case Verdict::Chosen: return "chosen";
    case Verdict::NoAnswer: return "no_answer";
    case Verdict::Unknown: return "unknown";
    case Verdict::Impossible: return "impossible";
    case Verdict::Unneeded: return "unneeded";
    case Verdict::LessGood: return "less_good";
    case Verdict::Outranked: return "outranked";
    }
    return "";
}

Json json_of(const MatchSpec& spec, const WhyNot& found) {
    const auto record = [](const std::optional<PackageRecord>& one) {
        return one ? record_json(*one) : Json();
    };
    Json document{{"success", true},
                  {"spec", spec.to_string()},
                  {"verdict", name_of(found.verdict)},
                  {"chosen", record(found.chosen)},
                  {"possible", record(found.possible)}};
    if (!found.reason.empty()) document["reason"] = found.reason;
    document["clashes"] = clashes_json(found.explanation);
    document["fixes"] = Json::array();
    for (const auto& fix : found.explanation.fixes) document["fixes"].push_back(fix_json(fix));
    document["differences"] = Json::array();
    for (const auto& [now, then] : found.differences)
        document["differences"].push_back({{"now", record(now)}, {"then", record(then)}});
    return document;
}

Result<int> why_not(Context& context, WhyNotOptions& options) {
    auto asked = AskedSpec::parse(options.spec);
    if (!asked) asked.error().kind = ErrorKind::Usage;
    GPKG_TRY(const auto about, std::move(asked));
    const auto& spec = about.spec;
    if (!spec.has_one_name())
        return fail(ErrorKind::Usage,
                    fmt::format("{}: matches more than one package name", spec.to_string()),
                    "name one package, e.g. gpkg why-not 'numpy>=2'");
    GPKG_TRY(const auto request, request_of(context, options, about));
    ask_channels_of(std::span(&spec, 1), options.sources);
    GPKG_TRY(const auto question, question_of(context, options.sources, request));
    GPKG_TRY(auto found, gpkg::why_not(question.problem, spec, solver::solve, solver::advantage));
    GPKG_CHECK(check_stop(context));
    if (found.verdict == Verdict::NoAnswer) {
        // The request was not the user's, and so no error.
        const bool is_of_bare_name = options.wishes.specs.empty() && request.prefix.empty() &&
                                     options.wishes.files.empty() && !question.channels.empty();
        if (!is_of_bare_name) return pass(unsatisfiable(context, question, found.explanation));
        const bool is_unknown = !found.explanation.clashes.front().lines.front().channels.empty();
        found.verdict = is_unknown ? Verdict::Unknown : Verdict::Impossible;
    }
    if (found.verdict == Verdict::Unknown)
        return fail(ErrorKind::NotFound,
                    found.explanation.clashes.front().lines.front().text(),
                    hint_on_names(question, found.explanation));
    if (context.out.json_mode()) {
        context.out.json(json_of(spec, found));
    } else {
        print(context, options, question, spec, found);
    }
    return 0;
}

}  // namespace

Result<int> why_selected(Context& context, const SourceOptions& sources, const std::string& spec) {
    WhyNotOptions options;
    options.sources = sources;
    options.spec = spec;
    options.wishes.specs = {spec};
    return why_not(context, options);
}

Action bind_why_not(CLI::App& app) {
    const auto options = std::make_shared<WhyNotOptions>();
    app.add_option("spec", options->spec, "the missing package, e.g. 'numpy>=2'")
        ->required()
        ->type_name("SPEC");
    add_target_options(app, options->target);
    add_source_options(app, options->sources);
    add_wish_options(app, options->wishes);
    app.get_option("specs")->description(
        "the request; default: the environment, or without one the package");
    app.add_flag("--all", options->all, "show every package that would change");
    add_pin_option(app, options->no_pin);
    app.footer(
        "Shows why a package, version or build is not chosen: for a request, or in an "
        "environment. A single SPEC asks about the active environment; without one, about a "
        "request for that package alone.\n\n"
        "  gpkg why-not 'pytorch=2.12.*=cuda*' --for h100\n"
        "  gpkg why-not 'numpy>=2' 'torch=2.1' pandas\n"
        "  gpkg why-not 'python=3.14' -n ml");

    return [options](Context& context) { return why_not(context, *options); };
}

}  // namespace gpkg::cli
