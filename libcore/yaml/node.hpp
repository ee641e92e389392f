#pragma once

// YAML documents as gpkg reads them: every node knows the file, line and column it came from,
// scalars stay text (so that `1.10` is not a number), and duplicate keys are errors.

#include "libcore/base/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpkg::yaml {

enum class Kind { Null, Scalar, List, Map };

class Node {
public:
    /// Aliases make a small text unfold into a huge tree; no real document comes near as many
    /// nodes.
    static constexpr std::size_t kMostNodes = 2'000'000;

    /// Parses one document. `where` (a path or URL) begins every error: "env.yml:3:5: ...".
    static Result<Node> parse(std::string_view text,
                              std::string where,
                              std::size_t most_nodes = kMostNodes);

    /// What a text or a list of them from elsewhere, such as a variable, would be in a document.
    static Node of_text(std::string text, std::string where);
    static Node of_texts(const std::vector<std::string>& texts, std::string where);

    Kind kind() const { return kind_; }
    bool is_null() const { return kind_ == Kind::Null; }
    bool is_scalar() const { return kind_ == Kind::Scalar; }
    bool is_list() const { return kind_ == Kind::List; }
    bool is_map() const { return kind_ == Kind::Map; }

    /// The scalar's text as written; empty for other kinds.
    const std::string& text() const { return text_; }
    /// A quoted scalar is a string whatever it looks like; a plain `1.10` or `yes` may be meant
    /// otherwise.
    bool is_quoted() const { return quoted_; }
    const std::vector<Node>& items() const { return items_; }
    /// In the order of the document; keys are unique.
    const std::vector<std::pair<std::string, Node>>& entries() const { return entries_; }
    /// The value of `key`, or null when absent or when this is no map.
    const Node* find(std::string_view key) const;

    /// "env.yml:3:5", for error messages; `where` alone for what comes from no document.
    std::string place() const;
    /// The place of the key this is the value of; place() for anything else.
    std::string key_place() const;
    /// An error at this node: "env.yml:3:5: <message>".
    tl::unexpected<Error> fail(std::string message, std::string hint = {}) const;

    /// The scalar's text, or an error "expected <what>, found a list".
    Result<std::string> as_text(std::string_view what) const;
    /// A list of scalars; a lone scalar counts as a list of one, null as none.
    Result<std::vector<std::string>> as_texts(std::string_view what) const;
    Result<bool> as_bool(std::string_view what) const;
    Result<long long> as_int(std::string_view what) const;

    std::string_view kind_name() const;

private:
    friend struct Reader;
    Kind kind_ = Kind::Null;
    bool quoted_ = false;
    int line_ = 0;
    int column_ = 0;
    int key_line_ = 0;
    int key_column_ = 0;
    std::string where_;
    std::string text_;
    std::vector<Node> items_;
    std::vector<std::pair<std::string, Node>> entries_;
};

/// `text` as a YAML scalar: quoted where a plain one would read as something else.
std::string quote(std::string_view text);

/// The node as YAML in one line, "{weak: [libfoo >=1, \"2\"]}". Strings stay strings and numbers
/// numbers; read back and written again, the line is the same.
std::string one_line(const Node& node);

}  // namespace gpkg::yaml
