#include "libcore/env/history.hpp"

#include "cli/command.hpp"
#include "cli/command_log.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/workflow/generations.hpp"
#include "cli/workflow/requested.hpp"
#include "libcore/base/moment.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/prefix.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Generation& generation, const std::vector<PackageDifference>& changes) {
    const auto local = parse_local_time(generation.time);
    Json json{{"number", generation.number},
              {"time", local ? moment_text(*local) : generation.time},
              {"command", generation.command.empty() ? Json() : Json(generation.command)},
              {"restores", generation.restores == 0 ? Json() : Json(generation.restores)},
              {"packages", generation.packages.size()},
              {"requested", generation.requested},
              {"added", Json::array()},
              {"removed", Json::array()}};
    for (const auto& change : changes) {
        if (change.after != nullptr) json["added"].push_back(change.after->distribution());
        if (change.before != nullptr) json["removed"].push_back(change.before->distribution());
    }
    return json;
}

/// "+scipy, ~numpy, -torch"
std::string names_of(const std::vector<PackageDifference>& changes) {
    std::vector<std::string> names;
    names.reserve(changes.size());
    for (const auto& change : changes) {
        const auto mark = change.before == nullptr ? '+' : change.after == nullptr ? '-' : '~';
        names.push_back(mark + change.name());
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

/// What changed where no package did: "requested specs (numpy -> numpy<2), accelerator none".
std::string settings_of(const Generation& before, const Generation& after) {
    if (before.number == 0) return {};
    RequestedSpecs old;
    RequestedSpecs now;
    for (const auto& spec : before.requested) {
        old[spec_name(spec)].push_back(spec);
        now[spec_name(spec)] = {};
    }
    for (const auto& spec : after.requested) now[spec_name(spec)].push_back(spec);
    std::vector<std::string> texts;
    if (const auto changes = requested_changes(old, now); !changes.empty())
        texts.push_back(fmt::format("requested specs ({})", fmt::join(changes, "; ")));
    const auto& accelerator = after.state.accelerator;
    if (accelerator != before.state.accelerator)
        texts.push_back(
            fmt::format("accelerator {}", accelerator.empty() ? "not set" : accelerator));
    else if (after.state != before.state)
        texts.emplace_back("settings");
    if (!texts.empty()) return fmt::format("{}", fmt::join(texts, ", "));
    // A generation does not hold these.
    return before.packages == after.packages ? "variables or pip packages" : "package metadata";
}

/// "+2 ~1", or with `names` the packages; what else changed where no package did.
std::string changes_text(const Generation& before,
                         const Generation& after,
                         const std::vector<PackageDifference>& changes,
                         bool names) {
    if (!changes.empty()) return names ? names_of(changes) : counted(changes);
    return settings_of(before, after);
}

struct HistoryOptions {
    TargetOptions target;
    std::size_t most = std::numeric_limits<std::size_t>::max();
};

Result<int> show(Context& context, const fs::path& prefix, std::size_t most) {
    GPKG_TRY(const auto generations, generations_of(context, prefix));
    GPKG_CHECK(Prefix::open(prefix));
    auto list = Json::array();
    enum Columns : std::size_t { Number, Time, Packages, Changes, CommandLine };
    Table table({Number, Packages});
    table.may_wrap(CommandLine);
    table.may_drop(Packages);
    // Names of packages can be long: they stand last.
    const bool names = context.out.verbose();
    if (!generations.empty())
        table.add({"Generation",
                   "Time",
                   "Packages",
                   names ? "Command" : "Changes",
                   names ? "Changes" : "Command"});
    Generation before;
    auto skipped = generations.size() - std::min(generations.size(), most);
    for (const auto& generation : generations) {
        if (skipped > 0) {
            --skipped;
            before = generation;
            continue;
        }
        const auto changes = differences(before, generation);
        list.push_back(json_of(generation, changes));
        std::vector<std::string> row{std::to_string(generation.number),
                                     generation.time,
                                     std::to_string(generation.packages.size()),
                                     changes_text(before, generation, changes, names),
                                     command_of(generation)};
        if (names) std::swap(row[Changes], row[CommandLine]);
        table.add(std::move(row));
        before = generation;
    }
    if (context.out.json_mode()) {
        context.out.json(list);
        return 0;
    }
    context.out.result(table);
    if (generations.empty())
        context.out.note(
            "gpkg has not changed this environment; changes by other tools are in "
            "conda-meta/history");
    GPKG_TRY(const auto now, present_generation(prefix));
    if (!generations.empty() && !same_packages(generations.back(), now))
        context.out.note(fmt::format("another tool has changed packages since then: {}",
                                     counted(differences(generations.back(), now))));
    return 0;
}

/// Changes of the environment that failed since its last creation: history does not list them.
void tell_failed(Context& context, const fs::path& prefix) {
    std::size_t failed = 0;
    for (const auto& entry : logged_commands(context.config)) {
        if (entry.prefix != prefix.native() || !entry.changes) continue;
        if (entry.status == 0 && may_create(entry)) failed = 0;
        if (entry.has_failed() && outcome_of(entry) != "running") ++failed;
    }
    if (failed > 0)
        context.out.note(fmt::format("not listed: {}; to see the errors: gpkg log --failed {}",
                                     count_text(failed, "failed command"),
                                     target_words(context, prefix)));
}

}  // namespace

Action bind_history(CLI::App& app) {
    const auto options = std::make_shared<HistoryOptions>();
    add_target_options(app, options->target);
    app.add_option("--last", options->most, "number of generations to list, the newest last")
        ->type_name("N")
        ->check(whole_number_from(1));
    app.footer(
        "Lists every change (generation) of an environment: its number and time, the number of "
        "packages, how many were added (+), removed (-) and changed (~), or other changes, and the "
        "command. -v names the packages. Times are local; --json prints UTC.\n"
        "\n"
        "  gpkg history -n ml\n"
        "  gpkg history -n ml --last 5\n"
        "  gpkg diff 3 5 -n ml    # packages that differ between generations 3 and 5\n"
        "  gpkg rollback 3 -n ml  # return to generation 3\n");

    return [options](Context& context) -> Result<int> {
        GPKG_TRY(const auto prefix, existing_prefix(context, options->target));
        GPKG_CHECK(Prefix::open(prefix));
        tell_condition(context, prefix);
        auto status = show(context, prefix, options->most);
        if (!context.out.json_mode()) tell_failed(context, prefix);
        return status;
    };
}

}  // namespace gpkg::cli
