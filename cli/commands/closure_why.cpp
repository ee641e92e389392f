#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/given_words.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/workflow/ask/closure_json.hpp"
#include "cli/workflow/ask/dependencies.hpp"
#include "cli/workflow/ask/weighing.hpp"
#include "cli/workflow/record_text.hpp"
#include "libcore/base/text.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Ways of which the shortest are shown unless all are asked for.
constexpr std::size_t kMostClosureWays = 4;

struct ClosureWhyOptions {
    TargetOptions target;
    SourceOptions sources;
    WishOptions wishes;  ///< what to solve for; its positional words are here in `words`
    std::vector<std::string> words;
    bool all = false;
};

struct ClosureReasons {
    Weighed weighed;
    std::size_t target = 0;
    std::vector<Closure::Way> ways;
};

/// A line for each dependency of a way, and what dropping it would save.
void print_way(Output& out, const Closure& closure, const Closure::Way& way) {
    const auto& first = closure.packages()[way.front()];
    out.result(fmt::format("{} {}",
                           closure.record(way.front()).name,
                           first.is_requested ? "is requested" : "is installed but not requested"));
    Table table;
    table.may_wrap(1);
    for (std::size_t i = 1; i < way.size(); ++i) {
        const auto& edge = *closure.edge(way[i - 1], way[i]);
        std::vector<std::string> specs;
        specs.reserve(edge.specs.size());
        for (const auto& spec : edge.specs) specs.push_back(dependency_text(spec, ""));
        table.add({fmt::format("{}└─ {} needs {}",
                               std::string(3 * (i - 1), ' '),
                               closure.record(edge.from).name,
                               fmt::join(specs, ", ")),
                   edge.saves == 0
                       ? "without this dependency alone: saves nothing"
                       : "without this dependency alone: saves " + human_size(edge.saves)});
    }
    out.result(table);
}

std::vector<std::string> names_of(const Closure& closure, const std::vector<std::size_t>& places) {
    std::vector<std::string> names;
    names.reserve(places.size());
    for (const auto place : places) names.push_back(closure.record(place).name);
    return names;
}

/// What removing it would take.
std::string remedy(const Closure& closure, const ClosureReasons& reasons) {
    const auto& package = closure.packages()[reasons.target];
    const auto saved = human_size(package.unique);
    if (package.is_requested)
        return fmt::format(
            "it is requested; without the package: saves {} if nothing else needs it", saved);
    if (package.is_orphan)
        return fmt::format("nothing needs it; without the package: saves {}", saved);
    std::vector<std::size_t> users;
    users.reserve(reasons.ways.size());
    for (const auto& way : reasons.ways) users.push_back(way[way.size() - 2]);
    const auto names = names_of(closure, users);
    if (names.size() == 1)
        return fmt::format("without the package: saves {}; only {} needs it", saved, names.front());
    return fmt::format("without the package: saves {}; {} packages need it: {}",
                       saved,
                       names.size(),
                       join_some(names, "and", 8));
}

void print(Output& out, const ClosureReasons& reasons, bool all) {
    const auto& closure = reasons.weighed.closure;
    const auto& package = closure.packages()[reasons.target];
    out.result(
        out.bold(fmt::format("{}: {} {}, {} with its dependencies",
                             record_title(closure.record(reasons.target)),
                             package.size_is_known ? human_size(package.size) : "unknown size",
                             reasons.weighed.measure(),
                             human_size(package.closure))));
    const auto& ways = reasons.ways;
    const auto shown = all ? ways.size() : std::min(kMostClosureWays, ways.size());
    for (std::size_t i = 0; i < shown; ++i) print_way(out, closure, ways[i]);
    if (shown < ways.size())
        out.result(fmt::format("{} more {} it; use --all to show them",
                               ways.size() - shown,
                               ways.size() - shown == 1 ? "package needs" : "packages need"));
    if (const auto holders = closure.holders(reasons.target); !holders.empty())
        out.result(fmt::format("every chain of dependencies goes through {}",
                               fmt::join(names_of(closure, holders), " > ")));
    out.result(remedy(closure, reasons));
}

