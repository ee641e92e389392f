#include "libcore/spec/condition.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("conditions are specs joined by and, or and parentheses", "[spec]") {
    struct Row {
        std::string given, printed;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"__unix",                                     "__unix"},
        {"python>=3.10",                               "python[version='>=3.10']"},
        {"python[version=\">=3.10\"]",                 "python[version='>=3.10']"},
        // With spaces, as conda and rattler read them.
        {"python >=3.10",                              "python[version='>=3.10']"},
        {"python >= 3.10",                             "python[version='>=3.10']"},
        {"python >=3.10, <4",                          "python[version='>=3.10,<4']"},
        {"python >=3.10 , < 4 and b",                  "python[version='>=3.10,<4'] and b"},
        {"python >=3.12 or b [version='3.12.*']",      "python[version='>=3.12'] or b=3.12"},
        {"python 3.12",                                "python==3.12"},
        {"python =3.12 and(b <2)",                     "python=3.12 and b[version='<2']"},
        {"python_abi 3.12.* *_cp312",                  "python_abi=3.12[build='*_cp312']"},
        {"__archspec 1 x86_64_v3 or b",                "__archspec==1=x86_64_v3 or b"},
        {"blas * *mkl and b",                          "blas[build='*mkl'] and b"},
        {"android >=1 and nordic * or_1",              "android[version='>=1'] and nordic[build='or_1']"},
        {"__win or (python<3.9 and __linux)",          "__win or python[version='<3.9'] and __linux"},
        {"(a or b) and c",                             "(a or b) and c"},
        {"((a) and (b and c))",                        "a and b and c"},
        {"a or b and c or d",                          "a or b and c or d"},
        {"a[build='x y'] and b",                       "a[build='x y'] and b"},
        {"conda-forge::a=1.2 or android or nordic",    "conda-forge::a=1.2 or android or nordic"},
        {"^[(\"a]+ b$[version='>=2'] and c",           "^[(\"a]+ b$[version='>=2'] and c"},
    }));
    // clang-format on
    CAPTURE(row.given);
    const auto parsed = Condition::parse(row.given);
    if (!parsed) FAIL(parsed.error().message);
    CHECK(parsed->to_string() == row.printed);
    CHECK(*Condition::parse(row.printed) == *parsed);
}

TEST_CASE("the tree of a condition", "[spec]") {
    const auto parsed = Condition::parse("a or b>=2 and c");
    REQUIRE(parsed);
    REQUIRE(parsed->kind == Condition::Kind::Or);
    REQUIRE(parsed->parts.size() == 2);
    CHECK(parsed->parts[0].spec->name == "a");
    REQUIRE(parsed->parts[1].kind == Condition::Kind::And);
    CHECK(parsed->parts[1].parts[0].spec->version->to_string() == ">=2");
}
