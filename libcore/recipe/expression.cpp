#include "libcore/recipe/expression.hpp"

#include "libcore/base/text.hpp"
#include "libcore/recipe/expression_tree.hpp"
#include "libcore/recipe/wrong_internal.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

using Syntax = Expression::Tree;
using Op = Syntax::Op;

/// The number that a value is where it is computed with: of a truth value 0 or 1, as in Python.
std::optional<long long> number_of(const Value& value) {
    if (const auto* flag = value.flag()) return *flag ? 1 : 0;
    const auto* number = value.number();
    return number == nullptr ? std::nullopt : std::optional(*number);
}

Result<Value> arithmetic(std::string_view symbol, const Value& left, const Value& right) {
    if (symbol == "~") return Value(left.to_text() + right.to_text());
    if (symbol == "+" && left.text() != nullptr && right.text() != nullptr)
        return Value(*left.text() + *right.text());
    if (symbol == "+" && left.list() != nullptr && right.list() != nullptr) {
        auto joined = *left.list();
        joined.insert(joined.end(), right.list()->begin(), right.list()->end());
        return Value(std::move(joined));
    }
    const auto a = number_of(left);
    const auto b = number_of(right);
    if (!a || !b)
        return wrong(
            fmt::format("cannot compute {} {} {}", left.kind_name(), symbol, right.kind_name()));
    long long result = 0;
    bool overflow = false;
    if (symbol == "+") overflow = __builtin_add_overflow(*a, *b, &result);
    if (symbol == "-") overflow = __builtin_sub_overflow(*a, *b, &result);
    if (symbol == "*") overflow = __builtin_mul_overflow(*a, *b, &result);
    if (symbol == "//" || symbol == "%") {
        if (*b == 0) return wrong("division by zero");
        overflow = *b == -1 && __builtin_sub_overflow(0LL, *a, &result);
        // As in Python the quotient is rounded down and the remainder has the divisor's sign.
        if (*b != -1) {
            const bool down = *a % *b != 0 && (*a < 0) != (*b < 0);
            result = symbol == "//" ? *a / *b - (down ? 1 : 0) : *a % *b + (down ? *b : 0);
        } else if (symbol == "%") {
            result = 0;
        }
    }
    if (overflow) return wrong("the number is too large");
    return Value(result);
}

Result<Value> element(const Value& of, const Value& index) {
    const auto* number = index.number();
    if (number == nullptr) return wrong(fmt::format("cannot index with {}", index.kind_name()));
    const auto pick = [&](std::size_t size) -> std::optional<std::size_t> {
        const auto at = *number < 0 ? *number + static_cast<long long>(size) : *number;
        if (at < 0 || at >= static_cast<long long>(size)) return std::nullopt;
        return static_cast<std::size_t>(at);
    };
    if (const auto* list = of.list()) {
        if (const auto at = pick(list->size())) return (*list)[*at];
        return wrong(fmt::format("list index {} is out of range", *number));
    }
    if (const auto* text = of.text()) {
        if (const auto at = pick(text->size())) return Value(std::string(1, (*text)[*at]));
        return wrong(fmt::format("string index {} is out of range", *number));
    }
    return wrong(fmt::format("cannot index {}", of.kind_name()));
}

/// The part from `from` to before `to`; both count from the end where they are negative, and stop
/// at the ends, as in Python.
Result<Value> slice(const Value& of, const Value& from, const Value& to) {
    for (const auto* bound : {&from, &to}) {
        if (!bound->is_null() && bound->number() == nullptr)
            return wrong(fmt::format("cannot slice with {}", bound->kind_name()));
    }
    const auto place = [](const Value& bound, std::size_t size, std::size_t open) {
        if (bound.is_null()) return open;
        const auto length = static_cast<long long>(size);
        const auto at = *bound.number() < 0 ? *bound.number() + length : *bound.number();
        return static_cast<std::size_t>(std::clamp(at, 0LL, length));
    };
    const auto range = [&](std::size_t size) {
        const auto begin = place(from, size, 0);
        return std::pair(begin, std::max(begin, place(to, size, size)));
    };
    if (const auto* text = of.text()) {
        const auto [begin, end] = range(text->size());
        return Value(text->substr(begin, end - begin));
    }
    if (const auto* list = of.list()) {
        const auto [begin, end] = range(list->size());
        return Value(Value::List(list->begin() + static_cast<std::ptrdiff_t>(begin),
                                 list->begin() + static_cast<std::ptrdiff_t>(end)));
    }
    return wrong(fmt::format("cannot slice {}", of.kind_name()));
}

class Evaluator {
public:
    explicit Evaluator(const Names& names) : names_(names) {}

