#include "libcore/manifest/selectors_internal.hpp"
#include "libcore/yaml/line_selectors.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;
using namespace gpkg::manifest;

namespace selectors_test {
namespace {

Result<yaml::SelectedText> select_for_linux(std::string_view text) {
    const auto holds = [](std::string_view expression) -> Result<std::optional<bool>> {
        if (!is_meant_as_selector(expression)) return std::nullopt;
        GPKG_TRY(const bool value, evaluate_selector(expression, "linux-64"));
        return value;
    };
    return yaml::select_lines(text, "env.yml", holds);
}

}  // namespace

TEST_CASE("a selector asks about the platform", "[manifest]") {
    struct Row {
        std::string expression, platform;
        bool expected;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"linux",                         "linux-64",      true},
        {"linux",                         "osx-arm64",     false},
        {"unix",                          "osx-arm64",     true},
        {"unix",                          "win-64",        false},
        {"win",                           "win-64",        true},
        {"linux64",                       "linux-64",      true},
        {"linux64",                       "linux-aarch64", false},
        {"osx64",                         "osx-64",        true},
        {"osx64",                         "osx-arm64",     false},
        {"arm64",                         "osx-arm64",     true},
        {"aarch64",                       "linux-aarch64", true},
        {"x86",                           "linux-32",      true},
        {"x86_64",                        "linux-32",      false},
        {"ppc64le",                       "linux-ppc64le", true},
        {" linux  and x86_64 ",           "linux-64",      true},
        {"linux and aarch64",             "linux-64",      false},
        {"win or linux and aarch64",      "win-64",        true},
        {"(win or linux) and aarch64",    "win-64",        false},
        {"((osx))",                       "osx-64",        true},
        {"not win",                       "linux-64",      true},
        {"not (linux or osx) and win",    "win-64",        true},
    }));
    // clang-format on
    CAPTURE(row.expression, row.platform);
    const auto value = evaluate_selector(row.expression, row.platform);
    REQUIRE(value);
    CHECK(*value == row.expected);
}

TEST_CASE("a selector that means nothing is refused", "[manifest]") {
    struct Row {
        std::string expression, message;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"",                 "the selector []: a name is missing at the end"},
        {"lunix",            "the selector [lunix]: unknown name 'lunix'"},
        {"py>=39",           "the selector [py>=39]: unknown name 'py'"},
        {"build_platform",   "the selector [build_platform]: unknown name 'build_platform'"},
        {"linux win",        "the selector [linux win]: unexpected 'win'"},
        {"linux and",        "the selector [linux and]: a name is missing at the end"},
        {"(linux",           "the selector [(linux]: a parenthesis is not closed"},
        {"linux)",           "the selector [linux)]: unexpected ')'"},
        {"and",              "the selector [and]: unknown name 'and'"},
        {"linux && x86",     "the selector [linux && x86]: unexpected '&'"},
    }));
    // clang-format on
    const auto value = evaluate_selector(row.expression, "linux-64");
    REQUIRE_FALSE(value);
    CHECK(value.error().message == row.message);
}

TEST_CASE("a selector that is nearly one is answered with what is meant", "[manifest]") {
    CHECK(evaluate_selector("WIN", "linux-64").error().hint == "did you mean win?");
    CHECK(evaluate_selector("py", "linux-64").error().hint.starts_with("selectors may use unix, "));
}

TEST_CASE("deep nesting of a selector ends in an error", "[manifest]") {
    const auto value = evaluate_selector(
        std::string(100000, '(') + "linux" + std::string(100000, ')'), "linux-64");
    REQUIRE_FALSE(value);
    CHECK(value.error().message.ends_with("too deeply nested"));
}

TEST_CASE("keys with selectors", "[manifest]") {
    CHECK(selector_of_key("sel(win)") == "win");
    CHECK(selector_of_key(" sel( win ) ") == "win");
    CHECK_FALSE(selector_of_key("pip"));
    CHECK_FALSE(selector_of_key("sel"));
    CHECK(evaluate_key_selector("unix", "linux-64").value());
    CHECK_FALSE(evaluate_key_selector("osx", "linux-64").value());
    CHECK(evaluate_key_selector("linux64", "linux-64").error().message ==
          "sel(linux64): expected unix, linux, osx or win");
}

