#pragma once

// The expressions of recipes (CEP 39): what stands inside `${{ }}` and after `if:`. A subset of
// Jinja's expressions; what a name or a function means is the caller's business.

#include "libcore/base/error.hpp"
#include "libcore/recipe/value.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpkg {

struct CallArguments {
    std::vector<Value> positional;
    std::vector<std::pair<std::string, Value>> named;

    const Value* find(std::string_view name) const;
};

/// The world an expression is evaluated in. Only what is evaluated is asked for: the untaken side
/// of `a if c else b`, `and`, `or` is not.
struct Names {
    /// The value of a variable; no value when there is none of that name.
    std::function<Result<std::optional<Value>>(std::string_view name)> variable;
    /// Calls `compiler(...)`, `env.get(...)`; no value when there is no such function.
    std::function<Result<std::optional<Value>>(std::string_view function, const CallArguments&)>
        call;
    /// All variable and function names, for "did you mean".
    std::function<std::vector<std::string>()> known;
    /// What to do about a variable that is not there, in place of that; empty: nothing is known.
    std::function<std::string(std::string_view name)> advice{};
};

/// A parsed expression; cheap to evaluate more than once.
class Expression {
public:
    /// Errors say what is wrong; the caller adds the place in the file.
    static Result<Expression> parse(std::string_view text);
    Result<Value> evaluate(const Names& names) const;

    struct Tree;

private:
    explicit Expression(std::shared_ptr<const Tree> tree) : tree_(std::move(tree)) {}
    std::shared_ptr<const Tree> tree_;
};

Result<Value> evaluate_expression(std::string_view text, const Names& names);

/// `text` with every `${{ expression }}` replaced. A text that is one expression and nothing else
/// keeps the type of its value; anything else becomes a text.
Result<Value> evaluate_template(std::string_view text, const Names& names);

/// True when `text` holds `${{`.
bool is_template(std::string_view text);

/// Applies one filter: `value | name(arguments)`. In filters.cpp.
Result<Value> apply_filter(std::string_view name,
                           const Value& value,
                           const CallArguments& arguments);

/// What `value is name(arguments)` says; no value stands for an undefined one. In
/// expression_tests.cpp.
Result<bool> apply_test(std::string_view name,
                        const std::optional<Value>& value,
                        const CallArguments& arguments);

/// `left symbol right` of two values: == != < <= > >= in "not in".
Result<Value> compare_values(std::string_view symbol, const Value& left, const Value& right);

}  // namespace gpkg
