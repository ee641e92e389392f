#include "libcore/spec/version_spec.hpp"

#include "libcore/spec/version_range.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;

namespace version_spec_test {
namespace {

VersionSpec spec(std::string_view text) {
    auto parsed = VersionSpec::parse(text);
    if (!parsed) FAIL(parsed.error().message);
    return *parsed;
}

}  // namespace

TEST_CASE("version specs accept and reject as CEP 29 says", "[spec]") {
    struct Row {
        std::string spec;
        std::vector<std::string> accepts, rejects;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"*",                {"1", "0.dev"},                              {}},
        {"=1.2",             {"1.2", "1.2.3", "1.2a1", "1.2.0rc1", "1.2+5"}, {"1.20", "1.3"}},
        {"1.2.*",            {"1.2", "1.2.3", "1.2a1"},                   {"1.20", "1.3"}},
        {"1.2*",             {"1.2.5"},                                   {"1.20"}},
        {"==1.2",            {"1.2.0", "1.2+0"},                          {"1.2+1", "1.2.1"}},
        {"1.2",              {"1.2.0"},                                   {"1.2+1", "1.2.1"}},
        {"!=1.2.*",          {"1.3"},                                     {"1.2.1"}},
        {"!=1.2",            {"1.2.1", "1.3"},                            {"1.2", "1.2.0"}},
        {"~=0.5.3",          {"0.5.3", "0.5.10"},                         {"0.5.2", "0.6"}},
        {"<2.0a0",           {"1.9", "2.0dev1"},                          {"2.0a0", "2.0.0a0"}},
        {">1.2",             {"1.2.0.1", "1.2+1"},                        {"1.2.0", "1.2rc1"}},
        {">=1.2,<2|3.0",     {"1.5", "3.0"},                              {"2.5"}},
        {"(1.5|1.6),!=1.6",  {"1.5"},                                     {"1.6"}},
        {"1.*.3",            {"1.2.3", "1.2.3.3"},                        {"1.2.3.4"}},
        {"!=1.*.3",          {"1.2.3.4"},                                 {"1.2.3"}},
        {R"(^1\.[0-9]+$)",   {"1.25"},                                    {"1.25.1"}},
        {R"(^(1|2)\.0$|>=5)",{"1.0", "2.0", "6"},                         {"3.0"}},
        {"=2.38.0",          {"2.38"},                                    {"2.38.1"}},
        {"=1!1.2",           {"1!1.2.3"},                                 {"1.2.3"}},
        // The lenient reading that old channels need.
        {"2.7.*.*|>=3.6",    {"2.7", "2.7.18", "3.6"},                    {"2.8", "3.5"}},
        {"0.2.18.*.",        {"0.2.18", "0.2.18.1"},                      {"0.2.19"}},
        {">=2.0.*",          {"2.0", "2.1"},                              {"1.9"}},
        {"<=2.0.*",          {"2.0", "1.9"},                              {"2.0.1"}},
        {">2.0.*",           {"2.0.1", "2.1"},                            {"2.0", "1.9"}},
        {"<2.0.*",           {"1.9", "2.0a1"},                            {"2.0", "2.0.1"}},
        {"=2.0.*",           {"2.0", "2.0.1"},                            {"2.1"}},
        // A star without a dot behind an operator, as conda orders it: before all of 2.10.
        {">2.10*",           {"2.10", "2.10a1", "2.10.1", "2.11"},        {"2.9", "2.1"}},
        {">=2.10*",          {"2.10", "2.10.dev1", "2.10.1", "2.11"},     {"2.9", "2.1"}},
        {"<2.10*",           {"2.9", "2.9.9"},                            {"2.10", "2.10a1", "2.10.1", "2.11"}},
        {"<=2.10*",          {"2.9", "2.9.9"},                            {"2.10", "2.10a1", "2.10.1", "2.11"}},
        {"~=2.10*",          {"2.10", "2.10a1", "2.11"},                  {"2.9", "3.0"}},
        {"==2.10*",          {"2.10", "2.10.1"},                          {"2.1", "2.11"}},
        {"=2.10*",           {"2.10", "2.10.1"},                          {"2.1", "2.11"}},
        {"!=2.10*",          {"2.1", "2.11"},                             {"2.10", "2.10.1"}},
        {">=1*,<2|>3*",      {"1.0", "1a1", "3", "4"},                    {"2", "0.9"}},
        // A star that is not the last thing asks the text.
        {"*.*",              {"3.1", "3.1.2"},                            {"3"}},
        {"=*.*",             {"3.1"},                                     {"3"}},
        {"==*.*",            {"3.1"},                                     {"3"}},
        {"!=*.*",            {"3"},                                       {"3.1"}},
        {"*.*.*",            {"3.1.2", "3.1.2.0"},                        {"3", "3.1"}},
        {"*.*.",             {"3.1"},                                     {"3"}},
        {"*.1",              {"3.1"},                                     {"3", "3.2"}},
        {"*.",               {"3", "3.1"},                                {}},
        {"**",               {"3", "3.1"},                                {}},
        {">=*.*",            {"3", "3.1"},                                {}},
        {"==1.8.*",          {"1.8", "1.8.3"},                            {"1.9"}},
        {" >= 1.0 , < 2.0 ", {"1.5"},                                     {"2.0"}},
        {"( >=1 , ( <2 | 3 ) )", {"1.5", "3"},                            {"2"}},
        {"=*",               {"1"},                                       {}},
    }));
    // clang-format on
    CAPTURE(row.spec);
    const auto asked = spec(row.spec);
    for (const auto& text : row.accepts) {
        CAPTURE(text);
        CHECK(asked.matches(*Version::parse(text)));
    }
    for (const auto& text : row.rejects) {
        CAPTURE(text);
        CHECK_FALSE(asked.matches(*Version::parse(text)));
    }
    CAPTURE(asked.to_string());
    CHECK(spec(asked.to_string()) == asked);
}

