#pragma once

// How one text field of a record is compared (CEP 29): equal, a glob with `*`, or a regular
// expression from `^` to `$`, all without regard to ASCII case.

#include "libcore/base/error.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace gpkg {

class StringMatcher;

namespace grammar {
struct Fault;
tl::expected<StringMatcher, Fault> read_matcher(std::string_view text);
tl::expected<StringMatcher, Fault> read_regex(std::string_view text);
}  // namespace grammar

/// True where the texts are equal but for ASCII case.
bool equal_ignoring_case(std::string_view a, std::string_view b);

/// `*` stands for any run of characters, also for none; ASCII case does not matter.
bool glob_matches(std::string_view pattern, std::string_view value);

class StringMatcher {
public:
    /// Patterns longer than this are refused.
    static constexpr std::size_t kLongest = 1024;

    /// A malformed regular expression is refused, as are look-around and back-references.
    static Result<StringMatcher> parse(std::string_view text);
    /// Compares as plain text, whatever `text` looks like.
    static StringMatcher exactly(std::string_view text);

    /// Takes time linear in the value, also for regular expressions.
    bool matches(std::string_view value) const;

    /// The text as given, in lower case unless it is a regex.
    const std::string& text() const { return text_; }
    bool is_exact() const { return kind_ == Kind::Exact; }
    bool is_glob() const { return kind_ == Kind::Glob || kind_ == Kind::Any; }
    bool is_regex() const { return kind_ == Kind::Regex; }
    /// The text is `*`: everything matches, also an empty text.
    bool is_any() const { return kind_ == Kind::Any; }

    friend bool operator==(const StringMatcher& a, const StringMatcher& b) {
        return a.kind_ == b.kind_ && a.text_ == b.text_;
    }

private:
    friend tl::expected<StringMatcher, grammar::Fault> grammar::read_matcher(std::string_view text);
    friend tl::expected<StringMatcher, grammar::Fault> grammar::read_regex(std::string_view text);

    enum class Kind { Exact, Any, Glob, Regex };

    StringMatcher(Kind kind, std::string text) : kind_(kind), text_(std::move(text)) {}

    Kind kind_;
    std::string text_;
    std::shared_ptr<const re2::RE2> regex_;  ///< set for Kind::Regex
};

}  // namespace gpkg
