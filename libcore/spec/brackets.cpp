#include "libcore/spec/brackets.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::grammar {
namespace {

bool is_key_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

class BracketReader {
public:
    BracketReader(std::string_view text, std::size_t begin)
        : text_(text), open_(begin), at_(begin + 1) {}

    Parsed<Brackets> read() {
        Brackets brackets;
        skip_spaces();
        if (peek() == ']') return fault(open_, "the brackets are empty");
        for (;;) {
            auto entry = read_entry();
            if (!entry) return tl::unexpected<Fault>(std::move(entry).error());
            brackets.entries.push_back(*std::move(entry));
            const auto gap = at_;
            skip_spaces();
            if (at_end()) return fault(open_, "this '[' is never closed");
            if (peek() == ']') break;
            if (peek() == ',')
                ++at_;
            else if (gap == at_)
                return fault(
                    at_, fmt::format("unexpected {} after a value", shown(peek())), kQuoteHint);
            skip_spaces();
            if (peek() == ']') break;  // after a comma: conda reads it
        }
        brackets.end = at_ + 1;
        return brackets;
    }

private:
    static constexpr auto kQuoteHint = "quote values that contain a space, ',', '=', '[' or ']'";

    bool at_end() const { return at_ >= text_.size(); }
    char peek() const { return at_end() ? '\0' : text_[at_]; }
    void skip_spaces() { at_ = std::min(text_.find_first_not_of(" \t", at_), text_.size()); }

    Parsed<BracketEntry> read_entry() {
        BracketEntry entry;
        entry.key_at = at_;
        while (is_key_char(peek())) entry.key += text_[at_++];
        if (at_end()) return fault(open_, "this '[' is never closed");
        if (entry.key.empty() && (peek() == ']' || peek() == ','))
            return fault(at_, fmt::format("a key is missing before '{}'", peek()));
        if (entry.key.empty())
            return fault(at_, fmt::format("a key is expected, not {}", shown(peek())), kQuoteHint);
        const auto key_end = at_;
        skip_spaces();
        if (peek() != '=') {
            if (std::string_view("<>!~").find(peek()) != std::string_view::npos)
                return fault(at_,
                             fmt::format("'=' must follow '{}'", entry.key),
                             fmt::format("write {}='...' around the condition", entry.key));
            return fault(key_end,
                         fmt::format("'{}' has no value", entry.key),
                         "write key=value, or several values as key=[one,other]");
        }
        ++at_;
        skip_spaces();
        if (peek() == '[') return read_list(std::move(entry));
        auto value = read_value(" \t,]");
        if (!value) return tl::unexpected<Fault>(std::move(value).error());
        if (value->text.empty())
            return fault(value->at, fmt::format("'{}' has an empty value", entry.key));
        entry.values.push_back(*std::move(value));
        return entry;
    }

    /// A YAML flow sequence of strings on one line; a comma may follow the last (CEP 44).
    Parsed<BracketEntry> read_list(BracketEntry entry) {
        entry.is_list = true;
        const auto open = at_++;
        for (;;) {
            skip_spaces();
            if (at_end()) return fault(open, "this '[' is never closed");
            if (peek() == ']' || peek() == ',')
                return fault(at_, fmt::format("a value is missing before '{}'", peek()));
            auto value = read_value(",]");
            if (!value) return tl::unexpected<Fault>(std::move(value).error());
            while (!value->text.empty() && value->text.back() == ' ') value->text.pop_back();
            entry.values.push_back(*std::move(value));
            skip_spaces();
            if (at_end()) return fault(open, "this '[' is never closed");
            const char c = text_[at_++];
            if (c == ']') return entry;
            if (c != ',') return fault(at_ - 1, "',' is missing between values");
            skip_spaces();
            if (peek() == ']') {
                ++at_;
                return entry;
            }
        }
    }

    Parsed<BracketValue> read_value(std::string_view stops) {
        if (peek() == '\'' || peek() == '"') return read_quoted();
        BracketValue value{{}, at_};
        while (!at_end() && stops.find(peek()) == std::string_view::npos) {
            if (peek() == '[' || peek() == '\'' || peek() == '"')
                return fault(at_,
                             fmt::format("'{}' is not allowed in a value without quotes", peek()),
                             kQuoteHint);
            value.text += text_[at_++];
        }
        return value;
    }

    /// `\` protects the quote and itself; before anything else it stands for itself, as regular
    /// expressions need it.
    Parsed<BracketValue> read_quoted() {
        const auto open = at_;
        const char quote = text_[at_++];
        BracketValue value{{}, at_};
        for (; !at_end() && peek() != quote; ++at_) {
            if (peek() == '\\' && at_ + 1 < text_.size() &&
                (text_[at_ + 1] == quote || text_[at_ + 1] == '\\')) {
                value.escapes.push_back(value.text.size());
                ++at_;
            }
            value.text += peek();
        }
        if (at_end()) return fault(open, "this quote is never closed");
        ++at_;
        return value;
    }

    std::string_view text_;
    std::size_t open_;
    std::size_t at_;
};

}  // namespace

std::size_t BracketValue::place(std::size_t offset) const {
    const auto dropped = std::upper_bound(escapes.begin(), escapes.end(), offset);
    return at + offset + static_cast<std::size_t>(dropped - escapes.begin());
}

Parsed<Brackets> read_brackets(std::string_view text, std::size_t begin) {
    return BracketReader(text, begin).read();
}

std::string quoted_value(std::string_view value) {
    const bool has_single = value.find('\'') != std::string_view::npos;
    const bool has_double = value.find('"') != std::string_view::npos;
    const char quote = has_single && !has_double ? '"' : '\'';
    std::string out(1, quote);
    for (std::size_t i = 0; i < value.size(); ++i) {
        const bool ends = i + 1 == value.size();
        // A lone backslash before an ordinary character needs no protection.
        const bool ambiguous =
            value[i] == '\\' && (ends || value[i + 1] == '\\' || value[i + 1] == quote);
        if (value[i] == quote || ambiguous) out += '\\';
        out += value[i];
    }
    out += quote;
    return out;
}

}  // namespace gpkg::grammar
