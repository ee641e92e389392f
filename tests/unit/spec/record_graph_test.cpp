#include "libcore/spec/record_graph.hpp"

#include "tests/support/catch.hpp"

#include <fmt/format.h>

using namespace gpkg;

namespace record_graph_test {
namespace {

PackageRecord record(std::string name, std::vector<std::string> depends) {
    PackageRecord made;
    made.name = std::move(name);
    made.version = "1";
    made.depends = std::move(depends);
    return made;
}

std::string text(const RecordGraph& graph, const std::vector<RecordGraph::Way>& ways) {
    std::string all;
    for (const auto& way : ways) {
        all += graph.records()[way.root].name + ":";
        for (const auto& step : way.steps) all += fmt::format(" {}", step.spec);
        all += "\n";
    }
    return all;
}

}  // namespace

TEST_CASE("who needs whom among records", "[spec]") {
    // A circle (b, c), a name that is missing, one that is the machine's, an unreadable spec.
    const RecordGraph graph({record("d", {}),
                             record("b", {"c >=1", "gone", "__glibc >=2"}),
                             record("c", {"b", "d 1.*"}),
                             record("a", {"b", "d", "d[["})});
    const auto at = [&](std::string_view name) { return graph.find(name).value(); };
    CHECK_FALSE(graph.find("gone"));
    CHECK(graph.needs(at("a")).size() == 2);
    CHECK(graph.needs(at("b")).size() == 1);
    REQUIRE(graph.outside_needs(at("b")).size() == 2);
    CHECK(graph.outside_needs(at("b"))[0].name == "gone");
    CHECK(graph.outside_needs(at("b"))[1].spec == "__glibc >=2");
    CHECK(graph.outside_needs(at("a")).empty());
    CHECK(graph.needed_by(at("d")).size() == 2);
    CHECK(graph.needed_by(at("d"))[0].from == at("a"));

    const std::vector<std::size_t> roots{at("b"), at("a"), at("d")};
    CHECK(text(graph, graph.ways(roots, at("d"))) == "b: c >=1 d 1.*\na: d\nd:\n");
    CHECK(text(graph, graph.ways(roots, at("c"))) == "b: c >=1\na: b c >=1\n");
    CHECK(graph.ways(roots, at("a")).size() == 1);
    CHECK(graph.ways({}, at("a")).empty());

    const auto all = graph.all_ways(roots, at("d"), 10);
    CHECK(text(graph, all.ways) == "d:\na: d\nb: c >=1 d 1.*\na: b c >=1 d 1.*\n");
    CHECK(all.is_complete);
    CHECK(graph.all_ways(roots, at("d"), 3).ways.size() == 3);
    CHECK_FALSE(graph.all_ways(roots, at("d"), 3).is_complete);
}

TEST_CASE("conditions and extras among records", "[spec]") {
    auto app = record("app",
                      {"numpy[when='python>=3.10']",
                       "old[when='python<3.10 or odd']",
                       "both[when='python and odd']",
                       "gpu[when=__cuda]"});
    app.extra_depends = {{"all", {"app[extras=[test]]"}},
                         {"test", {"pytest", "tomli[when='python<3.11']"}},
                         {"docs", {"sphinx"}}};
    auto python = record("python", {});
    python.version = "3.12";
    const std::vector<PackageRecord> records{app,
                                             python,
                                             record("numpy", {}),
                                             record("old", {}),
                                             record("both", {}),
                                             record("gpu", {}),
                                             record("pytest", {}),
                                             record("tomli", {}),
                                             record("sphinx", {}),
                                             record("user", {"app[extras=docs]"})};
    const auto needs = [](const RecordGraph& graph) {
        std::string all;
        for (const auto& need : graph.needs(graph.find("app").value()))
            all += graph.records()[need.to].name + " ";
        return all;
    };
    // What a condition asks of the machine is not known here, and may hold.
    CHECK(needs(RecordGraph(records)) == "numpy gpu sphinx ");
    const RecordGraph graph(records, {MatchSpec::parse("app[extras=all]").value()});
    CHECK(needs(graph) == "numpy gpu sphinx pytest ");

    std::vector<bool> start(records.size());
    start[graph.find("pytest").value()] = true;
    std::string needing;
    const auto all = graph.all_needing(start);
    for (std::size_t place = 0; place < all.size(); ++place)
        needing += all[place] ? graph.records()[place].name + " " : "";
    CHECK(needing == "app pytest user ");
}

TEST_CASE("records after what they need", "[spec]") {
    const auto order = [](const RecordGraph& graph) {
        std::string all;
        for (const auto place : graph.dependencies_first()) {
            const auto& record = graph.records()[place];
            all += fmt::format("{}{} ", record.name, record.build);
        }
        return all;
    };
    CHECK(order(RecordGraph(
              {record("b", {"d", "c"}), record("c", {}), record("a", {"b"}), record("d", {})})) ==
          "d c b a ");
    // A circle is entered by its first name.
    CHECK(order(RecordGraph({record("z", {"y"}), record("y", {"x"}), record("x", {"z"})})) ==
          "y z x ");

    // A plugin that the extra brings needs the package itself; without the extra there is no
    // circle.
    auto app = record("app", {});
    app.extra_depends = {{"all", {"plugin"}}};
    const std::vector<PackageRecord> records{
        app, record("plugin", {"app"}), record("use", {"lib[when=app]"}), record("lib", {})};
    CHECK(order(RecordGraph(records)) == "app lib plugin use ");
    CHECK(order(RecordGraph(records, {MatchSpec::parse("app[extras=all]").value()})) ==
          "plugin app lib use ");

    // Of a name that stands twice nothing is lost.
    auto twin = record("d", {"b"});
    twin.build = "1";
    CHECK(order(RecordGraph({record("a", {"d"}), record("d", {}), twin, record("b", {})})) ==
          "d a b d1 ");
    CHECK(order(RecordGraph({})).empty());
}

}  // namespace record_graph_test
