#include "cli/table.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg::cli;

namespace {

using Lines = std::vector<std::string>;

Table packages() {
    Table table({2});
    table.add({"# Name", "Build", "Size"});
    table.add({"numpy", "py312h58c1407_0", "8 MB"});
    table.add({"zlib", "0", ""});
    return table;
}

}  // namespace

TEST_CASE("columns line up, and no line ends with a blank", "[cli]") {
    CHECK(packages().lines({}) ==
          Lines{"# Name  Build            Size", "numpy   py312h58c1407_0  8 MB", "zlib    0"});
    Table ragged;
    ragged.add({"a"});
    ragged.add({"b", "c"});
    CHECK(ragged.lines({}) == Lines{"a", "b  c"});
    CHECK(Table().lines({}).empty());
}

TEST_CASE("a table takes its steps in their order until it fits", "[cli]") {
    auto table = packages();
    table.may_shorten(1, 6);
    table.may_drop(1);
    CHECK(table.lines({29, true}) == packages().lines({}));
    CHECK(table.lines({24, true})[1] == "numpy   py312h58c…  8 MB");
    CHECK(table.lines({24, false})[1] == "numpy   py312h58..  8 MB");
    CHECK(table.lines({20, true})[1] == "numpy   py312…  8 MB");
    CHECK(table.lines({19, true}) == Lines{"# Name  Size", "numpy   8 MB", "zlib"});
}

TEST_CASE("the end of a value is kept where that is its telling part", "[cli]") {
    Table table;
    table.may_shorten(1, 4, Keep::End);
    table.add({"ml", "/home/me/envs/ml"});
    CHECK(table.lines({10, true}) == Lines{"ml  …vs/ml"});
}

TEST_CASE("every table fits the screen, also without steps", "[cli]") {
    for (std::size_t width = 1; width <= 40; ++width) {
        CAPTURE(width);
        for (const auto& line : packages().lines({width, true}))
            CHECK(display_width(line) <= width);
    }
    CHECK(packages().lines({24, true})[1] == "numpy   py312h58c…  8 MB");
}

TEST_CASE("a column of sentences continues below itself", "[cli]") {
    Table table;
    table.may_wrap(1);
    table.add({"depends", "python >=3.12,<3.13.0a0 and more", "x"});
    table.add({"sha256", "0123456789012345678901234567890123456789", ""});
    CHECK(table.lines({32, true}) == Lines{"depends  python                x",
                                           "         >=3.12,<3.13.0a0 and",
                                           "         more",
                                           "sha256   01234567890123456789",
                                           "         01234567890123456789"});
    CHECK(table.lines({}).size() == 2);
}

TEST_CASE("a column that wraps gets the room of dropped columns", "[cli]") {
    Table table;
    table.may_wrap(1);
    table.may_drop(0);
    table.add({"2026-11-28 12:00:00", "gpkg install -n ml numpy scipy"});
    CHECK(table.lines({30, true}) == Lines{"gpkg install -n ml numpy scipy"});
}

TEST_CASE("styles take no columns", "[cli]") {
    Table table;
    table.add({"\x1b[1mnumpy\x1b[0m", "1"});
    table.add({"zlib", "2"});
    CHECK(table.lines({}) == Lines{"\x1b[1mnumpy\x1b[0m  1", "zlib   2"});
}
