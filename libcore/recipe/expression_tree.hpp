#pragma once

// The parsed form of an expression, shared by its parser and its evaluator only.

#include "libcore/recipe/expression.hpp"

namespace gpkg {

struct Expression::Tree {
    enum class Op {
        Literal,
        Variable,
        List,
        Not,
        Negate,
        And,
        Or,
        Compare,     ///< word: == != < <= > >= in "not in"
        Arithmetic,  ///< word: + - * // % ~
        Choice,      ///< parts: value, condition, other value when there is one
        Index,       ///< parts: of what, which
        Slice,       ///< parts: of what, from, to; a literal null for what is left out
        Test,        ///< word: its name; parts: value, then the arguments
        Filter,      ///< word: its name; parts: value, then the arguments
        Call,        ///< word: "compiler" or "env.get"; parts: the arguments
    };

    Op op = Op::Literal;
    Value literal;
    std::string word;
    std::vector<Tree> parts;
    /// For Filter, Test and Call, one per argument: its name, empty for a positional one.
    std::vector<std::string> keywords;
};

Result<Expression::Tree> parse_expression(std::string_view text);

/// The length of the `${{ ... }}` that `text` begins with; braces inside quotes do not close it.
Result<std::size_t> template_length(std::string_view text);

}  // namespace gpkg
