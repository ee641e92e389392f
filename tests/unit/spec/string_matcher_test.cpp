#include "libcore/spec/string_matcher.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("strings match as equal texts, globs or regexes, without regard to case", "[spec]") {
    struct Row {
        std::string pattern, value;
        bool expected;
    };
    const auto row = GENERATE(values<Row>({
        {"py37_0", "py37_0", true},
        {"py37_0", "PY37_0", true},
        {"py37_0", "py37_01", false},
        {"*", "", true},
        {"*", "anything", true},
        {"*_cpython", "h1_0_cpython", true},
        {"*_cpython", "h1_0_cpython2", false},
        {"py*_0", "py_0", true},
        {"py*_0", "py312_mkl_0", true},
        {"py*", "npy", false},
        {"*mkl*", "x_mkl_1", true},
        {"a*b*c", "aXbYbZc", true},
        {"a*b*c", "aXcYb", false},
        {"a.c", "abc", false},
        {"^py3[0-9]+$", "py312", true},
        {"^PY3[0-9]+$", "py312", true},
        {"^py3[0-9]+$", "xpy312", false},
        {"^.*_(cuda|rocm)$", "h1_cuda", true},
        {"^$", "", true},
    }));
    CAPTURE(row.pattern, row.value);
    const auto matcher = StringMatcher::parse(row.pattern);
    REQUIRE(matcher);
    CHECK(matcher->matches(row.value) == row.expected);
}

TEST_CASE("patterns have a limit, texts have not", "[spec]") {
    const std::string text(2000, 'a');
    CHECK(StringMatcher::parse(text)->matches(text));
    CHECK_FALSE(StringMatcher::parse(text + "*"));
    CHECK_FALSE(StringMatcher::parse("^" + text + "$"));
}

TEST_CASE("exact matchers take patterns for plain text", "[spec]") {
    const auto matcher = StringMatcher::exactly("a*B");
    CHECK(matcher.is_exact());
    CHECK(matcher.text() == "a*b");
    CHECK(matcher.matches("A*b"));
    CHECK_FALSE(matcher.matches("axb"));
}
