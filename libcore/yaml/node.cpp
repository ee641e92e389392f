#include "libcore/yaml/node.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

namespace gpkg::yaml {

struct Reader {
    const std::string& where;
    std::size_t nodes = 0;

    // Aliases make a small text unfold into a huge tree; no real document comes near these.
    static constexpr std::size_t kMostNodes = 2'000'000;
    static constexpr int kDeepest = 200;

    Result<Node> convert(const YAML::Node& from, int depth) {
        Node to;
        to.where_ = where;
        to.line_ = from.Mark().line + 1;
        to.column_ = from.Mark().column + 1;
        if (++nodes > kMostNodes || depth > kDeepest)
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
        for (const auto& entry : from) {
            GPKG_TRY(auto key, convert(entry.first, depth + 1));
            if (!key.is_scalar()) return key.fail("a key must be a plain text");
            if (to.find(key.text()) != nullptr)
                return key.fail(fmt::format("the key '{}' stands here twice", key.text()));
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

Result<Node> Node::parse(std::string_view text, std::string where) {
    try {
        const YAML::Node document = YAML::Load(std::string(text));
        Reader reader{where};
        return reader.convert(document, 0);
    } catch (const YAML::Exception& problem) {
        return ::gpkg::fail(ErrorKind::Parse,
                            fmt::format("{}:{}:{}: {}",
                                        where,
                                        problem.mark.line + 1,
                                        problem.mark.column + 1,
                                        problem.msg));
    }
}

const Node* Node::find(std::string_view key) const {
    const auto found = std::find_if(
        entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.first == key; });
    return found == entries_.end() ? nullptr : &found->second;
}

std::string Node::place() const { return fmt::format("{}:{}:{}", where_, line_, column_); }

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
                            is_scalar() ? text_ : std::string(kind_name())));
}

Result<long long> Node::as_int(std::string_view what) const {
    long long value = 0;
    const auto* end = text_.data() + text_.size();
    if (is_scalar()) {
        const auto [stop, code] = std::from_chars(text_.data(), end, value);
        if (code == std::errc() && stop == end) return value;
    }
    return fail(fmt::format("expected a whole number for {}, found {}",
                            what,
                            is_scalar() ? text_ : std::string(kind_name())));
}

std::string quote(std::string_view text) {
    YAML::Emitter out;
    out << std::string(text);
    std::string plain(out.c_str());
    // A reader that types its scalars must still see a string.
    const bool looks_typed = [&] {
        try {
            const auto node = YAML::Load(plain);
            double number = 0;
            bool flag = false;
            return node.Tag() != "!" &&
                   (node.IsNull() || YAML::convert<double>::decode(node, number) ||
                    YAML::convert<bool>::decode(node, flag));
        } catch (const YAML::Exception&) {
            return true;
        }
    }();
    if (!looks_typed) return plain;
    YAML::Emitter quoted;
    quoted << YAML::DoubleQuoted << std::string(text);
    return quoted.c_str();
}

}  // namespace gpkg::yaml
