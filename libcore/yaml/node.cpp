#include "libcore/yaml/node.hpp"

#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <sstream>
#include <unordered_set>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace gpkg::yaml {

struct Reader {
    const std::string& where;
    std::size_t most_nodes;
    std::size_t nodes = 0;

    static constexpr int kDeepest = 200;  // no real document comes near

    Result<Node> convert(const YAML::Node& from, int depth) {
        Node to;
        to.where_ = where;
        to.line_ = from.Mark().line + 1;
        to.column_ = from.Mark().column + 1;
        if (++nodes > most_nodes || depth > kDeepest)
            return to.fail("the document is too large or too deeply nested");
        switch (from.Type()) {
        case YAML::NodeType::Undefined:
        case YAML::NodeType::Null: to.kind_ = Kind::Null; return to;
        case YAML::NodeType::Scalar:
            to.kind_ = Kind::Scalar;
            to.text_ = from.Scalar();
            to.quoted_ = from.Tag() == "!";
            return to;
        case YAML::NodeType::Sequence:
            to.kind_ = Kind::List;
            for (const auto& item : from) {
                GPKG_TRY(auto child, convert(item, depth + 1));
                to.items_.push_back(std::move(child));
            }
            return to;
        case YAML::NodeType::Map: return convert_map(from, std::move(to), depth);
        }
        return to;
    }

    Result<Node> convert_map(const YAML::Node& from, Node to, int depth) {
        to.kind_ = Kind::Map;
        std::unordered_set<std::string> seen;
        for (const auto& entry : from) {
            GPKG_TRY(auto key, convert(entry.first, depth + 1));
            // {{ version }} is a map in a map for YAML.
            if (key.is_map()) return key.fail("'{{ ... }}' is not a string");
            if (!key.is_scalar()) return key.fail("a key must be a string");
            if (!seen.insert(key.text()).second)
                return key.fail(fmt::format("duplicate key '{}'", printable(key.text())));
            GPKG_TRY(auto value, convert(entry.second, depth + 1));
            // yaml-cpp gives null nodes no useful place.
            if (value.line_ <= 0 || value.is_null()) {
                value.line_ = key.line_;
                value.column_ = key.column_;
            }
            value.key_line_ = key.line_;
            value.key_column_ = key.column_;
            to.entries_.emplace_back(key.text(), std::move(value));
        }
        return to;
    }
};

namespace {

/// Where the content of a document begins.
class ContentMark : public YAML::EventHandler {
public:
    std::optional<YAML::Mark> mark;

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark& at, YAML::anchor_t) override { note(at); }
    void OnScalar(const YAML::Mark& at,
                  const std::string&,
                  YAML::anchor_t,
                  const std::string&) override {
        note(at);
    }
    void OnSequenceStart(const YAML::Mark& at,
                         const std::string&,
                         YAML::anchor_t,
                         YAML::EmitterStyle::value) override {
        note(at);
    }
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark& at,
                    const std::string&,
                    YAML::anchor_t,
                    YAML::EmitterStyle::value) override {
        note(at);
    }
    void OnMapEnd() override {}

private:
    void note(const YAML::Mark& at) {
        if (!mark) mark = at;
    }
};

/// Of a text whose first document is well. What has no content, as behind a "---" at the end, is
/// none.
std::optional<YAML::Mark> second_document(std::string_view text) {
    if (text.find("\n---") == std::string_view::npos) return std::nullopt;
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    ContentMark first;
    parser.HandleNextDocument(first);
    // On some texts that are no YAML the parser finds one document after another for ever.
    constexpr int kEnough = 8;
    for (int i = 0; i < kEnough; ++i) {
        ContentMark next;
        if (!parser.HandleNextDocument(next)) break;
        if (next.mark) return next.mark;
    }
    return std::nullopt;
}

/// The first of the lines up to `last` that a tab indents.
std::optional<std::size_t> line_with_tab(std::string_view text, std::size_t last) {
    const auto lines = split(text, '\n');
    for (std::size_t i = 0; i < lines.size() && i <= last; ++i) {
        const auto content = lines[i].find_first_not_of(" \t\r");
        if (content != std::string_view::npos &&
            lines[i].substr(0, content).find('\t') != std::string_view::npos)
            return i;
    }
    return std::nullopt;
}

/// What people get wrong, in yaml-cpp's words and in theirs.
struct Mistake {
    std::string_view said;
    std::string_view meant;
    std::string_view hint;
};