TEST_CASE("version specs print in one canonical way", "[spec]") {
    struct Row {
        std::string given, printed;
    };
    const auto row = GENERATE(values<Row>({
        {"*", "*"},
        {"*.*", "*.*"},
        {">1.2*", "1.2.*|>1.2"},
        {"<=1.2*", "!=1.2.*,<1.2"},
        {">=*", "*"},
        {"1.2", "==1.2"},
        {"==1.2", "==1.2"},
        {"=1.2", "1.2.*"},
        {"1.2*", "1.2.*"},
        {"1.2.*.*", "1.2.*"},
        {"!=1.2*", "!=1.2.*"},
        {">=1.2.*", ">=1.2"},
        {"~=1.2", "~=1.2"},
        {" >= 1.0 , < 2.0 ", ">=1.0,<2.0"},
        {"1.0RC1", "==1.0rc1"},
        {"((1|2))|3", "==1|==2|==3"},
        {"(1|2),3", "(==1|==2),==3"},
        {"1|(2,3)", "==1|==2,==3"},
        {"^1\\.(A|b)$", "^1\\.(A|b)$"},
        {"1.*.A", "1.*.a"},
        {"=1!2.0_", "1!2.0_.*"},
    }));
    CHECK(spec(row.given).to_string() == row.printed);
    CHECK(spec(row.printed) == spec(row.given));
}

TEST_CASE("exact and fuzzy specs show their literal", "[spec]") {
    CHECK(spec("1.2").exact()->to_string() == "1.2");
    CHECK(spec("1.2").fuzzy() == nullptr);
    CHECK(spec("1.2.*").fuzzy()->to_string() == "1.2");
    CHECK(spec("1.2.*").exact() == nullptr);
    CHECK(spec(">=1.2").exact() == nullptr);
    CHECK(VersionSpec().is_any());
    CHECK(VersionSpec() == spec("*"));
    CHECK_FALSE(spec("1.2") == spec("1.2.0"));
}

TEST_CASE("the range that a spec is, and what two have in common", "[spec]") {
    struct Row {
        std::string spec, range, with_from_2_below_4;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"*",                 "",                ">=2,<4"},
        {">=2.17,<3.0.a0",    ">=2.17,<3.0.a0",  ">=2.17,<3.0.a0"},
        {"<3.0,>=1,>=1.5,<5", ">=1.5,<3.0",      ">=2,<3.0"},
        {">=3",               ">=3",             ">=3,<4"},
        {"<7",                "<7",              ">=2,<4"},
        {"3.9.*",             ">=3.9,<3.10",     ">=3.9,<3.10"},
        {"=2",                ">=2,<3",          ">=2,<3"},
        {">1",                "none",            ""},
        {"<=2",               "none",            ""},
        {"!=2",               "none",            ""},
        {"==2",               "none",            ""},
        {"~=2.1",             "none",            ""},
        {">=1,<2|>=3",        "none",            ""},
        {">=1,(<2|>=3)",      "none",            ""},
        {"3.9a.*",            "none",            ""},
        {"18446744073709551615.*", "none",       ""},
    }));
    // clang-format on
    CAPTURE(row.spec);
    auto range = VersionRange::of(spec(row.spec));
    CHECK((range ? range->to_string() : "none") == row.range);
    if (!range) return;
    range->narrow_to({*Version::parse("2"), *Version::parse("4")});
    CHECK(range->to_string() == row.with_from_2_below_4);
}

}  // namespace version_spec_test
