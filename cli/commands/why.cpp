#include "cli/command.hpp"
#include "cli/commands/why_not.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/given_words.hpp"
#include "cli/options.hpp"
#include "cli/workflow/ask/dependencies.hpp"
#include "cli/workflow/ask/found.hpp"
#include "cli/workflow/machine.hpp"
#include "cli/workflow/record_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/history.hpp"
#include "libcore/env/order.hpp"
#include "libcore/env/prefix.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Reasons of which the shortest are shown unless all are asked for.
constexpr std::size_t kMostWays = 3;
/// With --all: there can be exponentially many.
constexpr std::size_t kMostOfAll = 100;

struct WhyOptions {
    TargetOptions target;
    SourceOptions sources;  ///< with one of these, the question is about a request
    std::string name;
    bool all = false;
};

/// What an environment says of one of its packages.
struct Reasons {
    RecordGraph graph;
    std::size_t target = 0;
    std::map<std::string, std::vector<std::string>> requested;  ///< specs by name
    std::vector<RecordGraph::Way> ways;  ///< from what was asked for, shortest first
    bool is_complete = true;             ///< else there are more
};

Result<Reasons> look(const fs::path& path, const std::string& name, bool all) {
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(const auto installed, prefix.records());
    GPKG_TRY(const auto history, prefix.history());
    Reasons reasons{graph_of(installed), 0, requested_by_name(history), {}, true};
    const auto target = reasons.graph.find(name);
    if (!target) {
        auto error = not_installed(name, name, installed, path);
        if (error.hint.empty()) {
            error = with_environment_hint(
                std::move(error), "to see why not: gpkg why-not {}", path.native());
            error.hint += " " + shell_word(name);
        }
        return pass(std::move(error));
    }
    reasons.target = *target;
    std::vector<std::size_t> roots;
    for (const auto& [asked, specs] : reasons.requested) {
        if (const auto place = reasons.graph.find(asked)) roots.push_back(*place);
    }
    if (all) {
        auto [ways, is_complete] = reasons.graph.all_ways(roots, *target, kMostOfAll);
        reasons.ways = std::move(ways);
        reasons.is_complete = is_complete;
        return reasons;
    }
    reasons.ways = reasons.graph.ways(roots, *target);
    std::stable_sort(reasons.ways.begin(), reasons.ways.end(), [](const auto& a, const auto& b) {
        return a.steps.size() < b.steps.size();
    });
    return reasons;
}

void print_way(Output& out, const Reasons& reasons, const RecordGraph::Way& way) {
    const auto& records = reasons.graph.records();
    const auto& root = records[way.root];
    std::vector<std::string> asked;
    for (const auto& spec : reasons.requested.at(root.name))
        asked.push_back(dependency_text(spec, ""));
    out.result(fmt::format("{} {} requested",
                           join_some(asked, "and", asked.size()),
                           asked.size() == 1 ? "is" : "are"));
    std::size_t depth = 0;
    for (const auto& step : way.steps)
        out.result(fmt::format("{}└─ {} {} needs {}",
                               std::string(3 * depth++, ' '),
                               records[step.from].name,
                               records[step.from].version,
                               dependency_text(step.spec, step.extra)));
}

void print(Output& out, const Reasons& reasons, bool all) {
    const auto& record = reasons.graph.records()[reasons.target];
    out.result(out.bold(record_title(record)) + accelerator_remark(record));
    const auto users = reasons.graph.needed_by(reasons.target);
    if (reasons.ways.empty()) {
        out.result(users.empty() ? "not requested, and no package needs it"
                                 : "no requested package needs it");
        for (const auto& need : users)
            out.result(fmt::format("└─ {} needs {}",
                                   record_title(reasons.graph.records()[need.from]),
                                   dependency_text(need.spec, need.extra)));
        return;
    }
    const auto shown = all ? reasons.ways.size() : std::min(kMostWays, reasons.ways.size());
    for (std::size_t i = 0; i < shown; ++i) print_way(out, reasons, reasons.ways[i]);
    if (shown < reasons.ways.size())
        out.result(fmt::format("and {} more requested packages need it; --all shows them",
                               reasons.ways.size() - shown));
    if (!reasons.is_complete)
        out.result(fmt::format("there are more chains; the {} shortest are shown", shown));
}

