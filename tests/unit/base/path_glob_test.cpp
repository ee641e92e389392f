#include "libcore/base/path_glob.hpp"

#include "tests/support/catch.hpp"

TEST_CASE("globs over paths", "[build]") {
    struct Row {
        std::string pattern, path;
        bool expected;
    };
    const std::vector<Row> rows = {
        {"lib/*.so", "lib/a.so", true},
        {"lib/*.so", "lib/x/a.so", false},
        {"lib/**/*.so", "lib/x/y/a.so", true},
        {"lib/**/*.so", "lib/a.so", true},
        {"**/*.h", "include/a.h", true},
        {"**/*.h", "a.h", true},
        {"**", "a/b", true},
        {"include/", "include/a/b.h", true},
        {"include", "include/a/b.h", true},
        {"include", "includes/a", false},
        {"include/**", "include/a", true},
        {"./bin/?", "bin/x", true},
        {"bin/?", "bin/xy", false},
        {"a[0-9]", "a7", true},
        {"a[!0-9]", "a7", false},
        {"a[", "a[", true},
        {"*a*b*c", "xxaxxbxxc", true},
        {"*a*b*c", "xxaxxbxx", false},
        {"a/**/b/**/c", "a/x/b/y/z/c", true},
        {"a/**/b/**/c", "a/x/y/z/c", false},
        {"", "anything", true},
    };
    for (const auto& row : rows) {
        CAPTURE(row.pattern, row.path);
        CHECK(gpkg::path_glob_matches(row.pattern, row.path) == row.expected);
    }
    // Hostile patterns end soon.
    const std::string stars(2000, '*');
    CHECK_FALSE(gpkg::path_glob_matches(stars + "b", std::string(2000, 'a')));
}
