// The grammar of version specs (CEP 29), as a recursive descent over the text.

#include "libcore/spec/string_matcher_internal.hpp"
#include "libcore/spec/version_internal.hpp"
#include "libcore/spec/version_spec_internal.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gpkg {
namespace {

using Node = VersionSpec::Node;
using Op = Node::Op;
using grammar::Fault;
using grammar::fault;
using grammar::moved;
using grammar::Parsed;

constexpr std::string_view kOperatorChars = "=<>!~";
constexpr std::string_view kSpaces = " \t";
constexpr auto kOneVersionEach = "write a version after each operator";

struct Operator {
    std::string_view text;
    Op op;
};
constexpr std::array<Operator, 8> kOperators{{{"==", Op::Equal},
                                              {"=", Op::StartsWith},
                                              {"!=", Op::NotEqual},
                                              {"<=", Op::LessEqual},
                                              {"<", Op::Less},
                                              {">=", Op::GreaterEqual},
                                              {">", Op::Greater},
                                              {"~=", Op::Compatible}}};

/// For spellings of other languages and slips of the finger: what was meant.
constexpr std::array<std::array<std::string_view, 2>, 9> kMeant{{{"=>", ">="},
                                                                 {"=<", "<="},
                                                                 {"===", "=="},
                                                                 {"<>", "!="},
                                                                 {"!", "!="},
                                                                 {"!==", "!="},
                                                                 {"~", "~="},
                                                                 {"~>", "~="},
                                                                 {"~==", "~="}}};

std::string_view operator_text(Op op) {
    for (const auto& known : kOperators)
        if (known.op == op) return known.text;
    return "";
}

}  // namespace

class VersionSpecReader {
public:
    explicit VersionSpecReader(std::string_view text) : text_(text) {}

    Parsed<VersionSpec> read() {
        if (text_.size() > VersionSpec::kLongest)
            return fault(
                VersionSpec::kLongest,
                fmt::format("a version spec has at most {} characters", VersionSpec::kLongest));
        auto node = read_either(0);
        if (!node) return tl::unexpected<Fault>(std::move(node).error());
        if (at_ < text_.size()) return fault(at_, unexpected_here());
        return VersionSpec(std::make_shared<const Node>(*std::move(node)));
    }

private:
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool at_end() const { return at_ >= text_.size(); }
    void skip_spaces() { at_ = std::min(text_.find_first_not_of(kSpaces, at_), text_.size()); }

    Parsed<Node> read_either(int depth) { return read_list(Op::Either, '|', depth); }
    Parsed<Node> read_all(int depth) { return read_list(Op::All, ',', depth); }

    Parsed<Node> read_list(Op op, char separator, int depth) {
        std::vector<Node> parts;
        for (;;) {
            auto part = op == Op::Either ? read_all(depth) : read_item(depth);
            if (!part) return part;
            // One flat list for each operator, so that equal questions have equal trees.
            if (part->op == op)
                std::move(part->parts.begin(), part->parts.end(), std::back_inserter(parts));
            else
                parts.push_back(*std::move(part));
            skip_spaces();
            if (peek() != separator) break;
            if (text_.substr(at_).starts_with("||"))
                return fault(at_, "'||' is not an operator", "write |");
            ++at_;
        }
        if (parts.size() == 1) return std::move(parts.front());
        Node list;
        list.op = op;
        list.parts = std::move(parts);
        return list;
    }

    Parsed<Node> read_item(int depth) {
        skip_spaces();
        if (peek() != '(') return read_clause();
        if (depth >= VersionSpec::kDeepest) return fault(at_, "parentheses are nested too deeply");
        const auto open = at_++;
        auto inner = read_either(depth + 1);
        if (!inner) return inner;
        if (peek() != ')')
            return at_end() ? fault(open, "this '(' is never closed")
                            : fault(at_, unexpected_here());
        ++at_;
        skip_spaces();
        if (!at_end() && peek() != ',' && peek() != '|' && peek() != ')')
            return fault(at_, "',' or '|' is missing after ')'");
        return inner;
    }

    std::string unexpected_here() const {
        if (peek() == ')') return "unmatched ')'";
        return grammar::shown(peek()) + " is not allowed in a version spec";
    }

    Parsed<Node> read_clause() {
        const auto start = at_;
        if (peek() == '^') return read_regex_clause();
        Op op = Op::Any;
        if (const auto run = text_.substr(at_, operator_length()); !run.empty()) {
            const auto* known = std::find_if(kOperators.begin(),
                                             kOperators.end(),
                                             [&](const Operator& o) { return o.text == run; });
            if (known == kOperators.end()) return refuse_operator(run);
            op = known->op;
            at_ += run.size();
            skip_spaces();
            if (operator_length() > 0) return fault(at_, "two operators in a row", kOneVersionEach);
        }
        const auto begin = at_;
        while (!at_end() && is_literal_char()) ++at_;
        std::string literal(text_.substr(begin, at_ - begin));
        if (stands_before_epoch_mark(literal)) {
            skip_spaces();
            const auto rest = at_;
            while (!at_end() && is_literal_char()) ++at_;
            literal += text_.substr(rest, at_ - rest);
        }
        if (literal.empty()) return refuse_missing(start, op);
        auto node = make_clause(op, literal);
        if (!node) return moved(std::move(node).error(), begin);
        if (auto fine = check_clause_end(start); !fine)
            return tl::unexpected<Fault>(std::move(fine).error());
        return node;
    }

