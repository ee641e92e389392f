#pragma once

// A piece of a recipe after its selectors and templates were evaluated: plain values that still
// know where they were written.

#include "libcore/recipe/expression.hpp"
#include "libcore/yaml/node.hpp"

#include <initializer_list>

namespace gpkg {

struct TreeEntry;

struct Tree {
    enum class Kind { Value, List, Map };

    const yaml::Node* at = nullptr;  ///< owned by the Recipe, which outlives this
    Kind kind = Kind::Value;
    Value value;
    std::vector<Tree> items;
    std::vector<TreeEntry> entries;

    bool is_null() const { return kind == Kind::Value && value.is_null(); }
    bool is_map() const { return kind == Kind::Map; }
    bool is_list() const { return kind == Kind::List; }
    const Tree* find(std::string_view key) const;
    tl::unexpected<Error> fail(std::string message, std::string hint = {}) const;
    tl::unexpected<Error> unsupported(std::string message, std::string hint = {}) const;
    std::string kind_name() const;

    Result<std::string> as_text(std::string_view what) const;
    /// As as_text(), but a plain `1.10` is refused: it may have meant 1.1.
    Result<std::string> as_version(std::string_view what) const;
    /// A list; one value counts as a list of one, null as none.
    Result<std::vector<std::string>> as_texts(std::string_view what) const;
    Result<bool> as_bool(std::string_view what) const;
    Result<long long> as_int(std::string_view what) const;

    /// Fails at the first key that is not one of `known`, with near names. Null passes as an empty
    /// map; anything else that is not a map fails.
    Result<void> only_keys(std::string_view what,
                           std::initializer_list<std::string_view> known) const;
};

struct TreeEntry {
    std::string key;
    Tree value;
};

/// The error for a key that is not one of `known`.
Result<void> check_key(const yaml::Node& value,
                       const std::string& key,
                       std::string_view what,
                       std::span<const std::string_view> known);

/// Evaluates templates, and selectors where they are allowed: as items of lists. Nulls that come of
/// a template vanish from lists and maps.
Result<Tree> evaluate_tree(const yaml::Node& node, const Names& names);

/// The items of a list that its selectors leave, not yet evaluated. A node that is no list counts
/// as a list of one, null as none.
Result<std::vector<const yaml::Node*>> selected_items(const yaml::Node& node, const Names& names);

/// What a plain scalar of YAML means: null, a truth value, a whole number or a text.
Value typed_scalar(const yaml::Node& node);
/// True for a plain scalar that YAML reads as a number with a fraction: 1.10, 3e5.
bool is_plain_float(const yaml::Node& node);

/// `over` laid upon `base`: maps merge key by key, everything else is replaced.
Tree merge_trees(const Tree& base, const Tree& over);

}  // namespace gpkg
