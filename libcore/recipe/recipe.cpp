#include "libcore/recipe/recipe.hpp"

#include "libcore/recipe/tree.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gpkg {
namespace {

constexpr std::array<std::string_view, 12> kRecipeKeys = {"$schema",
                                                          "schema_version",
                                                          "context",
                                                          "package",
                                                          "recipe",
                                                          "outputs",
                                                          "source",
                                                          "build",
                                                          "requirements",
                                                          "tests",
                                                          "about",
                                                          "extra"};

constexpr auto kRequirementKeys = std::to_array<std::string_view>(
    {"host", "run", "run_constraints", "run_exports", "ignore_run_exports", "extras"});

Result<void> check_shape(const yaml::Node& root) {
    if (!root.is_map())
        return root.fail(fmt::format("expected a recipe, found {}", root.kind_name()));
    for (const auto& [key, value] : root.entries()) {
        auto checked = check_key(value, key, "a recipe", kRecipeKeys);
        if (!checked && std::ranges::find(kRequirementKeys, key) != kRequirementKeys.end())
            checked.error().hint = fmt::format("{} belongs below requirements:", key);
        GPKG_CHECK(checked);
    }

    if (const auto* version = root.find("schema_version")) {
        GPKG_TRY(const auto number, version->as_int("schema_version"));
        if (number != 1)
            return fail(ErrorKind::Unsupported,
                        fmt::format("{}: schema_version {} is not supported; gpkg reads 1",
                                    version->place(),
                                    number));
    }
    const bool many = root.find("outputs") != nullptr;
    const auto* package = root.find("package");
    if (many && package != nullptr)
        return fail(ErrorKind::Parse,
                    fmt::format("{}: a recipe cannot have both 'package' and 'outputs'",
                                package->key_place()),
                    "put the shared name and version under 'recipe'");
    if (!many && package == nullptr)
        return root.fail("the recipe has neither 'package' nor 'outputs'");
    const auto* recipe = root.find("recipe");
    if (!many && recipe != nullptr)
        return fail(ErrorKind::Parse,
                    fmt::format("{}: 'recipe' is only allowed with 'outputs'", recipe->key_place()),
                    "did you mean 'package'?");
    if (!many) return {};
    // CEP 41 forbids them; to ignore them makes empty packages.
    const auto refuse = [](const yaml::Node* value, std::string_view key) -> Result<void> {
        if (value == nullptr) return {};
        return fail(
            ErrorKind::Parse,
            fmt::format("{}: '{}' is not allowed beside 'outputs'", value->key_place(), key),
            "move it to an output; if several packages need it, to a staging output");
    };
    for (const auto* key : {"tests", "requirements"}) GPKG_CHECK(refuse(root.find(key), key));
    const auto* build = root.find("build");
    return build == nullptr ? Result<void>{} : refuse(build->find("script"), "build.script");
}

/// Of templates as conda-build writes them, which are not YAML.
std::string hint_at_templates(std::string_view text) {
    if (text.find("{%") != std::string_view::npos)
        return "'{%' blocks belong to conda-build's meta.yaml; write values below context: and use "
               "them as ${{ name }}";
    for (auto at = text.find("{{"); at != std::string_view::npos; at = text.find("{{", at + 1)) {
        if (at == 0 || text[at - 1] != '$') return "write ${{ name }} in place of {{ name }}";
    }
    return "";
}

}  // namespace

Result<Recipe> load_recipe(const fs::path& path) {
    std::error_code ignored;
    auto file = fs::absolute(path, ignored).lexically_normal();
    if (!file.has_filename()) file = file.parent_path();
    if (fs::is_directory(file, ignored)) file /= "recipe.yaml";
    auto text = read_file(file, kLongestWritten);
    if (!text) return pass(std::move(text).error().while_doing("cannot read the recipe"));
    return parse_recipe(*std::move(text), file);
}

Result<Recipe> parse_recipe(std::string text, const fs::path& file) {
    auto root = yaml::Node::parse(text, file.native());
    if (!root) {
        auto error = std::move(root).error();
        if (error.hint.empty()) error.hint = hint_at_templates(text);
        return pass(std::move(error));
    }
    GPKG_CHECK(check_shape(*root));
    return Recipe{file, std::move(text), *std::move(root)};
}

}  // namespace gpkg
