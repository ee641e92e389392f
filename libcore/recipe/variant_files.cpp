#include "libcore/recipe/variant_files.hpp"

#include "libcore/recipe/scope.hpp"
#include "libcore/recipe/tree.hpp"
#include "libcore/yaml/line_selectors.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

namespace gpkg {
namespace {

constexpr std::string_view kCondaBuildName = "conda_build_config.yaml";
/// Beside a recipe, the later over the earlier.
constexpr std::array<std::string_view, 2> kBesideRecipe = {kCondaBuildName, "variants.yaml"};

/// What other tools read from such files: how they pin, what they merge, where they build.
constexpr auto kSettings = std::to_array<std::string_view>({"extend_keys",
                                                            "ignore_build_only_deps",
                                                            "ignore_version",
                                                            "pin_run_as_build",
                                                            "docker_image",
                                                            "migrator_ts",
                                                            "MACOSX_SDK_VERSION_HACK"});

/// `os.environ.get("NAME", "default")` of conda-build's selectors.
Result<Value> python_environ_get(const CallArguments& arguments, const RenderOptions& options) {
    const auto& given = arguments.positional;
    if (given.empty() || given.size() > 2 || given[0].text() == nullptr)
        return fail(ErrorKind::Parse, "os.environ.get() takes a name and an optional default");
    if (options.environment) {
        if (auto value = options.environment(*given[0].text())) return Value(*std::move(value));
    }
    return given.size() == 2 ? given[1] : Value();
}

class VariantFileReader {
public:
    VariantFileReader(const std::string& where, const RenderOptions& options)
        : where_(where), options_(options), scope_(nullptr, options_, none_) {
        for (const auto* name : {"os.environ.get", "environ.get"})
            scope_.define(name, [this](const CallArguments& arguments) {
                return python_environ_get(arguments, options_);
            });
    }

    Result<VariantConfig> read(std::string_view text) {
        std::string selected(text);
        if (where_.ends_with(kCondaBuildName)) {
            const auto holds = [&](std::string_view expression) -> Result<std::optional<bool>> {
                GPKG_TRY(const auto value, evaluate_expression(expression, scope_.names()));
                return value.truthy();
            };
            GPKG_TRY(auto lines, yaml::select_lines(text, where_, holds));
            selected = std::move(lines.text);
        }
        GPKG_TRY(const auto root, yaml::Node::parse(selected, where_));
        if (root.is_null()) return VariantConfig();
        if (!root.is_map())
            return root.fail(
                fmt::format("expected a map of variant keys, found {}", root.kind_name()));
        for (const auto& [key, node] : root.entries()) GPKG_CHECK(read_key(key, node));
        // Tells where keys that go together do not.
        VariantConfig checked;
        if (auto result = checked.override_with(config_); !result)
            return fail(ErrorKind::Parse,
                        fmt::format("{}: {}", where_, result.error().message),
                        result.error().hint);
        return checked;
    }

private:
    Result<void> read_key(const std::string& key, const yaml::Node& node) {
        if (key == "zip_keys") return read_groups(node);
        if (std::find(kSettings.begin(), kSettings.end(), key) != kSettings.end()) return {};
        GPKG_TRY(const auto tree, evaluate_tree(node, scope_.names()));
        GPKG_TRY(const auto texts, texts_of(tree, fmt::format("values of {}", key)));
        if (texts.empty()) return {};
        std::vector<VariantValue> values;
        values.reserve(texts.size());
        for (std::size_t i = 0; i < texts.size(); ++i)
            values.push_back(value_of(tree.is_list() ? tree.items[i] : tree, texts[i]));
        if (!config_.values.emplace(variant_key(key), std::move(values)).second)
            return fail(
                ErrorKind::Parse,
                fmt::format("{}: duplicate variant key {}", node.key_place(), variant_key(key)));
        return {};
    }

    /// A null in a list is the value None.
    static Result<std::vector<std::string>> texts_of(const Tree& tree, const std::string& what) {
        if (!tree.is_list()) return tree.as_texts(what);
        std::vector<std::string> texts;
        texts.reserve(tree.items.size());
        for (const auto& item : tree.items) {
            if (item.is_null()) {
                texts.emplace_back("None");
                continue;
            }
            GPKG_TRY(auto text, item.as_text(what));
            texts.push_back(std::move(text));
        }
        return texts;
    }

    /// conda-build makes texts of its numbers.
    VariantValue value_of(const Tree& tree, const std::string& text) const {
        if (const auto* flag = tree.value.flag()) return {*flag ? "true" : "false", true};
        const bool is_number = tree.value.number() != nullptr && !where_.ends_with(kCondaBuildName);
        return {text, is_number};
    }

    Result<void> read_groups(const yaml::Node& node) {
        if (node.is_null()) return {};
        if (!node.is_list())
            return node.fail(fmt::format("expected a list of groups, found {}", node.kind_name()));
        GPKG_TRY(const auto items, selected_items(node, scope_.names()));
        // A single group need not stand in a list of its own.
        const bool is_one = std::all_of(
            items.begin(), items.end(), [](const auto* item) { return item->is_scalar(); });
        if (is_one && !items.empty()) return read_group(node);
        for (const auto* item : items) GPKG_CHECK(read_group(*item));
        return {};
    }

    Result<void> read_group(const yaml::Node& node) {
        GPKG_TRY(const auto tree, evaluate_tree(node, scope_.names()));
        GPKG_TRY(const auto names, tree.as_texts("variant keys"));
        std::vector<std::string> group;
        for (const auto& name : names) {
            auto key = variant_key(name);
            if (!in_groups_.insert(key).second)
                return node.fail(fmt::format("{} is listed twice in zip_keys", name));
            group.push_back(std::move(key));
        }
        if (group.size() > 1) config_.zip_keys.push_back(std::move(group));
        return {};
    }

    const std::string& where_;
    const RenderOptions& options_;
    const Variant none_;
    Scope scope_;
    VariantConfig config_;
    std::set<std::string> in_groups_;
};

}  // namespace

Result<VariantConfig> parse_variant_file(std::string_view text,
                                         const std::string& where,
                                         const RenderOptions& options) {
    return VariantFileReader(where, options).read(text);
}

Result<VariantConfig> read_variant_file(const fs::path& file, const RenderOptions& options) {
    GPKG_TRY(const auto text, read_file(file));
    return parse_variant_file(text, file.native(), options);
}

bool is_variant_file(const fs::path& file) {
    const auto name = file.filename().native();
    return std::find(kBesideRecipe.begin(), kBesideRecipe.end(), name) != kBesideRecipe.end();
}

Result<VariantConfig> variants_for(const Recipe& recipe, const RenderOptions& options) {
    VariantConfig config;
    for (const auto name : kBesideRecipe) {
        const auto file = recipe.folder() / name;
        std::error_code code;
        if (!fs::exists(file, code)) continue;
        GPKG_TRY(const auto beside, read_variant_file(file, options));
        GPKG_CHECK(config.override_with(beside));
    }
    GPKG_CHECK(config.override_with(options.variants));
    // What is built for which platform is said elsewhere. Where it is built counts as read, as the
    // hashes of conda-forge's packages show.
    for (const auto* key : {"target_platform", "host_platform"}) config.values.erase(key);
    config.values["build_platform"] = {options.build_platform};
    return config;
}

}  // namespace gpkg
