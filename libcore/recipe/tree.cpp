#include "libcore/recipe/tree.hpp"

#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace gpkg {
namespace {

Error placed(const yaml::Node& node, Error error) {
    error.message = fmt::format("{}: {}", node.place(), error.message);
    return error;
}

bool is_selector(const yaml::Node& node) { return node.is_map() && node.find("if") != nullptr; }

// What a selector leaves; null when it leaves nothing.
Result<const yaml::Node*> choose(const yaml::Node& selector, const Names& names) {
    static constexpr std::array<std::string_view, 3> kKeys = {"if", "then", "else"};
    for (const auto& [key, value] : selector.entries())
        GPKG_CHECK(check_key(value, key, "a selector", kKeys));
    if (selector.find("then") == nullptr) return selector.fail("'if' without 'then'");
    const auto& condition = *selector.find("if");
    GPKG_TRY(const auto text, condition.as_text("a condition after 'if'"));
    const auto value = evaluate_expression(text, names);
    if (!value) {
        auto error = value.error();
        error.message = fmt::format("in 'if: {}': {}", text, error.message);
        return pass(placed(condition, std::move(error)));
    }
    return selector.find(value->truthy() ? "then" : "else");
}

Result<void> select(const yaml::Node& item,
                    const Names& names,
                    std::vector<const yaml::Node*>& chosen) {
    if (!is_selector(item)) {
        chosen.push_back(&item);
        return {};
    }
    GPKG_TRY(const auto* side, choose(item, names));
    if (side == nullptr || side->is_null()) return {};
    if (!side->is_list()) return select(*side, names, chosen);
    for (const auto& inner : side->items()) GPKG_CHECK(select(inner, names, chosen));
    return {};
}

/// Keys of conda-build's meta.yaml, and what a recipe.yaml has for them.
struct OldKey {
    std::string_view key;
    std::string_view hint;
};

constexpr OldKey kOldKeys[] = {
    {"command", "use script"},
    {"commands", "use script"},
    {"dev_url", "use repository"},
    {"doc_url", "use documentation"},
    {"entry_points", "write it below python:, in build"},
    {"fn", "use file_name"},
    {"folder", "use target_directory"},
    {"git_rev", "use rev, tag or branch"},
    {"git_url", "use git"},
    {"imports", "write it below python:"},
    {"license_family", "remove it; license has the SPDX name"},
    {"requires", "write the packages below requirements: and run:"},
    {"run_constrained", "use run_constraints"},
};

std::string hint_for_key(const std::string& key, std::span<const std::string_view> known) {
    const std::vector<std::string> names(known.begin(), known.end());
    const auto near = near_names(key, names);
    const auto* const old = std::ranges::find(kOldKeys, key, &OldKey::key);
    if (near.empty() && old != std::ranges::end(kOldKeys)) return std::string(old->hint);
    return did_you_mean(near, fmt::format("use {}", join_or(names)));
}

class Builder {
public:
    explicit Builder(const Names& names) : names_(names) {}

    Result<Tree> build(const yaml::Node& node) const {
        Tree tree;
        tree.at = &node;
        switch (node.kind()) {
        case yaml::Kind::Null: return tree;
        case yaml::Kind::Scalar: {
            GPKG_TRY(tree.value, scalar(node));
            // A list that an expression made is a list like any other.
            if (const auto* list = tree.value.list()) return spread(node, *list);
            return tree;
        }
        case yaml::Kind::List: return list(node);
        case yaml::Kind::Map: return map(node);
        }
        return tree;
    }

private:
    Result<Value> scalar(const yaml::Node& node) const {
        if (!is_template(node.text())) {
            if (node.text().find("{%") != std::string::npos)
                return node.fail("'{%' blocks are not part of the recipe format",
                                 "use if/then/else in lists, or ${{ a if condition else b }}");
            return typed_scalar(node);
        }
        auto value = evaluate_template(node.text(), names_);
        if (!value) return pass(placed(node, std::move(value).error()));
        return value;
    }

    static Tree spread(const yaml::Node& node, const Value::List& list) {
        Tree tree;
        tree.at = &node;
        tree.kind = Tree::Kind::List;
        for (const auto& value : list) {
            Tree item;
            item.at = &node;
            item.value = value;
            tree.items.push_back(std::move(item));
        }
        return tree;
    }

    Result<Tree> list(const yaml::Node& node) const {
        Tree tree;
        tree.at = &node;
        tree.kind = Tree::Kind::List;
        GPKG_TRY(const auto items, selected_items(node, names_));
        for (const auto* item : items) {
            GPKG_TRY(auto built, build(*item));
            if (built.is_null() && item->is_scalar() && is_template(item->text())) continue;
            tree.items.push_back(std::move(built));
        }
        return tree;
    }

    Result<Tree> map(const yaml::Node& node) const {
        // Where one value may stand for a list, so may one selector.
        if (is_selector(node)) return list(node);
        Tree tree;
        tree.at = &node;
        tree.kind = Tree::Kind::Map;
        for (const auto& [key, child] : node.entries()) {
            if (is_template(key)) return child.fail("a key cannot be a template");
            GPKG_TRY(auto value, build(child));
            if (!value.is_null()) tree.entries.push_back({key, std::move(value)});
        }
        return tree;
    }

    const Names& names_;
};

}  // namespace

