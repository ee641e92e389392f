#include "libcore/base/number.hpp"
#include "libcore/recipe/expression_tokens.hpp"
#include "libcore/recipe/expression_tree.hpp"
#include "libcore/recipe/wrong_internal.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gpkg {
namespace {

using Syntax = Expression::Tree;
using Op = Syntax::Op;

using Token = ExpressionToken;

Syntax literal(Value value) {
    Syntax tree;
    tree.literal = std::move(value);
    return tree;
}

Syntax node(Op op, std::string word, std::vector<Syntax> parts) {
    Syntax tree;
    tree.op = op;
    tree.word = std::move(word);
    tree.parts = std::move(parts);
    return tree;
}

// From loose to tight: if/else, or, and, not, comparisons, + - ~, * // %, unary -, | . [] ().
class Parser {
public:
    explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

    Result<Syntax> whole() {
        if (peek().kind == Token::Kind::End) return wrong("the expression is empty");
        GPKG_TRY(auto tree, choice());
        if (peek().kind != Token::Kind::End) return unexpected();
        return tree;
    }

private:
    static constexpr int kDeepest = 100;

    const Token& peek() const { return tokens_[at_]; }
    bool take(std::string_view symbol) {
        if (!peek().is(symbol)) return false;
        ++at_;
        return true;
    }
    tl::unexpected<Error> unexpected() const {
        if (peek().kind == Token::Kind::End) return wrong("unexpected end of the expression");
        return wrong(fmt::format("unexpected '{}'", peek().text),
                     peek().is("=")   ? "to compare: =="
                     : peek().is("|") ? "use and, or, not"
                                      : "");
    }
    Result<void> need(std::string_view symbol) {
        if (take(symbol)) return {};
        if (peek().kind == Token::Kind::End) return wrong(fmt::format("'{}' is missing", symbol));
        return wrong(fmt::format("expected '{}' before '{}'", symbol, peek().text));
    }

    Result<Syntax> choice() {
        if (++depth_ > kDeepest) return wrong("the expression is nested too deeply");
        GPKG_TRY(auto value, either());
        if (take("if")) {
            GPKG_TRY(auto condition, either());
            std::vector<Syntax> parts{std::move(value), std::move(condition)};
            if (take("else")) {
                GPKG_TRY(auto other, choice());
                parts.push_back(std::move(other));
            }
            value = node(Op::Choice, "if", std::move(parts));
        }
        --depth_;
        return value;
    }

    Result<Syntax> either() {
        GPKG_TRY(auto left, both());
        while (take("or")) {
            GPKG_TRY(auto right, both());
            left = node(Op::Or, "or", {std::move(left), std::move(right)});
        }
        return left;
    }

    Result<Syntax> both() {
        GPKG_TRY(auto left, negation());
        while (take("and")) {
            GPKG_TRY(auto right, negation());
            left = node(Op::And, "and", {std::move(left), std::move(right)});
        }
        return left;
    }

    Result<Syntax> negation() {
        if (!take("not")) return comparison();
        if (++depth_ > kDeepest) return wrong("the expression is nested too deeply");
        GPKG_TRY(auto value, negation());
        --depth_;
        return node(Op::Not, "not", {std::move(value)});
    }

    Result<Syntax> comparison() {
        GPKG_TRY(auto left, sum());
        for (;;) {
            if (take("is")) {
                GPKG_TRY(left, test(std::move(left)));
                continue;
            }
            std::string word = peek().text;
            if (peek().is("not") && tokens_[at_ + 1].is("in")) {
                word = "not in";
                ++at_;
            } else if (!one_of({"==", "!=", "<", "<=", ">", ">=", "in"})) {
                return left;
            }
            ++at_;
            GPKG_TRY(auto right, sum());
            left = node(Op::Compare, word, {std::move(left), std::move(right)});
        }
    }

    /// What follows `is`: "defined", "not none", "startingwith('3.')", "divisibleby 3".
    Result<Syntax> test(Syntax value) {
        const bool negated = take("not");
        if (peek().kind != Token::Kind::Word) return unexpected();
        auto name = tokens_[at_++].text;
        auto tree = node(Op::Test, std::move(name), {std::move(value)});
        const auto kind = peek().kind;
        if (take("(")) {
            GPKG_CHECK(arguments(tree));
        } else if (kind == Token::Kind::Text || kind == Token::Kind::Number) {
            GPKG_TRY(auto argument, primary());
            tree.parts.push_back(std::move(argument));
            tree.keywords.emplace_back();
        }
        return negated ? node(Op::Not, "not", {std::move(tree)}) : std::move(tree);
    }

    Result<Syntax> sum() {
        GPKG_TRY(auto left, product());
        while (one_of({"+", "-", "~"})) {
            auto word = tokens_[at_++].text;
            GPKG_TRY(auto right, product());
            left = node(Op::Arithmetic, std::move(word), {std::move(left), std::move(right)});
        }
        return left;
    }

    Result<Syntax> product() {
        GPKG_TRY(auto left, signed_value());
        while (one_of({"*", "//", "%"})) {
            auto word = tokens_[at_++].text;
            GPKG_TRY(auto right, signed_value());
            left = node(Op::Arithmetic, std::move(word), {std::move(left), std::move(right)});
        }
        return left;
    }

    Result<Syntax> signed_value() {
        if (!take("-")) return postfix();
        if (++depth_ > kDeepest) return wrong("the expression is nested too deeply");
        GPKG_TRY(auto value, signed_value());
        --depth_;
        return node(Op::Negate, "-", {std::move(value)});
    }

