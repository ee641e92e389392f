#include "cli/terminal.hpp"

#include "tests/support/catch.hpp"

#include <map>

using namespace gpkg;
using namespace gpkg::cli;

namespace {

using Lines = std::vector<std::string>;

EnvLookup environment(std::map<std::string, std::string, std::less<>> variables) {
    return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
    };
}

/// A descriptor that is not a terminal.
constexpr int kNoTerminal = -1;

}  // namespace

TEST_CASE("width counts characters, not bytes or escape sequences", "[cli]") {
    struct Row {
        std::string text;
        std::size_t width;
    };
    for (const auto& [text, width] : {Row{"", 0},
                                      Row{"numpy", 5},
                                      Row{"né—…", 4},
                                      Row{"\x1b[1mnumpy\x1b[0m", 5},
                                      Row{"\x1b[", 2},
                                      Row{"环境", 4},
                                      Row{"e\xcc\x81", 1},  // combining accent
                                      Row{"한글 ok", 7}}) {
        CAPTURE(text);
        CHECK(display_width(text) == width);
    }
}

TEST_CASE("shortened text keeps its front or its end", "[cli]") {
    struct Row {
        std::string text;
        std::size_t width;
        Keep keep;
        bool utf8;
        std::string shown;
    };
    for (const auto& [text, width, keep, utf8, shown] :
         {Row{"numpy", 5, Keep::Start, true, "numpy"},
          Row{"numpy", 4, Keep::Start, true, "num…"},
          Row{"numpy", 4, Keep::Start, false, "nu.."},
          Row{"/a/path", 4, Keep::End, true, "…ath"},
          Row{"/a/path", 4, Keep::End, false, "..th"},
          Row{"numpy", 1, Keep::Start, false, "."},
          Row{"\x1b[1mnumpy\x1b[0m", 3, Keep::Start, true, "\x1b[1mnu…\x1b[0m"}}) {
        CAPTURE(text, width);
        CHECK(shortened(text, width, keep, utf8) == shown);
    }
}

TEST_CASE("the front of a text ends before the column that is too much", "[cli]") {
    CHECK(front("numpy", 3) == "num");
    CHECK(front("né", 2) == "né");
    CHECK(front("\x1b[1mnumpy\x1b[0m", 5) == "\x1b[1mnumpy\x1b[0m");
    CHECK(front("numpy", 0).empty());
}

TEST_CASE("wide characters are kept whole", "[cli]") {
    CHECK(front("环境ab", 3) == "环");
    CHECK(shortened("环境环境", 5, Keep::Start, true) == "环境…");
    CHECK(shortened("环境环境", 4, Keep::Start, true) == "环…");
}

TEST_CASE("text is wrapped between words", "[cli]") {
    struct Row {
        std::string text;
        std::size_t width;
        std::size_t indent;
        Lines lines;
    };
    for (const auto& [text, width, indent, lines] :
         {Row{"", 10, 0, {""}},
          Row{"one two three", 7, 0, {"one two", "three"}},
          Row{"one two three", 7, 2, {"one two", "  three"}},
          Row{"one\n\ntwo three", 5, 0, {"one", "", "two", "three"}},
          Row{"a /longer/than/the/line b", 8, 0, {"a", "/longer/than/the/line", "b"}},
          Row{"é é é", 3, 0, {"é é", "é"}},
          // Lines that are indented stay so.
          Row{"  one two", 5, 2, {"  one", "    two"}},
          // Columns of blanks stay where the line fits.
          Row{"a  b c", 6, 0, {"a  b c"}},
          // Commands to type are on one line.
          Row{"to undo: gpkg rollback 3 -n ml; or not",
              20,
              0,
              {"to undo:", "gpkg rollback 3 -n ml;", "or not"}},
          Row{"  gpkg install -n ml numpy", 12, 0, {"  gpkg install -n ml numpy"}},
          Row{"  gpkg install numpy  # gives numpy 2.0",
              22,
              4,
              {"  gpkg install numpy", "      # gives numpy", "      2.0"}},
          Row{"gpkg reads no file", 10, 0, {"gpkg reads", "no file"}},
          Row{"run `gpkg list -n ml` now", 12, 0, {"run", "`gpkg list -n ml`", "now"}},
          // A question stays with its answers.
          Row{"Remove it now? [y/N]", 14, 0, {"Remove it", "now? [y/N]"}}}) {
        CAPTURE(text, width);
        CHECK(wrapped(text, width, indent) == lines);
    }
}

TEST_CASE("messages are wrapped on terminals only", "[cli]") {
    CHECK(word_wrapped("one two three", {7, true}) == "one two\n  three");
    CHECK(word_wrapped("one two three\n", {80, true}) == "one two three\n");
    CHECK(word_wrapped("one two three", {}) == "one two three");
}

TEST_CASE("color follows the option, then variables, then the terminal", "[cli]") {
    struct Row {
        ColorChoice choice;
        std::map<std::string, std::string, std::less<>> variables;
        bool is_colored;
    };
    for (const auto& [choice, variables, is_colored] :
         {Row{ColorChoice::Auto, {}, false},
          Row{ColorChoice::Always, {{"NO_COLOR", "1"}}, true},
          Row{ColorChoice::Never, {{"FORCE_COLOR", "1"}}, false},
          Row{ColorChoice::Auto, {{"FORCE_COLOR", "1"}}, true},
          Row{ColorChoice::Auto, {{"FORCE_COLOR", "0"}}, false},
          Row{ColorChoice::Auto, {{"CLICOLOR_FORCE", "1"}}, true},
          Row{ColorChoice::Auto, {{"FORCE_COLOR", "1"}, {"NO_COLOR", "1"}}, false},
          Row{ColorChoice::Auto, {{"FORCE_COLOR", "1"}, {"NO_COLOR", ""}}, true}}) {
        CAPTURE(variables);
        CHECK(uses_color(choice, kNoTerminal, environment(variables)) == is_colored);
    }
}

TEST_CASE("the first locale variable that is set names the encoding", "[cli]") {
    CHECK(uses_utf8(environment({{"LANG", "en_US.UTF-8"}})));
    CHECK(uses_utf8(environment({{"LC_ALL", "C.utf8"}, {"LANG", "C"}})));
    CHECK_FALSE(uses_utf8(environment({{"LC_ALL", "C"}, {"LANG", "en_US.UTF-8"}})));
    CHECK_FALSE(uses_utf8(environment({})));
}
