#include "libcore/spec/version.hpp"

#include "libcore/base/text.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;

namespace version_test {
namespace {

Version version(std::string_view text) {
    auto parsed = Version::parse(text);
    if (!parsed) FAIL(parsed.error().message);
    return *parsed;
}

std::string relation(std::string_view a, std::string_view b) {
    const auto order = version(a) <=> version(b);
    return std::is_lt(order) ? "<" : std::is_gt(order) ? ">" : "==";
}

}  // namespace

TEST_CASE("versions order as CEP 33 says", "[spec]") {
    // Each line is one place in the order; its versions are equal.
    const std::vector<std::vector<std::string>> chain{
        {"0.4", "0.4.0"},
        {"0.4.1.rc", "0.4.1.RC"},
        {"0.4.1+local"},
        {"0.4.1+0.local"},
        {"0.4.1", "0.4.1+0"},
        {"0.4.1+1.local"},
        {"0.5a1"},
        {"0.5b3"},
        {"0.5C1"},
        {"0.5"},
        {"0.9.6"},
        {"0.960923"},
        {"1.0"},
        {"1.1dev1"},
        {"1.1_"},
        {"1.1a1"},
        {"1.1.0dev1", "1.1.dev1"},
        {"1.1.a1"},
        {"1.1.0rc1"},
        {"1.1.0.0", "1.1.0", "1.1"},
        {"1.1.post1", "1.1.0post1"},
        {"1.1post1"},
        {"1996.07.12"},
        {"1!0.4.1"},
        {"1!3.1.1.6"},
        {"2!0.4.1"},
    };
    for (std::size_t i = 0; i < chain.size(); ++i)
        for (std::size_t j = 0; j < chain.size(); ++j)
            for (const auto& a : chain[i])
                for (const auto& b : chain[j]) {
                    CAPTURE(a, b);
                    CHECK(relation(a, b) == (i < j ? "<" : i > j ? ">" : "=="));
                    if (i == j) CHECK(version(a).hash() == version(b).hash());
                }
}

TEST_CASE("pairs of versions that are often ordered wrongly", "[spec]") {
    struct Row {
        std::string a, relation, b;
    };
    const auto row = GENERATE(values<Row>({
        {"1.1.0rc", "==", "1.1.rc"},
        {"1.1.rc", ">", "1.1rc"},
        {"1.0.1_", "<", "1.0.1a"},
        {"1.0.1a", "<", "1.0.1"},
        {"2.0a0", "<", "2.0.a0"},
        {"1.2post.dev", "<", "1.2post"},
        {"2024a", "<", "2024b"},
        {"2024b", "<", "2024"},
        {"v0.1", "<", "0.1"},
        {"1.0alpha", ">", "1.0a"},
        {"1-0", "==", "1.0"},
        {"1.0-", "==", "1.0_"},
        {"01.2", "==", "1.2"},
        {"1.2a", "==", "1.2a0"},
        {"9e", "<", "10a"},
        {"1.0a", "<", "1.0_a"},
        // Digit runs of any length are numbers, and long words are compared to their end.
        {"20200101123456789012345", ">", "99999999999999999"},
        {"20200101123456789012345", "<", "20200101123456789012346"},
        {"100000000000000000", ">", "99999999999999999"},
        {"000000000000000000000007", "==", "7"},
        {"1.18446744073709551616", ">", "1.18446744073709551615"},
        {"1.abcdefgh", ">", "1.abcdefg"},
        {"1.abcdefgh", "<", "1.abcdefz"},
        {"1.abcdefg1", "<", "1.abcdefgh"},
        {"1.abcdefgpost", ">", "1.abcdefg"},
        {"1.0.0.0.0.0.0.0.0.0.1", ">", "1.0.0.0.0.0.0.0.0.0"},
        {"1.0.0.0.0.0.0.0.0.0.0", "==", "1"},
        {"1.0+1", ">", "1.0"},
        {"1.0+a", "<", "1.0"},
        {"0!1", "==", "1"},
    }));
    CAPTURE(row.a, row.b);
    CHECK(relation(row.a, row.b) == row.relation);
    const std::string reversed = row.relation == "<" ? ">" : row.relation == ">" ? "<" : "==";
    CHECK(relation(row.b, row.a) == reversed);
    if (row.relation == "==") CHECK(version(row.a).hash() == version(row.b).hash());
}

TEST_CASE("a version starts with whole segments and identifiers", "[spec]") {
    struct Row {
        std::string version, prefix;
        bool expected;
    };
    const auto row = GENERATE(values<Row>({
        {"1.2", "1.2", true},
        {"1.2.3", "1.2", true},
        {"1.2a1", "1.2", true},
        {"1.2dev1", "1.2", true},
        {"1.2+5", "1.2", true},
        {"1.20", "1.2", false},
        {"1.3", "1.2", false},
        {"1", "1.0", true},
        {"1.0.1", "1.0", true},
        {"2.38", "2.38.0", true},
        {"2.38.1", "2.38.0", false},
        {"1!1.2.3", "1!1.2", true},
        {"1.2.3", "1!1.2", false},
        {"1.1.1ab", "1.1.1a", false},
        {"1.1.1a1", "1.1.1a", true},
        {"1.abcdefgh", "1.abcdefg", false},
        {"1.abcdefgh", "1.abcdefgh", true},
        {"1.0.1_", "1.0.1", true},
        {"1.2a.3", "1.2.3", false},
        {"1.2+5.1", "1.2+5", true},
        {"1.2.0+5.1", "1.2+5", true},
        {"1.2.1+5.1", "1.2+5", false},
        {"1.2", "1.2+5", false},
        {"1.2.0.3", "1.2.0", true},
        {"1.2", "1.2.0.0", true},
        {"1.2a", "1.2a0", true},
    }));
    CAPTURE(row.version, row.prefix);
    CHECK(version(row.version).starts_with(version(row.prefix)) == row.expected);
}

TEST_CASE("the stem of a version is what ~= keeps", "[spec]") {
    const auto stem = [](std::string_view text) {
        const auto found = version(text).without_last_segment();
        return found ? found->to_string() : "none";
    };
    CHECK(stem("1.2.3") == "1.2");
    CHECK(stem("1!2.3+4.5") == "1!2");
    CHECK(stem("1.0.1_") == "1.0");
    CHECK(stem("1.2_3") == "1.2");
    CHECK(stem("1") == "none");
    CHECK(stem("1_") == "none");
    CHECK(stem("1!2") == "none");
}

TEST_CASE("versions keep their text in lower case", "[spec]") {
    CHECK(version("1.0RC1").to_string() == "1.0rc1");
    CHECK(version("01.2").to_string() == "01.2");
    CHECK(Version::from_number(0) == version("0"));
    CHECK(Version::from_number(18446744073709551615U) == version("18446744073709551615"));
    CHECK(Version::from_number(42).to_string() == "42");
}

}  // namespace version_test