    /// Conda drops spaces before it reads, and ">=1 !164.3095" occurs in repodata.
    bool stands_before_epoch_mark(std::string_view literal) const {
        const auto word = text_.find_first_not_of(kSpaces, at_);
        return !literal.empty() && literal.find_first_not_of("0123456789") == literal.npos &&
               word != std::string_view::npos && text_[word] == '!' && word > at_ &&
               !text_.substr(word).starts_with("!=");
    }

    std::size_t operator_length() const {
        const auto end = text_.find_first_not_of(kOperatorChars, at_);
        return std::min(end, text_.size()) - at_;
    }

    /// '!' ends an epoch, unless it opens an operator.
    bool is_literal_char() const {
        const char c = peek();
        if (c == '!') return at_ + 1 >= text_.size() || text_[at_ + 1] != '=';
        return std::string_view(",|()=<>~^$ \t").find(c) == std::string_view::npos;
    }

    tl::unexpected<Fault> refuse_operator(std::string_view run) const {
        for (const auto& [wrong, right] : kMeant)
            if (run == wrong)
                return fault(at_,
                             fmt::format("'{}' is not an operator", run),
                             fmt::format("write {}", right));
        // The longest operator that the run starts with is what was meant first.
        std::size_t longest = 0;
        for (const auto& known : kOperators)
            if (run.starts_with(known.text)) longest = std::max(longest, known.text.size());
        if (longest == 0) return fault(at_, fmt::format("'{}' is not an operator", run));
        return fault(at_ + longest, "two operators in a row", kOneVersionEach);
    }

    tl::unexpected<Fault> refuse_missing(std::size_t start, Op op) const {
        if (op != Op::Any && (peek() == '(' || peek() == '^'))
            return fault(start,
                         fmt::format("'{}' is not allowed before '{}'", operator_text(op), peek()));
        if (op != Op::Any)
            return fault(
                at_,
                fmt::format("no version after '{}'", trimmed(text_.substr(start, at_ - start))));
        if (at_end() && text_.find_first_not_of(kSpaces) == std::string_view::npos)
            return fault(0, "the version spec is empty", "'*' matches every version");
        const auto before = text_.find_last_not_of(kSpaces, start == 0 ? 0 : start - 1);
        if (start > 0 && before != std::string_view::npos &&
            std::string_view(",|(").find(text_[before]) != std::string_view::npos)
            return fault(before, fmt::format("no version after '{}'", text_[before]));
        if (peek() == ',' || peek() == '|')
            return fault(at_, fmt::format("no version before '{}'", peek()));
        return fault(at_, unexpected_here());
    }

    static std::string_view trimmed(std::string_view text) {
        return text.substr(0, text.find_last_not_of(kSpaces) + 1);
    }

    Parsed<void> check_clause_end(std::size_t start) {
        const auto clause = trimmed(text_.substr(start, at_ - start));
        skip_spaces();
        if (at_end() || peek() == ',' || peek() == '|' || peek() == ')') return {};
        if (operator_length() > 0)
            return fault(at_,
                         fmt::format("'{}' follows '{}' without ',' between",
                                     text_.substr(at_, operator_length()),
                                     clause),
                         "put ',' between conditions");
        if (peek() == '$' || peek() == '^')
            return fault(at_, "a regular expression cannot be combined with other text");
        if (peek() == '(') return fault(at_, "',' or '|' is missing before '('");
        return fault(at_, "two versions in a row", "put ',' or '|' between conditions");
    }

    /// Up to the first '$' that is not escaped; what is inside is RE2's business.
    Parsed<Node> read_regex_clause() {
        const auto begin = at_;
        while (!at_end() && peek() != '$') at_ += peek() == '\\' ? 2 : 1;
        if (at_end()) return fault(begin, "this regular expression does not end with '$'");
        ++at_;
        auto matcher = grammar::read_matcher(text_.substr(begin, at_ - begin));
        if (!matcher) return moved(std::move(matcher).error(), begin);
        if (auto fine = check_clause_end(begin); !fine)
            return tl::unexpected<Fault>(std::move(fine).error());
        Node node;
        node.op = Op::Text;
        node.text = *std::move(matcher);
        return node;
    }

    static Parsed<Node> make_clause(Op op, std::string_view literal);
    static Parsed<Node> make_any(Op op, std::string_view literal);
    static Parsed<Node> make_text(Op op, std::string_view literal);

    std::string_view text_;
    std::size_t at_ = 0;
};