TEST_CASE("lines whose selector is false become empty", "[manifest]") {
    struct Row {
        std::string text, expected;
        bool has_selectors;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"- a\n- b  # [win]\n- c\n",               "- a\n\n- c\n",                    true},
        {"- b  #[linux]\n",                        "- b  #[linux]\n",                 true},
        {"- b\n# - c  # [win]\n",                  "- b\n# - c  # [win]\n",           false},
        {"# [win]\n- b\n",                         "# [win]\n- b\n",                  false},
        {"- 'b # [win]'\n",                        "- 'b # [win]'\n",                 false},
        {"- \"b\\\" # [win]\"\n",                  "- \"b\\\" # [win]\"\n",           false},
        {"- don't  # [win]\n",                     "\n",                              true},
        {"- b#[win]\n",                            "- b#[win]\n",                     false},
        {"- b  # [win] the rest\n",                "\n",                              true},
        {"- b  # [1] a remark\n",                  "- b  # [1] a remark\n",           false},
        {"- b  # see [win]\n",                     "- b  # see [win]\n",              false},
        // What is nested below goes with the line.
        {"- pip:  # [win]\n  - x\n  # y\n\n- c\n", "\n\n\n\n- c\n",                   true},
        {"variables:  # [osx]\n- x\n- y\nz: 1\n",  "\n\n\nz: 1\n",                    true},
        {"a: 1  # [osx]\nb: 2\n",                  "\nb: 2\n",                        true},
        // Of a block of text all is text, up to what is no further in than its key or its item.
        {"a: |\n  x # [win]\n\n  # [win]\nb: 1 # [win]\n", "a: |\n  x # [win]\n\n  # [win]\n\n", true},
        {"- >-\n  x # [win]\n- y # [win]\n",       "- >-\n  x # [win]\n\n",           true},
        {"- - |2-\n   x # [win]\n  - y # [win]\n", "- - |2-\n   x # [win]\n\n",       true},
        {"- a: |\n   x # [win]\n  b: y # [win]\n", "- a: |\n   x # [win]\n\n",        true},
        {"a: | # [linux]\n  x # [win]\n",          "a: | # [linux]\n  x # [win]\n",    true},
        {"a: | # [win]\n  x # [linux]\nb: 1\n",    "\n\nb: 1\n",                      true},
        {"- numpy >\n- y # [win]\n",               "- numpy >\n\n",                    true},
    }));
    // clang-format on
    CAPTURE(row.text);
    const auto selected = select_for_linux(row.text);
    REQUIRE(selected);
    CHECK(selected->text == row.expected);
    CHECK(selected->has_selectors == row.has_selectors);
}

TEST_CASE("a remark in brackets is no selector", "[manifest]") {
    const auto* const remark =
        GENERATE("optional", "the name", "1", "", "https://x/y", "py3k", "py>=39", "in", "arms");
    CAPTURE(remark);
    CHECK(is_meant_as_selector(remark) == (std::string_view(remark) == "arms"));
}

TEST_CASE("remarks in brackets are told", "[manifest]") {
    const auto selected = select_for_linux("- a # [optional]\n- b # [optional] it is\n");
    REQUIRE(selected);
    CHECK(selected->text == "- a # [optional]\n- b # [optional] it is\n");
    CHECK(selected->places == std::vector<std::string>{"env.yml:1: [optional]"});
}

TEST_CASE("a selector that is not closed is told", "[manifest]") {
    CHECK(select_for_linux("- a # [linux\n").error().message ==
          "env.yml:1: selector [linux is not closed");
    CHECK(select_for_linux("- a # [linux, as is\n"));
}

TEST_CASE("a wrong selector is told with its line", "[manifest]") {
    const auto selected = select_for_linux("a:\n- b  # [lunix]\n");
    REQUIRE_FALSE(selected);
    CHECK(selected.error().message == "env.yml:2: the selector [lunix]: unknown name 'lunix'");
    CHECK(selected.error().hint == "did you mean unix?");
}

}  // namespace selectors_test
