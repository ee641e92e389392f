#include "libcore/recipe/expression_tokens.hpp"

#include "libcore/base/text.hpp"
#include "libcore/recipe/expression_tree.hpp"
#include "libcore/recipe/wrong_internal.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gpkg {
namespace {

using Token = ExpressionToken;

bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_word_start(c) || is_digit(c); }

Result<Token> text_token(std::string_view& rest) {
    const char quote = rest.front();
    std::string text;
    for (std::size_t i = 1; i < rest.size(); ++i) {
        if (rest[i] == quote) {
            rest.remove_prefix(i + 1);
            return Token{Token::Kind::Text, std::move(text)};
        }
        if (rest[i] != '\\' || i + 1 == rest.size()) {
            text += rest[i];
            continue;
        }
        const char escaped = rest[++i];
        text += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
    }
    return wrong(fmt::format("missing closing quote in {}", rest));
}

}  // namespace

Result<std::vector<ExpressionToken>> expression_tokens(std::string_view text) {
    static constexpr std::array<std::string_view, 22> kSymbols = {
        "==", "!=", "<=", ">=", "//", "<", ">", "+", "-", "*", "%",
        "~",  "|",  "(",  ")",  "[",  "]", ",", ".", "=", "/", ":"};
    std::vector<Token> tokens;
    auto rest = text;
    while (!(rest = trim(rest)).empty()) {
        if (rest.front() == '"' || rest.front() == '\'') {
            GPKG_TRY(auto token, text_token(rest));
            tokens.push_back(std::move(token));
            continue;
        }
        std::size_t length = 0;
        auto kind = Token::Kind::Symbol;
        if (is_word_start(rest.front())) {
            kind = Token::Kind::Word;
            while (length < rest.size() && is_word(rest[length])) ++length;
        } else if (is_digit(rest.front())) {
            kind = Token::Kind::Number;
            while (length < rest.size() && is_word(rest[length])) ++length;
        } else {
            const auto symbol = std::find_if(kSymbols.begin(), kSymbols.end(), [&](auto known) {
                return rest.starts_with(known);
            });
            if (symbol == kSymbols.end())
                return wrong(
                    fmt::format("unexpected '{}' in an expression", rest),
                    rest.starts_with('&') || rest.starts_with('!') ? "use and, or, not" : "");
            length = symbol->size();
        }
        tokens.push_back({kind, std::string(rest.substr(0, length))});
        rest.remove_prefix(length);
    }
    tokens.emplace_back();
    return tokens;
}

Result<std::size_t> template_length(std::string_view text) {
    char quote = '\0';
    for (std::size_t i = 3; i < text.size(); ++i) {
        if (quote != '\0') {
            if (text[i] == '\\') {
                ++i;
            } else if (text[i] == quote) {
                quote = '\0';
            }
        } else if (text[i] == '"' || text[i] == '\'') {
            quote = text[i];
        } else if (text.substr(i).starts_with("}}")) {
            return i + 2;
        }
    }
    return wrong(fmt::format("missing closing '}}}}' in '{}'", text));
}

}  // namespace gpkg