tl::unexpected<Error> not_yaml(const std::string& where, const YAML::Exception& problem) {
    constexpr std::string_view kLikeNeighbours =
        "check the indentation, the '- ' of list items and the ':' of keys";
    static const std::array<Mistake, 6> mistakes{{
        {YAML::ErrorMsg::END_OF_SEQ_FLOW, "unclosed list: missing ']'", ""},
        {YAML::ErrorMsg::END_OF_MAP_FLOW, "unclosed map: missing '}'", ""},
        {YAML::ErrorMsg::END_OF_SEQ,
         "this line does not belong to the list or map above it",
         kLikeNeighbours},
        {YAML::ErrorMsg::END_OF_MAP,
         "this line does not belong to the list or map above it",
         kLikeNeighbours},
        {YAML::ErrorMsg::MAP_VALUE,
         "unexpected ':'",
         "check the indentation; a string that contains ': ' needs quotes"},
        {YAML::ErrorMsg::UNKNOWN_TOKEN, "a string that starts like this needs quotes", ""},
    }};
    const auto known = std::ranges::find(mistakes, problem.msg, &Mistake::said);
    const bool is_known = known != mistakes.end();
    return fail(ErrorKind::Parse,
                fmt::format("{}:{}:{}: {}",
                            where,
                            problem.mark.line + 1,
                            problem.mark.column + 1,
                            is_known ? std::string(known->meant) : printable(problem.msg)),
                is_known ? std::string(known->hint) : "");
}

/// The first line that is not UTF-8, which yaml-cpp would read as something else; nothing for the
/// other encodings of YAML, which a byte order mark tells.
std::optional<std::size_t> line_beyond_utf8(std::string_view text) {
    using namespace std::string_view_literals;
    const bool is_marked = text.starts_with("\xFF\xFE"sv) || text.starts_with("\xFE\xFF"sv) ||
                           text.starts_with("\0\0\xFE\xFF"sv);
    if (is_marked || is_utf8(text)) return std::nullopt;
    std::size_t number = 0;
    for (const auto line : split(text, '\n')) {
        ++number;
        if (!is_utf8(line)) return number;
    }
    return number;
}

}  // namespace

Result<Node> Node::parse(std::string_view text, std::string where, std::size_t most_nodes) {
    if (const auto line = line_beyond_utf8(text))
        return ::gpkg::fail(ErrorKind::Parse,
                            fmt::format("{}:{}: not UTF-8", where, *line),
                            "save the file as UTF-8");
    try {
        const auto document = YAML::Load(std::string(text));
        if (const auto second = second_document(text)) {
            Node there;
            there.where_ = where;
            there.line_ = second->line + 1;
            there.column_ = second->column + 1;
            return there.fail("more than one YAML document",
                              "remove the line '---', or move the document to another file");
        }
        Reader reader{where, most_nodes};
        return reader.convert(document, 0);
    } catch (const YAML::Exception& problem) {
        const auto last = static_cast<std::size_t>(std::max(problem.mark.line, 0));
        if (const auto line = line_with_tab(text, last))
            return ::gpkg::fail(ErrorKind::Parse,
                                fmt::format("{}:{}: tab in the indentation", where, *line + 1),
                                "indent with spaces");
        return not_yaml(where, problem);
    }
}

Node Node::of_text(std::string text, std::string where) {
    Node node;
    node.kind_ = Kind::Scalar;
    node.text_ = std::move(text);
    node.where_ = std::move(where);
    return node;
}

Node Node::of_texts(const std::vector<std::string>& texts, std::string where) {
    Node node;
    node.kind_ = Kind::List;
    for (const auto& text : texts) node.items_.push_back(of_text(text, where));
    node.where_ = std::move(where);
    return node;
}

const Node* Node::find(std::string_view key) const {
    const auto found = std::find_if(
        entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.first == key; });
    return found == entries_.end() ? nullptr : &found->second;
}

std::string Node::place() const {
    return line_ == 0 ? where_ : fmt::format("{}:{}:{}", where_, line_, column_);
}

std::string Node::key_place() const {
    return key_line_ == 0 ? place() : fmt::format("{}:{}:{}", where_, key_line_, key_column_);
}

tl::unexpected<Error> Node::fail(std::string message, std::string hint) const {
    return ::gpkg::fail(ErrorKind::Parse, place() + ": " + std::move(message), std::move(hint));
}

std::string_view Node::kind_name() const {
    switch (kind_) {
    case Kind::Null: return "nothing";
    case Kind::Scalar: return "a single value";
    case Kind::List: return "a list";
    case Kind::Map: return "a map";
    }
    return "nothing";
}

Result<std::string> Node::as_text(std::string_view what) const {
    if (!is_scalar()) return fail(fmt::format("expected {}, found {}", what, kind_name()));
    return text_;
}

