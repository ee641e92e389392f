#include "cli/commands/repoquery.hpp"
#include "cli/table.hpp"
#include "cli/workflow/ask/dependencies.hpp"
#include "cli/workflow/record_text.hpp"
#include "libcore/env/prefix.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace gpkg::cli::repoquery {
namespace {

using MetBy = Dependency::MetBy;

Result<DependencyGraph> graph_for(Context& context, const Query& query, Depth depth) {
    if (!query.prefix) return channel_dependencies(context, query.spec, query.sources, depth);
    GPKG_TRY(const auto prefix, Prefix::open(*query.prefix));
    GPKG_TRY(const auto installed, prefix.records());
    if (query.text.empty()) return environment_dependencies(installed);
    return installed_dependencies(query.spec, installed, *query.prefix);
}

Result<DependencyGraph> look(Context& context, const Query& query, Depth depth) {
    GPKG_TRY(auto graph, graph_for(context, query, depth));
    for (const auto root : graph.roots) {
        for (const auto& extra : query.spec.extras) {
            if (!graph.records[root].extra_depends.contains(extra))
                context.out.warn(
                    fmt::format("{} has no extra '{}'", record_title(graph.records[root]), extra));
        }
    }
    return graph;
}

std::string nobody(const Query& query) {
    return query.prefix ? "not installed" : "not found in the channels";
}

std::string heading(const Context& context, const PackageRecord& record) {
    return fmt::format("{}  {}", record_title(record), channel_text(context, record));
}

void print_direct(const Context& context, const Query& query, const DependencyGraph& graph) {
    for (const auto root : graph.roots) {
        context.out.result(context.out.bold(heading(context, graph.records[root])));
        Table table;
        table.may_wrap(1);
        for (const auto& need : graph.needs[root]) {
            const auto by = need.has_package() ? record_title(graph.records[need.place])
                            : need.met_by == MetBy::Machine ? "virtual package"
                                                            : nobody(query);
            const auto* but = need.met_by == MetBy::Mismatch ? ", which does not match" : "";
            table.add({"  " + dependency_text(need.spec, need.extra), by + but});
        }
        context.out.result(table);
        if (table.empty()) context.out.result("  no dependencies");
    }
}

/// Places that the roots lead to, by name, the roots aside.
std::vector<std::size_t> needed(const DependencyGraph& graph) {
    auto reached = graph.reached();
    for (const auto root : graph.roots) reached[root] = false;
    std::vector<std::size_t> places;
    for (std::size_t place = 0; place < reached.size(); ++place) {
        if (reached[place]) places.push_back(place);
    }
    std::stable_sort(places.begin(), places.end(), [&](auto a, auto b) {
        return graph.records[a].name < graph.records[b].name;
    });
    return places;
}

void print_recursive(const Context& context, const Query& query, const DependencyGraph& graph) {
    auto& out = context.out;
    for (const auto root : graph.roots) out.result(out.bold(heading(context, graph.records[root])));
    const auto reached = graph.reached();
    std::vector<PackageRecord> records;
    for (const auto place : needed(graph)) records.push_back(graph.records[place]);
    if (!records.empty()) print_records(context, records);
    std::map<std::string, std::string> missing;  // and one that needs it
    std::set<std::string> machine;
    std::vector<std::string> mismatched;
    for (std::size_t place = 0; place < reached.size(); ++place) {
        if (!reached[place]) continue;
        for (const auto& need : graph.needs[place]) {
            if (need.met_by == MetBy::Mismatch)
                mismatched.push_back(fmt::format("{} does not match {}, needed by {}",
                                                 record_title(graph.records[need.place]),
                                                 dependency_text(need.spec, need.extra),
                                                 record_title(graph.records[place])));
            if (need.met_by == MetBy::Machine) machine.insert(dependency_text(need.spec, ""));
            if (need.met_by == MetBy::Nobody)
                missing.emplace(dependency_text(need.spec, ""), record_title(graph.records[place]));
        }
    }
    for (const auto& spec : machine) out.result(spec + ": virtual package");
    for (const auto& [spec, by] : missing)
        out.result(fmt::format("{}: {}, needed by {}", spec, nobody(query), by));
    for (const auto& line : mismatched) out.result(line);
    if (records.empty() && machine.empty() && missing.empty()) out.result("no dependencies");
}

std::string_view word_for(MetBy met_by) {
    switch (met_by) {
    case MetBy::Package: return "package";
    case MetBy::Machine: return "machine";
    case MetBy::Mismatch: return "mismatch";
    case MetBy::Nobody: break;
    }
    return "nobody";
}

/// Records with their dependencies, as far as they were followed: of the roots, or of all.
Json json_of(const DependencyGraph& graph, Depth depth) {
    // The roots first; others as they are reached, and nothing else.
    auto places = graph.roots;
    if (depth == Depth::All) {
        const auto more = needed(graph);
        places.insert(places.end(), more.begin(), more.end());
    } else {
        std::set<std::size_t> taken(places.begin(), places.end());
        for (const auto root : graph.roots) {
            for (const auto& need : graph.needs[root]) {
                if (need.has_package() && taken.insert(need.place).second)
                    places.push_back(need.place);
            }
        }
    }
    std::map<std::size_t, std::size_t> numbers;
    for (std::size_t i = 0; i < places.size(); ++i) numbers.emplace(places[i], i);

    auto packages = Json::array();
    for (std::size_t i = 0; i < places.size(); ++i) {
        auto json = search_json(graph.records[places[i]]);
        if (depth == Depth::All || i < graph.roots.size()) {
            auto dependencies = Json::array();
            for (const auto& need : graph.needs[places[i]]) {
                dependencies.push_back(
                    {{"spec", need.spec},
                     {"extra", need.extra.empty() ? Json() : Json(need.extra)},
                     {"met_by", word_for(need.met_by)},
                     {"pkg", need.has_package() ? Json(numbers.at(need.place)) : Json()}});
            }
            json["dependencies"] = std::move(dependencies);
        }
        packages.push_back(std::move(json));
    }
    auto roots = Json::array();
    for (std::size_t i = 0; i < graph.roots.size(); ++i) roots.push_back(i);
    return {{"roots", std::move(roots)}, {"pkgs", std::move(packages)}};
}

std::string branch_text(const Query& query, const DependencyGraph& graph, const Dependency& need) {
    auto text = dependency_text(need.spec, need.extra);
    if (need.met_by == MetBy::Machine) return text;
    if (need.met_by == MetBy::Nobody) return fmt::format("{}: {}", text, nobody(query));
    const auto& record = graph.records[need.place];
    if (need.met_by == MetBy::Mismatch) text += ", which it does not match";
    return text == record.name ? record_title(record)
                               : fmt::format("{} ({})", record_title(record), text);
}

}  // namespace

Result<int> depends(Context& context, const Query& query) {
    const auto depth = query.recursive ? Depth::All : Depth::One;
    GPKG_TRY(const auto graph, look(context, query, depth));
    if (context.out.json_mode()) {
        context.out.json(document(query, "depends", json_of(graph, depth)));
    } else if (query.recursive) {
        print_recursive(context, query, graph);
    } else {
        print_direct(context, query, graph);
    }
    return 0;
}

Result<int> tree(Context& context, const Query& query) {
    GPKG_TRY(const auto graph, look(context, query, Depth::All));
    if (context.out.json_mode()) {
        context.out.json(document(query, "tree", json_of(graph, Depth::All)));
        return 0;
    }
    TreePrinter printer(context.out, query.depth, [&](std::size_t place) {
        std::vector<Branch> branches;
        for (const auto& need : graph.needs[place])
            branches.push_back({branch_text(query, graph, need),
                                need.has_package() ? std::optional(need.place) : std::nullopt});
        return branches;
    });
    for (const auto root : graph.roots) printer.draw(heading(context, graph.records[root]), root);
    printer.finish();
    return 0;
}

}  // namespace gpkg::cli::repoquery
