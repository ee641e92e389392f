// Texts that must be refused, with the whole message: tests/fixtures/spec/invalid_*.txt.
// A case is "> TEXT", then the expected message and hint, then an empty line. In TEXT, \xNN stands
// for one byte. GPKG_UPDATE_FIXTURES=1 writes the messages as they are now; read them in review.

#include "libcore/spec/condition.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/names.hpp"
#include "tests/support/catch.hpp"

#include <fstream>

using namespace gpkg;

namespace invalid_test {
namespace {

struct Case {
    std::string line;      ///< as it stands in the file
    std::string expected;  ///< every line ends in a newline
};

std::vector<Case> read_cases(const std::string& path) {
    std::vector<Case> cases;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("> ") || line == ">")
            cases.push_back({line, {}});
        else if (!line.empty() && !cases.empty())
            cases.back().expected.append(line).append("\n");
    }
    return cases;
}

std::string text_of(const Case& one) {
    const auto line = one.line.substr(std::min<std::size_t>(2, one.line.size()));
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line.compare(i, 2, "\\x") != 0) {
            text += line[i];
            continue;
        }
        text += static_cast<char>(std::stoi(line.substr(i + 2, 2), nullptr, 16));
        i += 3;
    }
    return text;
}

template <typename T>
std::string refusal(std::string_view text) {
    const auto parsed = T::parse(text);
    if (parsed) return "accepted\n";
    const auto& error = parsed.error();
    CHECK(error.kind == ErrorKind::Parse);
    std::string whole = error.message;
    if (!error.hint.empty()) whole.append("\nhint: ").append(error.hint);
    return whole.append("\n");
}

template <typename T>
void check_file(const std::string& name, std::size_t least) {
    const auto path = std::string(GPKG_FIXTURES) + "/spec/" + name;
    auto cases = read_cases(path);
    REQUIRE(cases.size() >= least);
    if (std::getenv("GPKG_UPDATE_FIXTURES") != nullptr) {
        std::ofstream file(path);
        for (const auto& one : cases) file << one.line << "\n" << refusal<T>(text_of(one)) << "\n";
        WARN("written anew: " + path);
        return;
    }
    for (const auto& one : cases) {
        CAPTURE(one.line);
        CHECK(one.expected != "accepted\n");
        CHECK(refusal<T>(text_of(one)) == one.expected);
    }
}

}  // namespace

TEST_CASE("invalid versions are refused with a caret", "[spec]") {
    check_file<Version>("invalid_versions.txt", 50);
}

TEST_CASE("invalid version specs are refused with a caret", "[spec]") {
    check_file<VersionSpec>("invalid_version_specs.txt", 60);
}

TEST_CASE("invalid specs are refused with a caret", "[spec]") {
    check_file<MatchSpec>("invalid_match_specs.txt", 120);
}

TEST_CASE("invalid conditions are refused with a caret", "[spec]") {
    check_file<Condition>("invalid_conditions.txt", 20);
}

TEST_CASE("invalid file names are refused with a caret", "[spec]") {
    check_file<FileName>("invalid_file_names.txt", 12);
}

TEST_CASE("hostile texts are refused, quickly and without a crash", "[spec]") {
    const auto many = [](std::string_view text, std::size_t times) {
        std::string whole;
        for (std::size_t i = 0; i < times; ++i) whole += text;
        return whole;
    };
    CHECK_FALSE(Version::parse(many("1", 1'000'000)));
    CHECK_FALSE(VersionSpec::parse(many("(", 100'000)));
    CHECK_FALSE(VersionSpec::parse(many("(", 4'000) + "1" + many(")", 4'000)));
    CHECK_FALSE(VersionSpec::parse(many("1,", 1'000'000)));
    CHECK_FALSE(MatchSpec::parse(many("a", 1'000'000)));
    CHECK_FALSE(MatchSpec::parse(std::string("a ") + many("(", 100'000)));
    CHECK_FALSE(MatchSpec::parse(std::string("a") + many("[", 100'000)));
    CHECK_FALSE(MatchSpec::parse(std::string("a[build='^") + many("(", 1'000) + "$']"));
    CHECK_FALSE(MatchSpec::parse("a[build='^((a{1000}){1000}){1000}$']"));
    CHECK_FALSE(Condition::parse(many("(", 100'000)));
    CHECK_FALSE(Condition::parse(many("a and ", 100'000)));

    // Patterns on which backtracking takes exponential time.
    const auto regex = StringMatcher::parse("^(a+)+b$");
    REQUIRE(regex);
    CHECK_FALSE(regex->matches(many("a", 100'000)));
    const auto glob = StringMatcher::parse(many("*a", 400) + "*b");
    REQUIRE(glob);
    CHECK_FALSE(glob->matches(many("a", 10'000)));
}

}  // namespace invalid_test
