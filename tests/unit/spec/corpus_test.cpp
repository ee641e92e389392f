// Every version and MatchSpec of the corpus parses, prints canonically and re-parses equal.

#include "tests/support/corpus.hpp"

#include "libcore/spec/match_spec.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("every version of the corpus is read back as printed", "[spec][corpus]") {
    const auto corpus = tests::corpus();
    if (!corpus) {
        WARN("skipped: GPKG_TEST_CORPUS is not set");
        return;
    }
    const auto lines = tests::zst_lines(*corpus / "versions.txt.zst");
    REQUIRE(lines.size() > 6000);
    for (const auto& line : lines) {
        CAPTURE(line);
        const auto version = Version::parse(line);
        if (!version) FAIL(version.error().message);
        const auto again = Version::parse(version->to_string());
        REQUIRE(again);
        REQUIRE(*again == *version);
        REQUIRE(again->hash() == version->hash());
    }
}

TEST_CASE("every spec of the corpus is read back as printed", "[spec][corpus]") {
    const auto corpus = tests::corpus();
    if (!corpus) {
        WARN("skipped: GPKG_TEST_CORPUS is not set");
        return;
    }
    const auto lines = tests::zst_lines(*corpus / "matchspecs.txt.zst");
    REQUIRE(lines.size() > 20000);
    for (const auto& line : lines) {
        CAPTURE(line);
        const auto spec = MatchSpec::parse(line);
        if (!spec) FAIL(spec.error().message);
        const auto again = MatchSpec::parse(spec->to_string());
        if (!again) FAIL(again.error().message);
        REQUIRE(*again == *spec);
        REQUIRE(again->to_string() == spec->to_string());
    }
}