Json json_of(const Reasons& reasons) {
    const auto& records = reasons.graph.records();
    const auto& record = records[reasons.target];
    const auto step_json = [&](const Need& need) {
        return Json{{"name", records[need.from].name},
                    {"version", records[need.from].version},
                    {"build", records[need.from].build},
                    {"needs", need.spec},
                    {"extra", need.extra.empty() ? Json() : Json(need.extra)}};
    };
    Json document{{"name", record.name}, {"version", record.version}, {"build", record.build}};
    const auto requested = [&](const std::string& name) {
        const auto asked = reasons.requested.find(name);
        return asked == reasons.requested.end()
                   ? Json()
                   : Json(fmt::format("{}", fmt::join(asked->second, ", ")));
    };
    document["requested"] = requested(record.name);
    document["needed_by"] = Json::array();
    for (const auto& need : reasons.graph.needed_by(reasons.target))
        document["needed_by"].push_back(step_json(need));
    document["chains"] = Json::array();
    for (const auto& way : reasons.ways) {
        Json steps = Json::array();
        for (const auto& step : way.steps) steps.push_back(step_json(step));
        document["chains"].push_back(
            {{"requested", requested(records[way.root].name)}, {"steps", steps}});
    }
    return document;
}

/// Whether channels or a machine are given: these count for requests, not for environments.
bool is_about_request(const SourceOptions& sources) {
    return !sources.channels.empty() || !sources.channel_priority.empty() ||
           !sources.platform.empty() || !sources.for_machine.empty() || !sources.devices.empty() ||
           !sources.exclude_newer.empty();
}

Result<int> why(Context& context, const WhyOptions& options) {
    if (is_about_request(options.sources)) {
        const auto target = target_flags(options.target);
        if (target.empty()) return why_selected(context, options.sources, options.name);
        const auto name = shell_word(options.name);
        return fail(ErrorKind::Usage,
                    "channels and machines cannot be given with -n or -p",
                    fmt::format("why {0} is installed: gpkg why {0}{1}; why this build: gpkg "
                                "why-not {0}{1}{2}; whether it runs there: gpkg doctor{1}{3}",
                                name,
                                target,
                                given_sources(context.arguments),
                                machine_flags(options.sources)));
    }
    auto found = existing_prefix(context, options.target);
    if (!found && found.error().message == kNoEnvironmentActive)
        found.error().hint +=
            fmt::format("; for a new request: gpkg why-not {}", shell_word(options.name));
    GPKG_TRY(const auto prefix, std::move(found));
    tell_condition(context, prefix);
    GPKG_TRY(const auto reasons, look(prefix, options.name, options.all));
    if (context.out.json_mode()) {
        context.out.json(json_of(reasons));
        return 0;
    }
    print(context.out, reasons, options.all);
    if (!accelerator_remark(reasons.graph.records()[reasons.target]).empty())
        context.out.note(fmt::format("hint: why this build: gpkg why-not {} {}",
                                     target_words(context, prefix),
                                     shell_word(options.name)));
    if (options.all && reasons.ways.size() > kMostWays)
        context.out.note(fmt::format("shorter: gpkg tree --invert {} {}",
                                     target_words(context, prefix),
                                     shell_word(options.name)));
    return 0;
}

}  // namespace

Action bind_why(CLI::App& app) {
    const auto options = std::make_shared<WhyOptions>();
    app.add_option("name", options->name, "an installed package, or with -c or --for any")
        ->required()
        ->type_name("NAME");
    add_target_options(app, options->target);
    add_source_options(app, options->sources);
    app.add_flag("--all", options->all, "show every chain, not only the shortest of each request");
    app.footer(
        "Shows which requested packages need an installed package, and through which "
        "dependencies. With a channel or a machine, shows which build a request for the package "
        "selects, and why.\n\n"
        "  gpkg why libblas -n ml\n"
        "  gpkg why libblas -n ml --all\n"
        "  gpkg why pytorch --for h100");

    return [options](Context& context) { return why(context, *options); };
}

}  // namespace gpkg::cli
