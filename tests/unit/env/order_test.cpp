#include "libcore/env/order.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

namespace order_test {
namespace {

PrefixRecord installed(std::string name, std::vector<std::string> depends) {
    PrefixRecord made;
    made.package.name = std::move(name);
    made.package.version = "1";
    made.package.build = "0";
    made.package.depends = std::move(depends);
    return made;
}

std::string names(const std::vector<PrefixRecord>& records) {
    std::string all;
    for (const auto& record : dependents_first(records)) all += record.name() + " ";
    return all;
}

}  // namespace

TEST_CASE("packages leave before what they need", "[env]") {
    CHECK(names({installed("a", {}), installed("b", {"a", "c"}), installed("c", {"a"})}) ==
          "b c a ");

    auto app = installed("app", {});
    app.package.extra_depends = {{"test", {"tool"}}};
    const auto tool = installed("tool", {});
    // Nothing but the name tells which of the two leaves first, unless the extra was asked for.
    CHECK(names({app, tool}) == "tool app ");
    app.requested_specs = {"[ no spec", "app[extras=test]"};
    CHECK(names({app, tool}) == "app tool ");
    CHECK(graph_of({app, tool}).needs(0).size() == 1);
}

}  // namespace order_test
