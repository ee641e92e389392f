#include "libcore/spec/string_matcher.hpp"

#include "libcore/base/text.hpp"
#include "libcore/spec/string_matcher_internal.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

namespace gpkg {
namespace {

// Small enough that "(a{1000}){1000}" is refused instead of built.
constexpr std::int64_t kRegexMemory = 1 << 20;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

RE2::Options regex_options() {
    RE2::Options options(RE2::Quiet);
    options.set_case_sensitive(false);
    options.set_encoding(RE2::Options::EncodingLatin1);
    options.set_max_mem(kRegexMemory);
    return options;
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i] && lower(a[i]) != lower(b[i])) return false;
    return true;
}

bool glob_matches(std::string_view pattern, std::string_view value) {
    // On a mismatch only the last star has to take one character more: earlier stars took as few
    // as possible, which leaves the most for what follows.
    std::size_t p = 0;
    std::size_t v = 0;
    std::size_t star = std::string_view::npos;
    std::size_t taken_to = 0;
    while (v < value.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            taken_to = v;
        } else if (p < pattern.size() && lower(pattern[p]) == lower(value[v])) {
            ++p;
            ++v;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            v = ++taken_to;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

namespace grammar {

Parsed<StringMatcher> read_matcher(std::string_view text) {
    const bool is_glob = text.find('*') != std::string_view::npos;
    if (text.size() > StringMatcher::kLongest && (is_glob || text.front() == '^'))
        return fault(StringMatcher::kLongest,
                     fmt::format("a pattern has at most {} characters", StringMatcher::kLongest));
    if (!text.empty() && text.front() == '^') return read_regex(text);
    if (!text.empty() && text.back() == '$')
        return fault(0, "a regular expression starts with '^'");
    if (text == "*") return StringMatcher(StringMatcher::Kind::Any, "*");
    return StringMatcher(is_glob ? StringMatcher::Kind::Glob : StringMatcher::Kind::Exact,
                         to_lower(text));
}

Parsed<StringMatcher> read_regex(std::string_view text) {
    if (text.size() < 2 || text.back() != '$')
        return fault(text.size() - 1, "a regular expression ends with '$'");
    auto regex = std::make_shared<RE2>(piece(text), regex_options());
    if (!regex->ok()) {
        // RE2 quotes the culprit; where it has none the whole pattern is meant.
        const std::string& culprit = regex->error_arg();
        const auto found = culprit.empty() ? 0 : text.find(culprit);
        return fault(found == std::string_view::npos ? 0 : found,
                     "not a regular expression: " + regex->error());
    }
    StringMatcher matcher(StringMatcher::Kind::Regex, std::string(text));
    matcher.regex_ = std::move(regex);
    return matcher;
}

}  // namespace grammar

Result<StringMatcher> StringMatcher::parse(std::string_view text) {
    auto matcher = grammar::read_matcher(text);
    if (!matcher) return grammar::refuse(text, matcher.error());
    return *std::move(matcher);
}

StringMatcher StringMatcher::exactly(std::string_view text) {
    return {Kind::Exact, to_lower(text)};
}

bool StringMatcher::matches(std::string_view value) const {
    switch (kind_) {
    case Kind::Any: return true;
    case Kind::Exact: return equal_ignoring_case(text_, value);
    case Kind::Glob: return glob_matches(text_, value);
    case Kind::Regex: return RE2::PartialMatch(piece(value), *regex_);
    }
    return false;
}

}  // namespace gpkg
