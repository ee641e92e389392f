#include "libcore/build/cluster/build_tasks.hpp"

#include "tests/support/catch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace gpkg;

namespace build_tasks_test {
namespace {

struct Planned {
    std::string place;
    std::vector<std::size_t> after{};
    std::vector<std::size_t> after_others{};
    std::vector<std::size_t> tested_with{};
    bool needed = true;
};

/// A line for each task: its wave, its builds, the tasks before it, "late" where its tests wait.
std::string tasks_of(const std::vector<Planned>& builds) {
    BuildPlan plan;
    for (const auto& [place, after, after_others, tested_with, needed] : builds) {
        auto& build = plan.builds.emplace_back();
        build.place = place;
        build.after = after;
        build.after_others = after_others;
        build.tested_with = tested_with;
        build.reason = needed ? "new" : "";
    }
    std::string text;
    for (const auto& task : build_tasks(plan))
        text +=
            fmt::format("{}: {} after {}{}\n",
                        task.wave,
                        fmt::join(task.builds, " "),
                        task.after.empty() ? "none" : fmt::format("{}", fmt::join(task.after, " ")),
                        task.can_test ? "" : ", late");
    return text;
}

}  // namespace

TEST_CASE("Outputs of one place are one task, those of several are several", "[build-tasks]") {
    CHECK(tasks_of({}).empty());
    CHECK(tasks_of({{"a"}, {"b"}}) == "0: 0 after none\n0: 1 after none\n");
    CHECK(tasks_of({{"s"}, {"s"}, {"b"}}) == "0: 0 1 after none\n0: 2 after none\n");
}

TEST_CASE("Tasks come in waves after those that make what they need", "[build-tasks]") {
    CHECK(tasks_of({{"c", {1}, {2}}, {"b", {2}}, {"a"}}) ==
          "2: 0 after 1 2\n1: 1 after 2\n0: 2 after none\n");
    // What is as it was is not waited for, and not built.
    CHECK(tasks_of({{"b", {1}}, {.place = "a", .needed = false}}) == "0: 0 after none\n");
    CHECK(tasks_of({{.place = "a", .needed = false}}).empty());
}

TEST_CASE("Needs that go in a circle", "[build-tasks]") {
    // What only comes along has to do as it is.
    CHECK(tasks_of({{"a", {1}}, {"b", {}, {0}}}) == "1: 0 after 1\n0: 1 after none\n");
    CHECK(tasks_of({{"a", {}, {1}}, {"b", {}, {0}}}) == "0: 0 after none\n0: 1 after none\n");
    // Two places whose outputs need each other, in turn.
    CHECK(tasks_of({{"a"}, {"a", {2}}, {"b", {0}}, {"c", {2}}}) ==
          "0: 0 1 2 after none\n1: 3 after 0\n");
}

TEST_CASE("Tests wait for what is made at the same time or later", "[build-tasks]") {
    CHECK(tasks_of({{"a", {}, {}, {1}}, {"b"}}) == "0: 0 after none, late\n0: 1 after none\n");
    CHECK(tasks_of({{"a"}, {"b", {0}, {}, {0}}}) == "0: 0 after none\n1: 1 after 0\n");
    // Before, by way of another one.
    CHECK(tasks_of({{"a"}, {"b", {0}}, {"c", {1}, {}, {0}}}) ==
          "0: 0 after none\n1: 1 after 0\n2: 2 after 1\n");
    CHECK(tasks_of({{"s", {}, {}, {1}}, {"s"}}) == "0: 0 1 after none\n");
    CHECK(tasks_of({{"a", {}, {}, {1}}, {.place = "b", .needed = false}}) == "0: 0 after none\n");
}

}  // namespace build_tasks_test
