#include "libcore/solve/record_graph.hpp"

#include "tests/support/catch.hpp"

#include <fmt/format.h>

using namespace gpkg;

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

TEST_CASE("who needs whom among records", "[solve]") {
    // A circle (b, c), a name that is missing, one that is the machine's, an unreadable spec.
    const RecordGraph graph({record("d", {}),
                             record("b", {"c >=1", "gone", "__glibc >=2"}),
                             record("c", {"b", "d 1.*"}),
                             record("a", {"b", "d", "d[["})});
    const auto at = [&](std::string_view name) { return graph.find(name).value(); };
    CHECK_FALSE(graph.find("gone"));
    CHECK(graph.needs(at("a")).size() == 2);
    CHECK(graph.needs(at("b")).size() == 1);
    CHECK(graph.needed_by(at("d")).size() == 2);
    CHECK(graph.needed_by(at("d"))[0].from == at("a"));

    const std::vector<std::size_t> roots{at("b"), at("a"), at("d")};
    CHECK(text(graph, graph.ways(roots, at("d"))) == "b: c >=1 d 1.*\na: d\nd:\n");
    CHECK(text(graph, graph.ways(roots, at("c"))) == "b: c >=1\na: b c >=1\n");
    CHECK(graph.ways(roots, at("a")).size() == 1);
    CHECK(graph.ways({}, at("a")).empty());
}