Json json_of(const ClosureReasons& reasons) {
    const auto& closure = reasons.weighed.closure;
    Json document{{"success", true},
                  {"of", reasons.weighed.what},
                  {"sizes", reasons.weighed.is_installed ? "disk" : "download"}};
    document.update(package_json(closure, reasons.target));
    document["held_by"] = names_of(closure, closure.holders(reasons.target));
    document["ways"] = Json::array();
    for (const auto& way : reasons.ways) {
        Json steps = Json::array();
        for (std::size_t i = 1; i < way.size(); ++i) {
            steps.push_back(edge_json(closure, *closure.edge(way[i - 1], way[i])));
        }
        document["ways"].push_back(
            {{"from", closure.record(way.front()).name}, {"steps", std::move(steps)}});
    }
    return document;
}

/// The words are the environment and the package; the environment may stand in flags instead, and
/// so may specs in its place.
Result<ClosureReasons> look(Context& context, const ClosureWhyOptions& options) {
    auto target = options.target;
    const auto& words = options.words;
    const bool has_target = !target.name.empty() || !target.prefix.empty();
    const bool solves = !options.wishes.specs.empty() || !options.wishes.files.empty();
    if (has_target && solves)
        return fail(ErrorKind::Usage,
                    "--spec and -f cannot be combined with -n or -p",
                    "leave out the specs or the environment");
    if (words.size() > 2 || (words.size() == 2 && (has_target || solves)))
        return fail(ErrorKind::Usage,
                    fmt::format("unexpected argument '{}'", words.back()),
                    "gpkg closure why ENV PACKAGE, or gpkg closure why PACKAGE --spec SPEC");
    if (words.size() == 2) target = target_of(words.front());
    auto found = solves ? weigh_request(context, options.wishes, options.sources)
                        : weigh_environment(context, target);
    if (!found && words.size() == 2 && found.error().kind == ErrorKind::NoEnvironment)
        found.error().hint = fmt::format("{}; for a package: gpkg closure why {} --spec {}{}",
                                         found.error().hint,
                                         shell_word(words.back()),
                                         shell_word(words.front()),
                                         given_sources(context.arguments));
    GPKG_TRY(auto weighed, std::move(found));
    GPKG_TRY(const auto place, place_in(weighed, words.back()));
    auto ways = weighed.closure.ways(place);
    return ClosureReasons{std::move(weighed), place, std::move(ways)};
}

}  // namespace

Action bind_closure_why(CLI::App& app) {
    const auto options = std::make_shared<ClosureWhyOptions>();
    app.add_option("words",
                   options->words,
                   "the package, and before it the name or path of its environment")
        ->required()
        ->type_name("[ENV] PACKAGE");
    add_target_options(app, options->target);
    add_source_options(app, options->sources);
    add_file_options(app, options->wishes);
    app.add_option("--spec",
                   options->wishes.specs,
                   "explain what a solve of this would install; may be repeated")
        ->type_name("SPEC")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    app.add_flag("--all", options->all, "show a chain for every package that needs it");
    app.footer(
        "Shows the chains of dependencies that lead to a package, and how much dropping each "
        "dependency would save. Without ENV, -n and -p it looks into the active environment.\n"
        "\n"
        "  gpkg closure why ml libmagma\n"
        "  gpkg closure why libmagma --spec pytorch --for h100\n"
        "  gpkg closure why libmagma -f environment.yml");

    return [options](Context& context) -> Result<int> {
        GPKG_TRY(const auto reasons, look(context, *options));
        if (context.out.json_mode()) {
            context.out.json(json_of(reasons));
        } else {
            print(context.out, reasons, options->all);
        }
        return 0;
    };
}

}  // namespace gpkg::cli
