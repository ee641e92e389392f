#include "libcore/closure/closure.hpp"

#include "tests/support/catch.hpp"

#include <fmt/format.h>
#include <numeric>
#include <random>

using namespace gpkg;

namespace closure_test {
namespace {

PackageRecord record(std::string name, std::vector<std::string> depends = {}) {
    PackageRecord made;
    made.name = std::move(name);
    made.version = "1";
    made.depends = std::move(depends);
    return made;
}

std::string text(const Closure& closure, const std::vector<std::size_t>& places) {
    std::string all;
    for (const auto place : places) all += closure.record(place).name + " ";
    return all;
}

/// Bytes that are reached from what is requested where these edges alone are there.
std::uint64_t weight(const Closure& closure, const ClosureEdge* without, std::size_t skipped) {
    std::vector<bool> seen(closure.packages().size());
    std::vector<std::size_t> queue;
    for (std::size_t place = 0; place < seen.size(); ++place) {
        if (closure.packages()[place].is_requested || closure.packages()[place].is_orphan)
            queue.push_back(place);
    }
    std::uint64_t bytes = 0;
    while (!queue.empty()) {
        const auto place = queue.back();
        queue.pop_back();
        if (place == skipped || seen[place]) continue;
        seen[place] = true;
        bytes += closure.packages()[place].size;
        for (const auto& edge : closure.edges()) {
            if (edge.from == place && &edge != without) queue.push_back(edge.to);
        }
    }
    return bytes;
}

constexpr auto kNothing = static_cast<std::size_t>(-1);

}  // namespace

TEST_CASE("what a closure weighs, and by whom", "[closure]") {
    // python and pip need each other; only video brings codec; __glibc is the machine's.
    const Closure closure(RecordGraph({record("app", {"python", "video >=1", "video <9"}),
                                       record("codec"),
                                       record("lone"),
                                       record("pip", {"python", "zlib"}),
                                       record("python", {"pip", "zlib", "__glibc >=2"}),
                                       record("tool", {"zlib"}),
                                       record("video", {"codec", "zlib"}),
                                       record("zlib")}),
                          {1, 20, 300, 4000, 50000, 600000, 7000000, std::nullopt},
                          {0, 5});
    const auto at = [&](std::string_view name) { return closure.graph().find(name).value(); };
    const auto& packages = closure.packages();
    CHECK(closure.total() == 7654321);
    CHECK(closure.unknown_sizes() == 1);
    CHECK(packages[at("app")].closure == 7054021);
    CHECK(packages[at("app")].unique == 7054021);
    CHECK(packages[at("python")].closure == 54000);
    CHECK(packages[at("python")].unique == 54000);
    CHECK(packages[at("pip")].closure == 54000);
    CHECK(packages[at("pip")].unique == 4000);
    CHECK(packages[at("pip")].shared() == 50000);
    CHECK(packages[at("video")].unique == 7000020);
    // app and tool have nothing in common above zlib; lone is kept by nobody.
    CHECK_FALSE(packages[at("zlib")].held_by);
    CHECK_FALSE(packages[at("zlib")].is_requested);
    CHECK(packages[at("lone")].is_orphan);
    CHECK(packages[at("codec")].held_by == at("video"));
    CHECK(text(closure, closure.holders(at("codec"))) == "app video ");
    CHECK(text(closure, closure.heaviest()) == "video tool python pip lone codec app zlib ");

    std::string edges;
    for (const auto& edge : closure.edges())
        edges += fmt::format(
            "{}>{}:{} ", closure.record(edge.from).name, closure.record(edge.to).name, edge.saves);
    CHECK(edges ==
          "app>video:7000020 app>python:54000 python>pip:4000 video>codec:20 pip>python:0 "
          "pip>zlib:0 python>zlib:0 tool>zlib:0 video>zlib:0 ");
    CHECK(closure.edge(at("app"), at("video"))->specs ==
          std::vector<std::string>{"video >=1", "video <9"});
    CHECK(closure.edge(at("app"), at("zlib")) == nullptr);

    std::string ways;
    for (const auto& way : closure.ways(at("zlib"))) ways += text(closure, way) + "| ";
    CHECK(ways == "tool zlib | app python zlib | app video zlib | app python pip zlib | ");
    const auto kept = closure.without({false, false, false, false, true, false, true, false});
    CHECK(kept == std::vector<bool>{true, false, true, false, false, true, false, true});
    // pip needs python, but is there because of it.
    REQUIRE(closure.ways(at("python")).size() == 1);
    CHECK(text(closure, closure.ways(at("python"))[0]) == "app python ");
    CHECK(text(closure, closure.ways(at("app"))[0]) == "app ");
}

TEST_CASE("a cycle that nobody asked for has one orphan", "[closure]") {
    const Closure closure(
        RecordGraph({record("a", {"b"}), record("b", {"a"}), record("c", {"a"})}), {1, 2, 4}, {});
    CHECK(closure.packages()[2].is_orphan);
    CHECK_FALSE(closure.packages()[0].is_orphan);
    CHECK(closure.packages()[2].unique == 7);
    const Closure empty(RecordGraph({}), {}, {});
    CHECK(empty.total() == 0);
}

TEST_CASE("what is unique, and what edges save, is what taking them away shows", "[closure]") {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        const std::size_t size = 1 + random() % 10;
        std::vector<PackageRecord> records;
        std::vector<std::optional<std::uint64_t>> sizes;
        for (std::size_t i = 0; i < size; ++i) {
            records.push_back(record(fmt::format("p{}", i)));
            sizes.emplace_back(std::uint64_t{1} << i);
            for (auto count = random() % 4; count > 0; --count)
                records.back().depends.push_back(fmt::format("p{}", random() % size));
        }
        std::vector<std::size_t> requested;
        for (std::size_t i = 0; i < size; ++i) {
            if (random() % 4 == 0) requested.push_back(i);
        }
        const Closure closure(RecordGraph(records), sizes, requested);
        const auto all = weight(closure, nullptr, kNothing);
        CHECK(all == closure.total());  // orphans count as asked for
        for (std::size_t place = 0; place < size; ++place) {
            const auto& package = closure.packages()[place];
            std::vector<bool> gone(size);
            gone[place] = true;
            const auto kept = closure.without(gone);
            std::uint64_t bytes = 0;
            for (std::size_t other = 0; other < size; ++other)
                bytes += kept[other] ? closure.packages()[other].size : 0;
            CHECK(bytes + package.unique == all);
            CHECK(package.unique == all - weight(closure, nullptr, place));
            CHECK(package.unique <= package.closure);
            // Each way is one, ends there and starts with what is asked for.
            for (const auto& way : closure.ways(place)) {
                CHECK(way.back() == place);
                CHECK((closure.packages()[way.front()].is_requested ||
                       closure.packages()[way.front()].is_orphan));
                for (std::size_t i = 1; i < way.size(); ++i)
                    CHECK(closure.edge(way[i - 1], way[i]) != nullptr);
            }
            CHECK_FALSE(closure.ways(place).empty());
        }
        for (const auto& edge : closure.edges())
            CHECK(edge.saves == all - weight(closure, &edge, kNothing));
    }
}

}  // namespace closure_test
