#include "libcore/recipe/expression.hpp"

#include "tests/support/catch.hpp"

#include <map>

using gpkg::CallArguments;
using gpkg::Names;
using gpkg::Result;
using gpkg::Value;

namespace expression_test {
namespace {

Names names() {
    Names names;
    names.variable = [](std::string_view name) -> Result<std::optional<Value>> {
        static const std::map<std::string, Value, std::less<>> known = {
            {"version", Value("1.21.3")},
            {"linux", Value(true)},
            {"win", Value(false)},
            {"n", Value(7LL)},
            {"list", Value(Value::List{Value("b"), Value("a")})},
            {"nothing", Value()},
        };
        const auto found = known.find(name);
        if (found == known.end()) return std::nullopt;
        return found->second;
    };
    names.call = [](std::string_view function,
                    const CallArguments& arguments) -> Result<std::optional<Value>> {
        if (function != "echo" && function != "env.get") return std::nullopt;
        std::string text(function);
        for (const auto& value : arguments.positional) text.append(" ").append(value.to_text());
        for (const auto& [name, value] : arguments.named)
            text.append(" ").append(name).append("=").append(value.to_text());
        return Value(text);
    };
    names.known = [] { return std::vector<std::string>{"version", "linux", "win", "echo"}; };
    return names;
}

std::string evaluated(std::string_view text) {
    const auto value = gpkg::evaluate_expression(text, names());
    return value ? value->to_text() : value.error().message;
}

}  // namespace

TEST_CASE("expressions", "[build]") {
    struct Row {
        std::string text, expected;
    };
    const std::vector<Row> rows = {
        {"version", "1.21.3"},
        {"'a' ~ n", "a7"},
        {"'a' + 'b'", "ab"},
        {"1 + 2 * 3", "7"},
        {"(1 + 2) * 3", "9"},
        {"-7 // 2", "-4"},
        {"-7 % 3", "2"},
        {"7 // -2", "-4"},
        {"not win and linux", "true"},
        {"win or linux", "true"},
        {"linux and not (win or n == 8)", "true"},
        {"'a' if win else 'b'", "b"},
        {"'a' if win", ""},
        {"'x' if win else 'y' if linux else 'z'", "y"},
        {"n in [1, 7]", "true"},
        {"'21' in version", "true"},
        {"'a' not in list", "false"},
        {"n >= 7 and n < 8", "true"},
        {"'abc'[1]", "b"},
        {"list[-1]", "a"},
        {"'abcd'[1:3] ~ 'abcd'[:-1] ~ 'abcd'[2:] ~ 'ab'[5:] ~ 'ab'[:]", "bcabccdab"},
        {"(version | split('.'))[:2] | join('.')", "1.21"},
        {"list[1:-5] | length", "0"},
        {"n is defined and missing is undefined and missing is not defined", "true"},
        {"nothing is none and n is not none", "true"},
        {"version is startingwith('1.2') and version is not endingwith '2'", "true"},
        {"n is odd and 6 is divisibleby 3 and n is in([7]) and n is ge(7)", "true"},
        {"version is number or linux is false", "false"},
        {"n is startingwith('7')", "'startingwith' needs two strings, found a number and a string"},
        {"n is evn", "unknown test 'evn'"},
        {"missing is none", "'missing' is not defined"},
        {"version['a':]", "cannot slice with a string"},
        {"version | replace('.', '_')", "1_21_3"},
        {"version | upper | lower", "1.21.3"},
        {"'11.2.0' | version_to_buildstring", "112"},
        // As Jinja's documentation has them.
        {"([1, 2, 3, 4, 5] | batch(2))[2] | join('-')", "5"},
        {"([1, 2, 3, 4, 5] | batch(2, 0))[2] | join('-')", "5-0"},
        {"([1, 2, 3, 4, 5] | slice(2))[0] | join('-')", "1-2-3"},
        {"([1, 2, 3, 4, 5] | slice(2, 0))[1] | join('-')", "4-5-0"},
        {"[1, 2] | slice(3) | length", "3"},
        {"'' | default('x', true)", "x"},
        {"('a.b.c' | split('.', 1))[1]", "b.c"},
        {"(version | split('.'))[0]", "1"},
        {"list | sort | join('-')", "a-b"},
        {"[3, 1, 2] | max", "3"},
        {"'x' | length", "1"},
        {"'42' | int + 1", "43"},
        {"'  a ' | trim", "a"},
        {"unknown | default('d')", "d"},
        {"nothing | default('d')", "d"},
        {"echo('a', b=2)", "echo a b=2"},
        {"env.get('HOME')", "env.get HOME"},
        {"win and unknown", "false"},
        {"true", "true"},
        {"\"it's\"", "it's"},
        {"'a\\'b'", "a'b"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.text);
        CHECK(evaluated(row.text) == row.expected);
    }
}

TEST_CASE("methods of texts", "[build]") {
    CHECK(evaluated("'1.2.3'.split('.')[0]") == "1");
    CHECK(evaluated("('A' ~ \"b \").lower().strip().replace('b', 'c')") == "ac");
    CHECK(evaluated("list[0].upper()") == "B");
    CHECK(evaluated("'cuda12'.startswith('cuda') and not 'x'.endswith('y')") == "true");
    CHECK(evaluated("'a'.title()") == "strings have no method 'title'");
    CHECK(evaluated("'a'.lower") == "strings have no method 'lower'");
    CHECK(evaluated("n.split('.')") != "7");
}

TEST_CASE("what is wrong with an expression", "[build]") {
    struct Row {
        std::string text, expected;
    };
    const std::vector<Row> rows = {
        {"", "the expression is empty"},
        {"versoin", "'versoin' is not defined"},
        {"ecko(1)", "unknown function 'ecko'"},
        {"version | uper", "unknown filter 'uper'"},
        {"version | replace('.')", "filter 'replace' takes 2 arguments, not 1"},
        {"version | int", "filter 'int': '1.21.3' is not a whole number"},
        {"1 +", "unexpected end of the expression"},
        {"(1", "')' is missing"},
        {"1 2", "unexpected '2'"},
        {"1.5", "unexpected '.'"},
        {"'a", "missing closing quote in 'a"},
        {"a ? b", "unexpected '? b' in an expression"},
        {"1 // 0", "division by zero"},
        {"'a' - 1", "cannot compute a string - a number"},
        {"version >= 2", "cannot compare a string >= a number"},
        {"9223372036854775807 + 1", "the number is too large"},
        {"99999999999999999999", "'99999999999999999999' is not a whole number"},
        {"list[5]", "list index 5 is out of range"},
        {"x.y", "unknown variable 'x.y'"},
        {"echo(a=1, 2)", "a positional argument follows a named one"},
        {"if", "unexpected 'if'"},
        {std::string(500, '('), "the expression is nested too deeply"},
        {std::string(500, '-') + "1", "the expression is nested too deeply"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.text);
        CHECK(evaluated(row.text) == row.expected);
    }
    CHECK(gpkg::evaluate_expression("versoin", names()).error().hint == "did you mean version?");
    CHECK(gpkg::evaluate_expression("n|uper", names()).error().hint == "did you mean upper?");
}

TEST_CASE("templates keep the type of a lone expression", "[build]") {
    const auto value = [](std::string_view text) {
        return gpkg::evaluate_template(text, names()).value();
    };
    CHECK(value("${{ n }}") == Value(7LL));
    CHECK(value("${{ n }}0") == Value("70"));
    CHECK(value("a-${{ version }}-${{ n }}") == Value("a-1.21.3-7"));
    CHECK(value("${{ 'x' if win }}") == Value());
    CHECK(value("${{ \"}}\" }}") == Value("}}"));
    CHECK(value("plain") == Value("plain"));
    CHECK(value("${HOME} $x {{ y }}") == Value("${HOME} $x {{ y }}"));
    CHECK(gpkg::evaluate_template("a ${{ n", names()).error().message ==
          "missing closing '}}' in '${{ n'");
    CHECK(gpkg::evaluate_template("${{ nn }}", names()).error().message ==
          "in '${{ nn }}': 'nn' is not defined");
}

}  // namespace expression_test