const Tree* Tree::find(std::string_view key) const {
    const auto found = std::find_if(
        entries.begin(), entries.end(), [&](const auto& entry) { return entry.key == key; });
    return found == entries.end() ? nullptr : &found->value;
}

tl::unexpected<Error> Tree::fail(std::string message, std::string hint) const {
    return at->fail(std::move(message), std::move(hint));
}

tl::unexpected<Error> Tree::unsupported(std::string message, std::string hint) const {
    return ::gpkg::fail(
        ErrorKind::Unsupported, at->place() + ": " + std::move(message), std::move(hint));
}

std::string Tree::kind_name() const {
    if (is_map()) return "a map";
    if (is_list()) return "a list";
    return value.kind_name();
}

Result<std::string> Tree::as_text(std::string_view what) const {
    if (kind != Kind::Value || value.is_null())
        return fail(fmt::format("expected {}, found {}", what, kind_name()));
    // `1.10` and `yes` stay as they were written.
    if (at->is_scalar() && !is_template(at->text())) return at->text();
    return value.to_text();
}

Result<std::string> Tree::as_version(std::string_view what) const {
    if (is_plain_float(*at))
        return fail(fmt::format("{} {} is a number, not a string", what, at->text()),
                    fmt::format("put it in quotes: \"{}\"", at->text()));
    return as_text(what);
}

Result<std::vector<std::string>> Tree::as_texts(std::string_view what) const {
    std::vector<std::string> texts;
    if (is_null()) return texts;
    if (!is_list()) {
        GPKG_TRY(auto text, as_text(what));
        texts.push_back(std::move(text));
        return texts;
    }
    for (const auto& item : items) {
        GPKG_TRY(auto text, item.as_text(what));
        texts.push_back(std::move(text));
    }
    return texts;
}

Result<bool> Tree::as_bool(std::string_view what) const {
    if (kind == Kind::Value && value.flag() != nullptr) return *value.flag();
    return fail(fmt::format("expected true or false for {}, found {}", what, kind_name()));
}

Result<long long> Tree::as_int(std::string_view what) const {
    if (kind == Kind::Value && value.number() != nullptr) return *value.number();
    // A template around a number may make a text of it: "${{ number }}0".
    if (kind == Kind::Value && value.text() != nullptr && !at->is_quoted()) {
        if (const auto number = whole_number<long long>(*value.text())) return *number;
    }
    return fail(fmt::format("expected a whole number for {}, found {}", what, kind_name()));
}

Result<void> Tree::only_keys(std::string_view what,
                             std::initializer_list<std::string_view> known) const {
    if (is_null()) return {};
    if (!is_map())
        return fail(fmt::format("expected a map for {}, found {}", what, kind_name()),
                    fmt::format("its keys are {}",
                                join_or(std::vector<std::string>(known.begin(), known.end()))));
    for (const auto& [key, child] : entries)
        GPKG_CHECK(check_key(*child.at, key, what, std::span(known.begin(), known.size())));
    return {};
}

Result<void> check_key(const yaml::Node& value,
                       const std::string& key,
                       std::string_view what,
                       std::span<const std::string_view> known) {
    if (std::find(known.begin(), known.end(), key) != known.end()) return {};
    return fail(ErrorKind::Parse,
                fmt::format("{}: unknown key '{}' in {}", value.key_place(), key, what),
                hint_for_key(key, known));
}

Result<std::vector<const yaml::Node*>> selected_items(const yaml::Node& node, const Names& names) {
    std::vector<const yaml::Node*> chosen;
    if (node.is_null()) return chosen;
    if (!node.is_list()) {
        GPKG_CHECK(select(node, names, chosen));
        return chosen;
    }
    for (const auto& item : node.items()) GPKG_CHECK(select(item, names, chosen));
    return chosen;
}

Result<Tree> evaluate_tree(const yaml::Node& node, const Names& names) {
    return Builder(names).build(node);
}

Value typed_scalar(const yaml::Node& node) {
    const auto& text = node.text();
    if (node.is_quoted()) return Value(text);
    if (text == "true" || text == "True" || text == "TRUE") return Value(true);
    if (text == "false" || text == "False" || text == "FALSE") return Value(false);
    const bool canonical =
        text == "0" || (!text.empty() && text[0] != '0' && text != "-0" && !text.starts_with("-0"));
    const auto number = whole_number<long long>(text);
    return canonical && number ? Value(*number) : Value(text);
}

bool is_plain_float(const yaml::Node& node) {
    if (!node.is_scalar() || node.is_quoted()) return false;
    std::string_view text = node.text();
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    const bool numeric = !text.empty() &&
                         text.find_first_not_of("0123456789.eE+-") == std::string_view::npos &&
                         text.find_first_of("0123456789") != std::string_view::npos;
    if (!numeric || text.find_first_of(".eE") == std::string_view::npos) return false;
    double value = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, value);
    return stop == end && code != std::errc::invalid_argument;
}

Tree merge_trees(const Tree& base, const Tree& over) {
    if (!base.is_map() || !over.is_map()) return over;
    Tree merged = over;
    for (const auto& entry : base.entries) {
        const auto mine = std::find_if(merged.entries.begin(),
                                       merged.entries.end(),
                                       [&](const auto& own) { return own.key == entry.key; });
        if (mine == merged.entries.end()) {
            merged.entries.push_back(entry);
        } else {
            mine->value = merge_trees(entry.value, mine->value);
        }
    }
    return merged;
}

}  // namespace gpkg