    Result<Syntax> postfix() {
        GPKG_TRY(auto value, primary());
        for (;;) {
            if (take("|")) {
                if (peek().kind != Token::Kind::Word) return unexpected();
                auto name = tokens_[at_++].text;
                value = node(Op::Filter, std::move(name), {std::move(value)});
                if (take("(")) GPKG_CHECK(arguments(value));
            } else if (take("[")) {
                GPKG_TRY(value, element(std::move(value)));
            } else if (peek().is(".") && tokens_[at_ + 1].kind == Token::Kind::Word) {
                ++at_;
                GPKG_TRY(value, method(std::move(value)));
            } else {
                return value;
            }
        }
    }

    /// What follows `.`: "split('.')". Methods of texts, as Python has them, are not in CEP 39, but
    /// rattler-build knows them and recipes use them; each is a filter or a test.
    Result<Syntax> method(Syntax of) {
        struct Method {
            std::string_view name;
            Op op;
            std::string_view word;
        };
        static constexpr std::array<Method, 7> kMethods = {
            Method{"split", Op::Filter, "split"},
            Method{"replace", Op::Filter, "replace"},
            Method{"lower", Op::Filter, "lower"},
            Method{"upper", Op::Filter, "upper"},
            Method{"strip", Op::Filter, "trim"},
            Method{"startswith", Op::Test, "startingwith"},
            Method{"endswith", Op::Test, "endingwith"}};
        const auto name = tokens_[at_++].text;
        if (of.op == Op::Variable && !peek().is("("))
            return wrong(fmt::format("unknown variable '{}.{}'", of.word, name));
        const auto* const known = std::find_if(
            kMethods.begin(), kMethods.end(), [&](const auto& one) { return one.name == name; });
        if (known == kMethods.end() || !take("("))
            return fail(ErrorKind::Parse,
                        fmt::format("strings have no method '{}'", name),
                        "use split(), replace(), lower(), upper(), strip(), startswith() or "
                        "endswith()");
        auto tree = node(known->op, std::string(known->word), {std::move(of)});
        GPKG_CHECK(arguments(tree));
        return tree;
    }

    /// What follows `[`: "0]", ":2]", "1:-1]".
    Result<Syntax> element(Syntax of) {
        auto from = literal(Value());
        const bool is_open = peek().is(":");
        if (!is_open) {
            GPKG_TRY(from, choice());
        }
        if (!take(":")) {
            GPKG_CHECK(need("]"));
            return node(Op::Index, "[]", {std::move(of), std::move(from)});
        }
        auto to = literal(Value());
        if (!peek().is("]")) {
            GPKG_TRY(to, choice());
        }
        GPKG_CHECK(need("]"));
        return node(Op::Slice, "[:]", {std::move(of), std::move(from), std::move(to)});
    }

    Result<Syntax> primary() {
        const Token token = peek();
        switch (token.kind) {
        case Token::Kind::Text: ++at_; return literal(Value(token.text));
        case Token::Kind::Number: ++at_; return number(token.text);
        case Token::Kind::Word: return word();
        default: break;
        }
        if (take("(")) {
            GPKG_TRY(auto inner, choice());
            GPKG_CHECK(need(")"));
            return inner;
        }
        if (take("[")) {
            auto list = node(Op::List, "[]", {});
            while (!take("]")) {
                GPKG_TRY(auto item, choice());
                list.parts.push_back(std::move(item));
                if (!peek().is("]")) GPKG_CHECK(need(","));
            }
            return list;
        }
        return unexpected();
    }

    static Result<Syntax> number(const std::string& text) {
        const auto value = whole_number<long long>(text);
        if (!value) return wrong(fmt::format("'{}' is not a whole number", text));
        return literal(Value(*value));
    }

    Result<Syntax> word() {
        static constexpr std::array<std::string_view, 8> kReserved = {
            "if", "else", "and", "or", "not", "in", "is", "for"};
        auto name = peek().text;
        if (std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end())
            return unexpected();
        ++at_;
        if (name == "true" || name == "True") return literal(Value(true));
        if (name == "false" || name == "False") return literal(Value(false));
        if (name == "none" || name == "None") return literal(Value());
        // env.get() is the name of a function, as in a conda_build_config.yaml environ.get() and
        // os.environ.get() are.
        const bool is_module = name == "env" || name == "environ" || name == "os";
        while (is_module && take(".")) {
            if (peek().kind != Token::Kind::Word) return unexpected();
            name += "." + tokens_[at_++].text;
            if (!peek().is("(") && !peek().is("."))
                return wrong(fmt::format("unknown variable '{}'", name));
        }
        if (!take("(")) return node(Op::Variable, std::move(name), {});
        auto call = node(Op::Call, std::move(name), {});
        GPKG_CHECK(arguments(call));
        return call;
    }

    Result<void> arguments(Syntax& call) {
        while (!take(")")) {
            std::string keyword;
            if (peek().kind == Token::Kind::Word && tokens_[at_ + 1].is("=")) {
                keyword = peek().text;
                at_ += 2;
            } else if (!call.keywords.empty() && !call.keywords.back().empty()) {
                return wrong("a positional argument follows a named one");
            }
            GPKG_TRY(auto value, choice());
            call.parts.push_back(std::move(value));
            call.keywords.push_back(std::move(keyword));
            if (!peek().is(")")) GPKG_CHECK(need(","));
        }
        return {};
    }

    bool one_of(std::initializer_list<std::string_view> symbols) const {
        return std::any_of(
            symbols.begin(), symbols.end(), [&](auto symbol) { return peek().is(symbol); });
    }

    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

Result<Expression::Tree> parse_expression(std::string_view text) {
    GPKG_TRY(auto tokens, expression_tokens(text));
    return Parser(std::move(tokens)).whole();
}

}  // namespace gpkg