Result<std::vector<std::string>> Node::as_texts(std::string_view what) const {
    std::vector<std::string> texts;
    if (is_null()) return texts;
    if (is_scalar()) return std::vector{text_};
    if (!is_list()) return fail(fmt::format("expected a list of {}, found {}", what, kind_name()));
    for (const auto& item : items_) {
        if (!item.is_scalar())
            return item.fail(fmt::format("expected {}, found {}", what, item.kind_name()));
        texts.push_back(item.text_);
    }
    return texts;
}

Result<bool> Node::as_bool(std::string_view what) const {
    const auto lower = to_lower(text_);
    if (is_scalar() && lower == "true") return true;
    if (is_scalar() && lower == "false") return false;
    return fail(fmt::format("expected true or false for {}, found {}",
                            what,
                            is_scalar() ? printable(text_) : std::string(kind_name())));
}

Result<long long> Node::as_int(std::string_view what) const {
    const auto value = whole_number<long long>(text_);
    if (is_scalar() && value) return *value;
    return fail(fmt::format("expected a whole number for {}, found {}",
                            what,
                            is_scalar() ? printable(text_) : std::string(kind_name())));
}

namespace {

/// "2026-01-01", which other readers take for a date.
bool is_date_like(std::string_view text) {
    return text.size() > 4 && text[4] == '-' &&
           text.substr(0, 4).find_first_not_of("0123456789") == std::string_view::npos;
}

/// A word or words that every reader takes for a string: names, specs, URLs, hashes. What holds a
/// letter besides those of numbers, and is longer than the words for true, false and nothing.
bool is_surely_plain(std::string_view text) {
    constexpr std::size_t kLongestWord = 5;
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    if (text.size() <= kLongestWord || text.back() == ' ' || is_date_like(text)) return false;
    if (!is_letter(text.front()) && !is_digit(text.front())) return false;
    bool has_letter = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (is_letter(c)) {
            has_letter = has_letter || std::string_view("eExXoO").find(c) == std::string_view::npos;
        } else if (c == ':') {
            if (text.substr(i + 1, 1) != "/") return false;
        } else if (!is_digit(c) &&
                   std::string_view(" _./+=<>,*|!~-").find(c) == std::string_view::npos) {
            return false;
        }
    }
    return has_letter;
}

/// A reader that types its scalars sees no string in these plain ones.
bool looks_typed(const std::string& plain) {
    // Also what overflows a number here may be one elsewhere: the digits of a checksum with an 'e'.
    if (plain.starts_with("0x") || is_date_like(plain) ||
        plain.find_first_not_of("0123456789eE_oO") == std::string::npos)
        return true;
    try {
        const auto node = YAML::Load(plain);
        double number = 0;
        bool flag = false;
        return node.Tag() != "!" && (node.IsNull() || YAML::convert<double>::decode(node, number) ||
                                     YAML::convert<bool>::decode(node, flag));
    } catch (const YAML::Exception&) {
        return true;
    }
}

void write(YAML::Emitter& out, const Node& node) {
    switch (node.kind()) {
    case Kind::Null: out << YAML::Null; return;
    case Kind::Scalar:
        if (node.is_quoted() && looks_typed(node.text())) out << YAML::DoubleQuoted;
        out << node.text();
        return;
    case Kind::List:
        out << YAML::Flow << YAML::BeginSeq;
        for (const auto& item : node.items()) write(out, item);
        out << YAML::EndSeq;
        return;
    case Kind::Map:
        out << YAML::Flow << YAML::BeginMap;
        for (const auto& [key, value] : node.entries()) {
            out << YAML::Key << key << YAML::Value;
            write(out, value);
        }
        out << YAML::EndMap;
        return;
    }
}

}  // namespace

std::string quote(std::string_view text) {
    if (is_surely_plain(text)) return std::string(text);  // of thousands of lines, nearly all
    YAML::Emitter out;
    out << std::string(text);
    std::string plain(out.c_str());
    if (!looks_typed(plain)) return plain;
    YAML::Emitter quoted;
    quoted << YAML::DoubleQuoted << std::string(text);
    return quoted.c_str();
}

std::string one_line(const Node& node) {
    YAML::Emitter out;
    // A scalar on its own is written as it is within a list: commas and brackets in quotes.
    if (!node.is_scalar()) {
        write(out, node);
        return out.c_str();
    }
    out << YAML::Flow << YAML::BeginSeq;
    write(out, node);
    out << YAML::EndSeq;
    const std::string list = out.c_str();
    return list.substr(1, list.size() - 2);
}

}  // namespace gpkg::yaml