namespace {

/// Where the globs at the end begin: 3 for "2.7.*", "2.7*", "2.7.*.*" and "2.7.*.", 0 for "*" and
/// "*.*", the size where there is none.
std::size_t glob_tail(std::string_view literal) {
    const auto last = literal.find_last_not_of(".*");
    const auto tail = last == std::string_view::npos ? 0 : last + 1;
    return literal.find('*', tail) == std::string_view::npos ? literal.size() : tail;
}

/// The operator once `.*` is taken off its literal. Only the equalities change their meaning.
Op with_glob(Op op) {
    if (op == Op::Any || op == Op::Equal) return Op::StartsWith;
    if (op == Op::NotEqual) return Op::NotStartsWith;
    return op;
}

Node node_of(Op op, const Version& version) {
    Node node;
    node.op = op;
    node.version = version;
    return node;
}

/// `<1.0*` and `>1.0*`: CEP 29 forbids a star without a dot here. Conda orders "1.0*" directly
/// before all versions that start with 1.0, so that `<=` means `<` and `>=` means `>`.
Node beside_prefix(Op op, const Version& prefix) {
    const bool is_above = op == Op::Greater || op == Op::GreaterEqual;
    Node node;
    node.op = is_above ? Op::Either : Op::All;
    node.parts.push_back(node_of(is_above ? Op::StartsWith : Op::NotStartsWith, prefix));
    node.parts.push_back(node_of(is_above ? Op::Greater : Op::Less, prefix));
    return node;
}

/// `~=1.0*`: `>=1.0*` of those that start with 1.
Node compatible_with_prefix(const Version& prefix, const Version& stem) {
    Node node;
    node.op = Op::All;
    node.parts.push_back(beside_prefix(Op::GreaterEqual, prefix));
    node.parts.push_back(node_of(Op::StartsWith, stem));
    return node;
}

bool is_order(Op op) {
    return op == Op::Less || op == Op::LessEqual || op == Op::Greater || op == Op::GreaterEqual;
}

}  // namespace

Parsed<Node> VersionSpecReader::make_clause(Op op, std::string_view literal) {
    const auto tail = glob_tail(literal);
    const auto core = literal.substr(0, tail);
    const bool has_tail = tail < literal.size();
    if (const auto dots = literal.find("..", tail); dots != std::string_view::npos)
        return fault(dots + 1, "empty segment between '.' and '.'");
    if (core.find('*') != std::string_view::npos) return make_text(op, literal);
    if (core.empty()) return make_any(op, literal);
    const bool has_bare_star = literal.substr(tail).starts_with('*');
    if (has_tail && !has_bare_star && op == Op::Compatible)
        return fault(tail, "'~=' takes a version without '*'");

    auto version = grammar::read_version(core);
    if (!version) return tl::unexpected<Fault>(std::move(version).error());
    if (has_bare_star && is_order(op)) return beside_prefix(op, *version);
    Node node;
    node.op = has_tail ? with_glob(op) : op == Op::Any ? Op::Equal : op;
    if (op == Op::Compatible) {
        node.stem = version->without_last_segment();
        if (!node.stem)
            return fault(0, "'~=' needs a version of at least two segments", "write >= instead");
        if (has_bare_star) return compatible_with_prefix(*version, *node.stem);
    }
    node.version = *std::move(version);
    return node;
}

Parsed<Node> VersionSpecReader::make_any(Op op, std::string_view literal) {
    if (literal.front() != '*') return fault(0, "a version cannot start with '.'");
    const bool is_equality = op == Op::Any || op == Op::StartsWith || op == Op::Equal;
    // "*.*" asks for a dot. Old records have a dot at the end by mistake.
    const auto last_star = literal.find_last_of('*');
    if (literal.find('.') < last_star && (is_equality || op == Op::NotEqual))
        return make_text(op, literal.substr(0, last_star + 1));
    if (is_equality || op == Op::GreaterEqual) return Node{};
    return fault(0, fmt::format("'{}' needs a version, not '*'", operator_text(op)));
}

Parsed<Node> VersionSpecReader::make_text(Op op, std::string_view literal) {
    if (op != Op::Any && op != Op::Equal && op != Op::StartsWith && op != Op::NotEqual)
        return fault(literal.find('*'),
                     fmt::format("'{}' takes no '*' inside a version", operator_text(op)));
    for (std::size_t i = 0; i < literal.size(); ++i)
        if (literal[i] != '*' && !grammar::is_version_char(literal[i]))
            return fault(i, grammar::shown(literal[i]) + " is not allowed in a version");
    auto matcher = grammar::read_matcher(literal);
    if (!matcher) return tl::unexpected<Fault>(std::move(matcher).error());
    Node node;
    node.op = op == Op::NotEqual ? Op::NotText : Op::Text;
    node.text = *std::move(matcher);
    return node;
}

Parsed<VersionSpec> grammar::read_version_spec(std::string_view text) {
    return VersionSpecReader(text).read();
}

}  // namespace gpkg
