#include "cli/commands/repoquery.hpp"

#include "cli/command.hpp"
#include "libcore/env/prefix.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>

namespace gpkg::cli {
namespace repoquery {
namespace {

void add_query_options(CLI::App& app, Query& query) {
    app.add_option("spec", query.text, "package name or spec")->type_name("SPEC");
    add_target_options(app, query.target);
    app.add_flag("-i,--installed,--local",
                 query.installed,
                 "query the environment (-n, -p or the active one)");
    add_source_options(app, query.sources);
    app.fallthrough();  // --json after the verb
}

/// -n, -p and --installed query an environment, everything else channels.
Result<void> complete(Context& context, Query& query) {
    if (query.text.empty()) {
        query.installed = true;
    } else {
        GPKG_TRY(query.spec, parse_spec(query.text));
    }
    const auto& target = query.target;
    if (!query.installed && target.name.empty() && target.prefix.empty()) return {};
    const auto& sources = query.sources;
    if (!sources.channels.empty() || sources.override_channels || !sources.platform.empty() ||
        !sources.for_machine.empty() || !sources.channel_priority.empty() ||
        !sources.exclude_newer.empty())
        return fail(ErrorKind::Usage,
                    "-n, -p and --installed query an environment and cannot be used with channel "
                    "options",
                    "remove either");
    GPKG_TRY(query.prefix, existing_prefix(context, target));
    if (query.text.empty() && query.invert)
        return fail(ErrorKind::Usage,
                    "missing argument: SPEC (--invert shows what needs this package)",
                    "gpkg tree --invert numpy");
    return {};
}

Result<Found> find(Context& context, const Query& query) {
    if (!query.prefix) return search_channels(context, query.spec, query.sources);
    GPKG_TRY(const auto prefix, Prefix::open(*query.prefix));
    GPKG_TRY(const auto installed, prefix.records());
    GPKG_TRY(const auto matching, find_installed(query.spec, installed, *query.prefix));
    Found found;
    for (std::size_t place = 0; place < installed.size(); ++place) {
        if (matching[place]) found.records.push_back(installed[place].package);
    }
    return found;
}

/// In other tools, -i of tree is --invert.
void note_installed_option(Context& context, const CLI::App& app, const Query& query) {
    const bool names_environment = !query.target.name.empty() || !query.target.prefix.empty();
    if (app.count("--installed") > 0 && names_environment && !query.invert && !query.text.empty())
        context.out.note(
            "note: -i is --installed, which -n and -p imply; to show dependents: --invert");
}

Result<int> search(Context& context, const Query& query) {
    GPKG_TRY(const auto found, find(context, query));
    if (!context.out.json_mode()) {
        print_found(context, query.spec, found, query.info);
        return 0;
    }
    auto records = Json::array();
    for (const auto& record : found.records) records.push_back(search_json(record));
    Json result{{"pkgs", std::move(records)}};
    if (!found.names.empty()) result["names"] = found.names;
    context.out.json(document(query, "search", std::move(result)));
    return 0;
}

}  // namespace

Json document(const Query& query, std::string_view type, Json result) {
    Json asked{{"type", type},
               {"query", query.text},
               {"prefix", query.prefix ? Json(query.prefix->native()) : Json()}};
    return {{"query", std::move(asked)}, {"result", std::move(result)}};
}

void TreePrinter::draw(const std::string& title, std::size_t root) {
    const auto screen = out_.screen();
    out_.result(out_.bold(title));
    std::vector<Open> open;  // not calls: a channel decides how deep it goes
    if (drawn_.insert(root).second) open.push_back({branches_(root), 0, ""});
    while (!open.empty()) {
        auto& [branches, next, indent] = open.back();
        if (next == branches.size()) {
            open.pop_back();
            continue;
        }
        const auto branch = std::move(branches[next++]);
        const bool is_last = next == branches.size();
        const bool is_deepest = depth_ != 0 && open.size() >= depth_;
        const bool is_new = !is_deepest && branch.place && drawn_.insert(*branch.place).second;
        auto below = branch.place ? branches_(*branch.place) : std::vector<Branch>();
        const bool is_repeated = !is_deepest && !is_new && !below.empty();
        has_repeated_ = has_repeated_ || is_repeated;
        const auto line = fmt::format(
            "{}{}{}{}", indent, is_last ? "└─ " : "├─ ", branch.text, is_repeated ? " (*)" : "");
        out_.result(shortened(line, screen.width, Keep::Start, screen.utf8));
        if (is_new) open.push_back({std::move(below), 0, indent + (is_last ? "   " : "│  ")});
    }
}

void TreePrinter::finish() {
    if (has_repeated_) out_.note("(*) dependencies are shown at the other occurrence");
}

}  // namespace repoquery

Action bind_repoquery(CLI::App& app) {
    using namespace repoquery;
    struct Verb {
        CLI::App* app;
        Result<int> (*answer)(Context&, const Query&);
    };
    const auto query = std::make_shared<Query>();
    auto* search_app = app.add_subcommand("search", "list the matching builds");
    auto* depends_app = app.add_subcommand("depends", "show the dependencies of the newest build");
    auto* whoneeds_app =
        app.add_subcommand("whoneeds", "show the packages that depend on a package");
    auto* tree_app = app.add_subcommand("tree", "show the dependencies as a tree");
    app.require_subcommand(1);
    for (auto* sub : {search_app, depends_app, whoneeds_app, tree_app})
        add_query_options(*sub, *query);
    for (auto* sub : {search_app, depends_app, whoneeds_app}) sub->get_option("spec")->required();
    search_app->add_flag("--info", query->info, "show all fields of each build");
    for (auto* sub : {depends_app, whoneeds_app}) {
        sub->add_flag("-r,--recursive", query->recursive, "include indirect dependencies");
        sub->add_flag("-t,--tree", query->tree, "show as a tree");
    }
    whoneeds_app->add_flag(
        "-a,--all", query->all, "show every build, not only the newest of each name");
    tree_app->get_option("spec")->description("package name or spec; without it the environment");
    tree_app->add_option("--depth", query->depth, "show at most N levels below each root")
        ->type_name("N")
        ->check(whole_number_from(1));
    tree_app->add_flag("--invert", query->invert, "show dependents instead, in an environment");
    search_app->footer("  gpkg repoquery search 'numpy>=2'");
    depends_app->footer(
        "  gpkg repoquery depends pytorch\n"
        "  gpkg repoquery depends pytorch --recursive");
    whoneeds_app->footer(
        "  gpkg repoquery whoneeds 'python=3.14' -c conda-forge\n"
        "  gpkg repoquery whoneeds libblas -n ml --tree");
    tree_app->footer(
        "  gpkg tree -n ml\n"
        "  gpkg tree -n ml --depth 1\n"
        "  gpkg repoquery tree pytorch -n ml\n"
        "  gpkg repoquery tree libblas -n ml --invert");
    app.footer(
        "Queries the channels, or an environment with -n, -p or --installed.\n\n"
        "  gpkg repoquery depends pytorch\n"
        "  gpkg repoquery whoneeds 'python=3.14' -c conda-forge\n"
        "  gpkg repoquery tree pytorch -n ml");

    return [=](Context& context) -> Result<int> {
        GPKG_CHECK(complete(context, *query));
        if ((*whoneeds_app || query->invert) && !query->spec.extras.empty())
            return fail(
                ErrorKind::Usage,
                fmt::format("{}: extras are not supported in queries for dependents", query->text),
                "remove extras=");
        if (*search_app) return search(context, *query);
        if (*depends_app) return query->tree ? tree(context, *query) : depends(context, *query);
        if (*tree_app) note_installed_option(context, *tree_app, *query);
        if (*tree_app && !query->invert) return tree(context, *query);
        if (*whoneeds_app && !query->tree) return whoneeds(context, *query);
        return inverted_tree(context, *query);
    };
}

}  // namespace gpkg::cli
