#pragma once

// The words of an expression, shared by its tokenizer and its parser only.

#include "libcore/base/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct ExpressionToken {
    enum class Kind { End, Word, Number, Text, Symbol };
    Kind kind = Kind::End;
    std::string text;

    bool is(std::string_view symbol) const {
        return (kind == Kind::Symbol || kind == Kind::Word) && text == symbol;
    }
};

/// Ends with one token of Kind::End.
Result<std::vector<ExpressionToken>> expression_tokens(std::string_view text);

}  // namespace gpkg
