#include "libcore/recipe/evaluate_sections.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>

namespace gpkg {
namespace {

bool many(const Recipe& recipe) { return recipe.root.find("outputs") != nullptr; }

Tree merged(const Tree& base, Tree over) {
    if (base.is_null()) return over;
    return over.is_null() ? base : merge_trees(base, over);
}

/// The section `key` of `nodes`, a later one laid upon an earlier one.
Result<Tree> section(const std::vector<const yaml::Node*>& nodes,
                     std::string_view key,
                     const Names& names) {
    Tree tree;
    tree.at = nodes.back();
    for (const auto* node : nodes) {
        const auto* own = node->find(key);
        if (own == nullptr) continue;
        GPKG_TRY(auto next, evaluate_tree(*own, names));
        tree = merged(tree, std::move(next));
    }
    return tree;
}

/// Scripts may name the variables that they are given as templates: "${{ PYTHON }} -m pip". What
/// they hold is known when they run, and the shell then puts it there.
Names with_script_variables(const Names& names) {
    constexpr auto kVariables = std::to_array<std::string_view>({"PREFIX",
                                                                 "BUILD_PREFIX",
                                                                 "PYTHON",
                                                                 "PY_VER",
                                                                 "SP_DIR",
                                                                 "STDLIB_DIR",
                                                                 "SRC_DIR",
                                                                 "RECIPE_DIR",
                                                                 "CPU_COUNT",
                                                                 "PKG_NAME",
                                                                 "PKG_VERSION",
                                                                 "PKG_BUILDNUM",
                                                                 "PKG_HASH",
                                                                 "SHLIB_EXT"});
    auto extended = names;
    extended.variable = [&names,
                         kVariables](std::string_view name) -> Result<std::optional<Value>> {
        GPKG_TRY(auto value, names.variable(name));
        if (value || std::find(kVariables.begin(), kVariables.end(), name) == kVariables.end())
            return value;
        return std::optional(Value(fmt::format("${{{}}}", name)));
    };
    return extended;
}

/// `build` without its `string`, which may name the hash and is evaluated last.
Result<Tree> build_section(const yaml::Node& node, const Names& names, bool inherited) {
    Tree tree;
    tree.at = &node;
    const auto* build = node.find("build");
    if (build == nullptr || build->is_null()) return tree;
    tree.at = build;
    if (!build->is_map())
        return build->fail(fmt::format("expected a map for build, found {}", build->kind_name()));
    tree.kind = Tree::Kind::Map;
    for (const auto& [key, value] : build->entries()) {
        if (key == "string" || key == "skip" || (inherited && key == "script")) continue;
        GPKG_TRY(auto child,
                 evaluate_tree(value, key == "script" ? with_script_variables(names) : names));
        if (!child.is_null()) tree.entries.push_back({key, std::move(child)});
    }
    return tree;
}

}  // namespace

Result<Sections> evaluate_sections(const Recipe& recipe,
                                   const yaml::Node& node,
                                   const std::vector<const yaml::Node*>& ancestors,
                                   const Names& names) {
    std::vector<const yaml::Node*> line;
    if (many(recipe)) line.push_back(&recipe.root);
    line.insert(line.end(), ancestors.begin(), ancestors.end());
    line.push_back(&node);

    Sections sections;
    const std::vector only_own{&node};
    GPKG_TRY(sections.source, section(ancestors.empty() ? line : only_own, "source", names));
    GPKG_TRY(sections.about, section(line, "about", names));
    GPKG_TRY(sections.extra, section(line, "extra", names));
    GPKG_TRY(sections.requirements, section(only_own, "requirements", names));
    GPKG_TRY(sections.tests, section(only_own, "tests", with_script_variables(names)));
    for (const auto* at : line) {
        GPKG_TRY(auto next, build_section(*at, names, at != &node));
        sections.build = merged(sections.build, std::move(next));
        const auto* build = at->find("build");
        const auto* string = build == nullptr ? nullptr : build->find("string");
        if (string != nullptr) sections.build_string = string;
    }
    return sections;
}

}  // namespace gpkg
