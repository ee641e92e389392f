// Comparisons, and the tests of Jinja: `value is name`.

#include "libcore/base/text.hpp"
#include "libcore/recipe/expression.hpp"
#include "libcore/recipe/wrong_internal.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gpkg {
namespace {

/// Tests that look at the value alone.
struct Kind {
    std::string_view name;
    bool (*holds)(const Value& value);
};

constexpr auto kKinds = std::to_array<Kind>({
    {"none", [](const Value& value) { return value.is_null(); }},
    {"boolean", [](const Value& value) { return value.flag() != nullptr; }},
    {"true", [](const Value& value) { return value.flag() != nullptr && *value.flag(); }},
    {"false", [](const Value& value) { return value.flag() != nullptr && !*value.flag(); }},
    {"number", [](const Value& value) { return value.number() != nullptr; }},
    {"integer", [](const Value& value) { return value.number() != nullptr; }},
    {"odd",
     [](const Value& value) { return value.number() != nullptr && *value.number() % 2 != 0; }},
    {"even",
     [](const Value& value) { return value.number() != nullptr && *value.number() % 2 == 0; }},
    {"string", [](const Value& value) { return value.text() != nullptr; }},
    {"sequence", [](const Value& value) { return value.list() != nullptr; }},
    {"lower",
     [](const Value& value) { return value.text() && to_lower(*value.text()) == *value.text(); }},
});

/// Tests that are comparisons under a name.
constexpr auto kComparisons = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"eq", "=="},
    {"equalto", "=="},
    {"ne", "!="},
    {"lt", "<"},
    {"le", "<="},
    {"gt", ">"},
    {"ge", ">="},
    {"in", "in"},
});

Result<bool> text_test(std::string_view name, const Value& value, const Value& with) {
    if (value.text() == nullptr || with.text() == nullptr)
        return wrong(fmt::format(
            "'{}' needs two strings, found {} and {}", name, value.kind_name(), with.kind_name()));
    if (name == "startingwith") return value.text()->starts_with(*with.text());
    return value.text()->ends_with(*with.text());
}

Result<bool> divides(const Value& value, const Value& by) {
    if (value.number() == nullptr || by.number() == nullptr || *by.number() == 0)
        return wrong("'divisibleby' needs two whole numbers, the second not 0");
    // The smallest number has no counterpart to divide by -1.
    return *by.number() == -1 || *value.number() % *by.number() == 0;
}

std::vector<std::string> known_tests() {
    std::vector<std::string> names{
        "defined", "undefined", "startingwith", "endingwith", "divisibleby"};
    for (const auto& kind : kKinds) names.emplace_back(kind.name);
    for (const auto& [name, symbol] : kComparisons) names.emplace_back(name);
    return names;
}

}  // namespace

Result<Value> compare_values(std::string_view symbol, const Value& left, const Value& right) {
    if (symbol == "==") return Value(left == right);
    if (symbol == "!=") return Value(left != right);
    if (symbol == "in" || symbol == "not in") {
        bool found = false;
        if (const auto* list = right.list()) {
            found = std::find(list->begin(), list->end(), left) != list->end();
        } else if (right.text() != nullptr && left.text() != nullptr) {
            found = right.text()->find(*left.text()) != std::string::npos;
        } else {
            return wrong(fmt::format("'in' needs a list or a string, found {}", right.kind_name()));
        }
        return Value(found == (symbol == "in"));
    }
    int order = 0;
    if (left.number() != nullptr && right.number() != nullptr) {
        order = *left.number() < *right.number() ? -1 : *left.number() > *right.number();
    } else if (left.text() != nullptr && right.text() != nullptr) {
        order = left.text()->compare(*right.text());
    } else {
        return wrong(
            fmt::format("cannot compare {} {} {}", left.kind_name(), symbol, right.kind_name()),
            "use match(name, \">=1.2\") for versions");
    }
    if (symbol == "<") return Value(order < 0);
    if (symbol == "<=") return Value(order <= 0);
    if (symbol == ">") return Value(order > 0);
    return Value(order >= 0);
}

Result<bool> apply_test(std::string_view name,
                        const std::optional<Value>& value,
                        const CallArguments& arguments) {
    if (name == "defined") return value.has_value();
    if (name == "undefined") return !value.has_value();
    for (const auto& kind : kKinds) {
        if (kind.name == name) return kind.holds(*value);
    }
    const auto known = known_tests();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
        const auto near = near_names(name, known);
        return wrong(fmt::format("unknown test '{}'", name), did_you_mean(near));
    }
    if (arguments.positional.size() != 1 || !arguments.named.empty())
        return wrong(fmt::format("the test '{}' takes one argument", name));
    const auto& with = arguments.positional.front();
    for (const auto& [word, symbol] : kComparisons) {
        if (word != name) continue;
        GPKG_TRY(const auto result, compare_values(symbol, *value, with));
        return result.truthy();
    }
    return name == "divisibleby" ? divides(*value, with) : text_test(name, *value, with);
}

}  // namespace gpkg
