#include "libcore/spec/condition.hpp"

#include "libcore/spec/condition_internal.hpp"
#include "libcore/spec/match_spec_internal.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gpkg {
namespace grammar {
namespace {

using Kind = Condition::Kind;

struct Meant {
    std::string_view wrong, right;
};
/// What other languages write.
constexpr std::array<Meant, 8> kMeant{{{"AND", "and"},
                                       {"OR", "or"},
                                       {"And", "and"},
                                       {"Or", "or"},
                                       {"&&", "and"},
                                       {"||", "or"},
                                       {"&", "and"},
                                       {"|", "or"}}};

class ConditionReader {
public:
    explicit ConditionReader(std::string_view text) : text_(text) {}

    Parsed<Condition> read() {
        if (text_.size() > MatchSpec::kLongest)
            return fault(MatchSpec::kLongest,
                         fmt::format("a condition has at most {} characters", MatchSpec::kLongest));
        if (text_.find_first_not_of(' ') == std::string_view::npos)
            return fault(0, "the condition is empty");
        auto condition = read_list(Kind::Or, 0);
        if (condition && at_ < text_.size()) return fault(at_, "unmatched ')'");
        return condition;
    }

private:
    void skip_spaces() { at_ = std::min(text_.find_first_not_of(' ', at_), text_.size()); }
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    /// The run of characters at this place that no space or parenthesis interrupts.
    std::string_view word() const {
        return text_.substr(at_, std::min(text_.find_first_of(" ()", at_), text_.size()) - at_);
    }

    Parsed<Condition> read_list(Kind kind, int depth) {
        Condition list;
        list.kind = kind;
        for (;;) {
            auto part = kind == Kind::Or ? read_list(Kind::And, depth) : read_atom(depth);
            if (!part) return part;
            if (part->kind == kind)
                std::move(part->parts.begin(), part->parts.end(), std::back_inserter(list.parts));
            else
                list.parts.push_back(*std::move(part));
            skip_spaces();
            if (word() != (kind == Kind::Or ? "or" : "and")) break;
            at_ += word().size();
        }
        if (list.parts.size() > 1) return list;
        Condition only = std::move(list.parts.front());
        return only;
    }

    Parsed<Condition> read_atom(int depth) {
        skip_spaces();
        if (peek() != '(') return read_leaf();
        if (depth >= Condition::kDeepest) return fault(at_, "parentheses are nested too deeply");
        const auto open = at_++;
        auto inner = read_list(Kind::Or, depth + 1);
        if (!inner) return inner;
        if (peek() != ')') return fault(open, "this '(' is never closed");
        ++at_;
        if (auto fine = check_next(); !fine) return tl::unexpected<Fault>(std::move(fine).error());
        return inner;
    }

    Parsed<Condition> read_leaf() {
        if (at_ == text_.size()) return fault(at_, "a spec is missing at the end");
        if (word().empty() || word() == "and" || word() == "or")
            return fault(at_,
                         fmt::format("a spec is missing before '{}'",
                                     word().empty() ? text_.substr(at_, 1) : word()));
        for (const auto& [wrong, right] : kMeant)
            if (word() == wrong)
                return fault(at_, "a spec is missing here", fmt::format("write {}", right));
        if (peek() == '!') return fault(at_, "a condition cannot be negated");
        const auto begin = at_;
        at_ = leaf_end();
        auto leaf = read_match_spec(text_.substr(begin, at_ - begin), WhenKey::Refused);
        if (!leaf) return moved(std::move(leaf).error(), begin);
        // "And#": alone it could not be told from what joins conditions.
        if (leaf->name == "and" || leaf->name == "or")
            return fault(begin,
                         fmt::format("'{}' is not allowed as a name in a condition", leaf->name));
        if (auto fine = check_next(); !fine) {
            if (text_.substr(begin).starts_with("not "))
                return fault(begin, "a condition cannot be negated");
            return tl::unexpected<Fault>(std::move(fine).error());
        }
        Condition condition;
        condition.spec = *std::move(leaf);
        return condition;
    }

    /// Where the run of characters from `i` ends: at a space or parenthesis outside of brackets,
    /// quotes and regexes.
    std::size_t run_end(std::size_t i) const {
        int brackets = 0;
        char quote = '\0';
        for (; i < text_.size(); ++i) {
            const char c = text_[i];
            if (c == '\\' && (quote != '\0' || brackets > 0)) {
                ++i;
            } else if (quote != '\0') {
                if (c == quote) quote = '\0';
            } else if (brackets > 0 && (c == '\'' || c == '"')) {
                quote = c;
            } else if (brackets == 0 && c == '^') {
                i = regex_end(text_, i) - 1;
            } else if (c == '[') {
                ++brackets;
            } else if (c == ']') {
                --brackets;
            } else if (brackets <= 0 && (c == ' ' || c == '(' || c == ')')) {
                break;
            }
        }
        return std::min(i, text_.size());
    }

    /// A leaf is a name, then a version, then a build. CEP 43 has no space between name and
    /// version; conda and rattler read some, also within the version.
    std::size_t leaf_end() const {
        constexpr std::string_view kReachesOver = "=<>!~,|";
        const auto is_one_of = [](char c, std::string_view set) { return set.find(c) != set.npos; };
        auto end = run_end(at_);
        for (bool has_version = false;; has_version = true) {
            const auto next = std::min(text_.find_first_not_of(' ', end), text_.size());
            const auto next_end = run_end(next);
            const auto word = text_.substr(next, next_end - next);
            if (next == end || word.empty() || joins(word)) return end;
            const bool is_reached =
                is_one_of(text_[end - 1], kReachesOver) || is_one_of(word.front(), kReachesOver);
            if (!is_reached && has_version) return word.front() == '[' ? end : next_end;
            // Else "and" is missing: "numpy scipy".
            if (!is_reached && !is_one_of(word.front(), "[*0123456789")) return end;
            end = next_end;
        }
    }

    static bool joins(std::string_view word) {
        return word == "and" || word == "or" ||
               std::ranges::find(kMeant, word, &Meant::wrong) != kMeant.end();
    }

    /// After a leaf or ')' stands `and`, `or`, ')' or nothing.
    Parsed<void> check_next() {
        skip_spaces();
        if (at_ == text_.size() || peek() == ')' || word() == "and" || word() == "or") return {};
        for (const auto& [wrong, right] : kMeant)
            if (word() == wrong)
                return fault(at_,
                             fmt::format("'{}' is not an operator between conditions", wrong),
                             fmt::format("write {}", right));
        return fault(at_, "'and' or 'or' is missing here");
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

void print(const Condition& condition, std::string& out) {
    if (condition.kind == Kind::Leaf) {
        out += condition.spec->to_string();
        return;
    }
    for (const auto& part : condition.parts) {
        if (&part != &condition.parts.front())
            out += condition.kind == Kind::And ? " and " : " or ";
        const bool grouped = condition.kind == Kind::And && part.kind == Kind::Or;
        if (grouped) out += '(';
        print(part, out);
        if (grouped) out += ')';
    }
}

}  // namespace

Parsed<Condition> read_condition(std::string_view text) { return ConditionReader(text).read(); }

}  // namespace grammar

Result<Condition> Condition::parse(std::string_view text) {
    auto read = grammar::read_condition(text);
    if (!read) return grammar::refuse(text, read.error());
    return *std::move(read);
}

std::string Condition::to_string() const {
    std::string text;
    grammar::print(*this, text);
    return text;
}

}  // namespace gpkg
