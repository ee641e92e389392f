#include "libcore/build/recipe/evaluate_sections.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>

namespace gpkg {
namespace {

bool many(const Recipe& recipe) { return recipe.root.find("outputs") != nullptr; }

Result<Tree> section(const Recipe& recipe,
                     const yaml::Node& node,
                     std::string_view key,
                     const Names& names,
                     bool inherited) {
    Tree tree;
    tree.at = &node;
    if (const auto* own = node.find(key)) {
        GPKG_TRY(tree, evaluate_tree(*own, names));
    }
    const auto* shared = many(recipe) && inherited ? recipe.root.find(key) : nullptr;
    if (shared == nullptr) return tree;
    GPKG_TRY(const auto base, evaluate_tree(*shared, names));
    return tree.is_null() ? base : merge_trees(base, tree);
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
Result<Tree> build_section(const yaml::Node& node, const Names& names, bool shared) {
    Tree tree;
    tree.at = &node;
    const auto* build = node.find("build");
    if (build == nullptr || build->is_null()) return tree;
    tree.at = build;
    if (!build->is_map())
        return build->fail(fmt::format("expected a map for build, found {}", build->kind_name()));
    tree.kind = Tree::Kind::Map;
    for (const auto& [key, value] : build->entries()) {
        if (key == "string" || key == "skip" || (shared && key == "script")) continue;
        GPKG_TRY(auto child,
                 evaluate_tree(value, key == "script" ? with_script_variables(names) : names));
        if (!child.is_null()) tree.entries.push_back({key, std::move(child)});
    }
    return tree;
}

}  // namespace

Result<Sections> evaluate_sections(const Recipe& recipe,
                                   const yaml::Node& node,
                                   const Names& names) {
    Sections sections;
    GPKG_TRY(sections.source, section(recipe, node, "source", names, true));
    GPKG_TRY(sections.about, section(recipe, node, "about", names, true));
    GPKG_TRY(sections.extra, section(recipe, node, "extra", names, true));
    GPKG_TRY(sections.requirements, section(recipe, node, "requirements", names, false));
    GPKG_TRY(sections.tests, section(recipe, node, "tests", with_script_variables(names), false));
    GPKG_TRY(sections.build, build_section(node, names, false));
    if (many(recipe)) {
        GPKG_TRY(const auto base, build_section(recipe.root, names, true));
        sections.build = sections.build.is_null() ? base : merge_trees(base, sections.build);
    }
    for (const auto* at : {&node, &recipe.root}) {
        const auto* build = at->find("build");
        if (build != nullptr && sections.build_string == nullptr)
            sections.build_string = build->find("string");
    }
    return sections;
}

}  // namespace gpkg