    Result<Value> run(const Syntax& tree) const {
        switch (tree.op) {
        case Op::Literal: return tree.literal;
        case Op::Variable: return variable(tree);
        case Op::List: return list(tree);
        case Op::Not: {
            GPKG_TRY(const auto value, run(tree.parts[0]));
            return Value(!value.truthy());
        }
        case Op::Negate: {
            GPKG_TRY(const auto value, run(tree.parts[0]));
            return arithmetic("-", Value(0LL), value);
        }
        case Op::And:
        case Op::Or: {
            GPKG_TRY(auto left, run(tree.parts[0]));
            if (left.truthy() == (tree.op == Op::Or)) return left;
            return run(tree.parts[1]);
        }
        case Op::Compare:
        case Op::Arithmetic: {
            GPKG_TRY(const auto left, run(tree.parts[0]));
            GPKG_TRY(const auto right, run(tree.parts[1]));
            return tree.op == Op::Compare ? compare_values(tree.word, left, right)
                                          : arithmetic(tree.word, left, right);
        }
        case Op::Choice: {
            GPKG_TRY(const auto condition, run(tree.parts[1]));
            if (condition.truthy()) return run(tree.parts[0]);
            if (tree.parts.size() > 2) return run(tree.parts[2]);
            return Value();
        }
        case Op::Index: {
            GPKG_TRY(const auto of, run(tree.parts[0]));
            GPKG_TRY(const auto index, run(tree.parts[1]));
            return element(of, index);
        }
        case Op::Slice: {
            GPKG_TRY(const auto of, run(tree.parts[0]));
            GPKG_TRY(const auto from, run(tree.parts[1]));
            GPKG_TRY(const auto to, run(tree.parts[2]));
            return slice(of, from, to);
        }
        case Op::Test: {
            GPKG_TRY(const auto value, tested(tree));
            GPKG_TRY(const auto passed, arguments(tree, 1));
            GPKG_TRY(const bool holds, apply_test(tree.word, value, passed));
            return Value(holds);
        }
        case Op::Filter: {
            GPKG_TRY(const auto value, filtered(tree));
            GPKG_TRY(const auto passed, arguments(tree, 1));
            return apply_filter(tree.word, value, passed);
        }
        case Op::Call: return call(tree);
        }
        return Value();
    }

private:
    Result<Value> variable(const Syntax& tree) const {
        GPKG_TRY(auto found, names_.variable(tree.word));
        if (found) return *std::move(found);
        auto advice = names_.advice ? names_.advice(tree.word) : std::string();
        if (advice.empty()) advice = near(tree.word);
        return wrong(fmt::format("'{}' is not defined", tree.word), std::move(advice));
    }

    // `x is defined` may ask of a name that is not.
    Result<std::optional<Value>> tested(const Syntax& tree) const {
        const auto& inner = tree.parts[0];
        const bool may_lack = tree.word == "defined" || tree.word == "undefined";
        if (may_lack && inner.op == Op::Variable) return names_.variable(inner.word);
        GPKG_TRY(auto value, run(inner));
        return std::optional(std::move(value));
    }

    // `x | default("y")` gives an undefined name a value.
    Result<Value> filtered(const Syntax& tree) const {
        const auto& inner = tree.parts[0];
        if (tree.word != "default" || inner.op != Op::Variable) return run(inner);
        GPKG_TRY(auto found, names_.variable(inner.word));
        return found ? *std::move(found) : Value();
    }

    Result<Value> list(const Syntax& tree) const {
        Value::List values;
        for (const auto& part : tree.parts) {
            GPKG_TRY(auto value, run(part));
            values.push_back(std::move(value));
        }
        return Value(std::move(values));
    }

    /// compiler(c) was meant as compiler("c").
    static Error with_quotes(Error error, const Syntax& argument) {
        if (argument.op == Op::Variable && error.hint.empty())
            error.hint = fmt::format("text needs quotes: \"{}\"", argument.word);
        return error;
    }

    Result<CallArguments> arguments(const Syntax& tree, std::size_t first) const {
        CallArguments passed;
        for (std::size_t i = first; i < tree.parts.size(); ++i) {
            auto evaluated = run(tree.parts[i]);
            if (!evaluated) return pass(with_quotes(std::move(evaluated).error(), tree.parts[i]));
            auto value = *std::move(evaluated);
            const auto& name = tree.keywords[i - first];
            if (name.empty()) {
                passed.positional.push_back(std::move(value));
            } else {
                passed.named.emplace_back(name, std::move(value));
            }
        }
        return passed;
    }

    Result<Value> call(const Syntax& tree) const {
        GPKG_TRY(const auto passed, arguments(tree, 0));
        GPKG_TRY(auto result, names_.call(tree.word, passed));
        if (result) return *std::move(result);
        return wrong(fmt::format("unknown function '{}'", tree.word), near(tree.word));
    }

    std::string near(const std::string& word) const {
        const auto names = near_names(word, names_.known());
        return did_you_mean(names);
    }

    const Names& names_;
};

}  // namespace

const Value* CallArguments::find(std::string_view name) const {
    const auto found = std::find_if(
        named.begin(), named.end(), [&](const auto& entry) { return entry.first == name; });
    return found == named.end() ? nullptr : &found->second;
}

Result<Expression> Expression::parse(std::string_view text) {
    GPKG_TRY(auto tree, parse_expression(text));
    return Expression(std::make_shared<const Syntax>(std::move(tree)));
}

Result<Value> Expression::evaluate(const Names& names) const {
    return Evaluator(names).run(*tree_);
}

Result<Value> evaluate_expression(std::string_view text, const Names& names) {
    GPKG_TRY(const auto expression, Expression::parse(text));
    return expression.evaluate(names);
}

bool is_template(std::string_view text) { return text.find("${{") != std::string_view::npos; }

Result<Value> evaluate_template(std::string_view text, const Names& names) {
    std::string out;
    for (auto rest = text; !rest.empty();) {
        const auto start = rest.find("${{");
        out += rest.substr(0, start);
        if (start == std::string_view::npos) break;
        GPKG_TRY(const auto length, template_length(rest.substr(start)));
        const auto inner = rest.substr(start + 3, length - 5);
        auto value = evaluate_expression(inner, names);
        if (!value) {
            auto error = std::move(value).error();
            error.message = fmt::format("in '${{{{{}}}}}': {}", inner, error.message);
            return pass(std::move(error));
        }
        if (start == 0 && length == text.size()) return value;
        out += value->to_text();
        rest.remove_prefix(start + length);
    }
    return Value(std::move(out));
}

}  // namespace gpkg
