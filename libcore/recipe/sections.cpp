#include "libcore/recipe/sections.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/recipe/dependency.hpp"
#include "libcore/recipe/pin.hpp"
#include "libcore/recipe/sections_internal.hpp"
#include "libcore/recipe/spdx.hpp"
#include "libcore/spec/names.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg {
namespace sections {

Result<void> take(const Tree& tree, std::string_view key, std::string& target) {
    if (const auto* value = tree.find(key)) {
        GPKG_TRY(target, value->as_text(fmt::format("a string for {}", key)));
    }
    return {};
}

Result<void> take(const Tree& tree, std::string_view key, std::vector<std::string>& target) {
    if (const auto* value = tree.find(key)) {
        GPKG_TRY(target, value->as_texts(fmt::format("strings for {}", key)));
    }
    return {};
}

Result<void> take(const Tree& tree, std::string_view key, bool& target) {
    if (const auto* value = tree.find(key)) {
        GPKG_TRY(target, value->as_bool(key));
    }
    return {};
}

Result<void> refuse(const Tree& tree,
                    std::string_view what,
                    std::initializer_list<std::string_view> keys) {
    for (const auto key : keys) {
        if (const auto* value = tree.find(key))
            return ::gpkg::fail(
                ErrorKind::Unsupported,
                fmt::format("{}: '{}' in {} is not supported", value->at->key_place(), key, what));
    }
    return {};
}

Result<std::vector<std::string>> read_specs(const Tree* tree, SpecPlaces* places) {
    std::vector<std::string> specs;
    if (tree == nullptr || tree->is_null()) return specs;
    const auto add = [&](const Tree& item) -> Result<void> {
        GPKG_TRY(const auto text, item.as_text("a dependency"));
        if (is_open_pin(text)) {
            specs.push_back(text);
            return {};
        }
        auto spec = dependency_text(text);
        if (!spec)
            return ::gpkg::fail(spec.error().kind,
                                fmt::format("{}: {}", item.at->place(), spec.error().message),
                                spec.error().hint);
        if (places != nullptr) places->by_spec.emplace(*spec, item.at->place());
        specs.push_back(*std::move(spec));
        return {};
    };
    if (!tree->is_list()) {
        GPKG_CHECK(add(*tree));
        return specs;
    }
    for (const auto& item : tree->items) GPKG_CHECK(add(item));
    return specs;
}

}  // namespace sections

namespace {

using namespace sections;

Result<RunExports> read_exports(const Tree& tree) {
    RunExports exports;
    if (!tree.is_map()) {
        GPKG_TRY(exports.weak, read_specs(&tree));
        return exports;
    }
    GPKG_CHECK(tree.only_keys(
        "run_exports", {"weak", "strong", "noarch", "weak_constraints", "strong_constraints"}));
    GPKG_TRY(exports.weak, read_specs(tree.find("weak")));
    GPKG_TRY(exports.strong, read_specs(tree.find("strong")));
    GPKG_TRY(exports.noarch, read_specs(tree.find("noarch")));
    GPKG_TRY(exports.weak_constrains, read_specs(tree.find("weak_constraints")));
    GPKG_TRY(exports.strong_constrains, read_specs(tree.find("strong_constraints")));
    return exports;
}

Result<std::map<std::string, std::vector<std::string>>> read_extras(const Tree& tree) {
    if (!tree.is_map()) return tree.fail("expected a map of groups for extras");
    std::map<std::string, std::vector<std::string>> groups;
    for (const auto& [name, specs] : tree.entries) {
        if (!is_extra_name(name))
            return ::gpkg::fail(
                ErrorKind::Parse,
                fmt::format("{}: invalid name of an extra: '{}'", specs.at->key_place(), name),
                "use at most 64 lower case letters, digits and _ . + -");
        GPKG_TRY(groups[name], read_specs(&specs));
    }
    return groups;
}

nlohmann::json to_json(const Value& value) {
    if (const auto* flag = value.flag()) return *flag;
    if (const auto* number = value.number()) return *number;
    if (const auto* text = value.text()) return *text;
    if (const auto* list = value.list()) {
        auto array = nlohmann::json::array();
        for (const auto& item : *list) array.push_back(to_json(item));
        return array;
    }
    return nullptr;
}

nlohmann::json to_json(const Tree& tree) {
    if (tree.is_map()) {
        auto object = nlohmann::json::object();
        for (const auto& [key, value] : tree.entries) object[key] = to_json(value);
        return object;
    }
    if (tree.is_list()) {
        auto array = nlohmann::json::array();
        for (const auto& item : tree.items) array.push_back(to_json(item));
        return array;
    }
    return to_json(tree.value);
}

}  // namespace

Result<RecipeRequirements> read_requirements(const Tree& tree) {
    GPKG_CHECK(tree.only_keys("requirements",
                              {"build",
                               "host",
                               "run",
                               "run_constraints",
                               "run_exports",
                               "ignore_run_exports",
                               "extras"}));
    RecipeRequirements requirements;
    if (const auto* extras = tree.find("extras")) {
        GPKG_TRY(requirements.extras, read_extras(*extras));
    }
    GPKG_TRY(requirements.build, read_specs(tree.find("build"), &requirements.build_places));
    GPKG_TRY(requirements.host, read_specs(tree.find("host"), &requirements.host_places));
    GPKG_TRY(requirements.run, read_specs(tree.find("run"), &requirements.run_places));
    GPKG_TRY(requirements.run_constraints, read_specs(tree.find("run_constraints")));
    if (const auto* exports = tree.find("run_exports")) {
        GPKG_TRY(requirements.run_exports, read_exports(*exports));
    }
    if (const auto* ignored = tree.find("ignore_run_exports")) {
        GPKG_CHECK(ignored->only_keys("ignore_run_exports", {"by_name", "from_package"}));
        GPKG_CHECK(take(*ignored, "by_name", requirements.ignore_run_exports_by_name));
        GPKG_CHECK(take(*ignored, "from_package", requirements.ignore_run_exports_from_package));
    }
    return requirements;
}

Result<RecipeAbout> read_about(const Tree& tree) {
    GPKG_CHECK(tree.only_keys("about",
                              {"summary",
                               "description",
                               "license",
                               "license_family",
                               "license_file",
                               "license_url",
                               "homepage",
                               "repository",
                               "documentation"}));
    RecipeAbout about;
    GPKG_CHECK(take(tree, "summary", about.summary));
    GPKG_CHECK(take(tree, "description", about.description));
    GPKG_CHECK(take(tree, "license", about.license));
    if (const auto* license = tree.find("license"); license != nullptr && !license->is_null()) {
        if (auto fault = license_fault(about.license))
            return license->fail(std::move(fault->message), std::move(fault->hint));
    }
    GPKG_CHECK(take(tree, "license_family", about.license_family));
    GPKG_CHECK(take(tree, "license_file", about.license_files));
    GPKG_CHECK(take(tree, "homepage", about.homepage));
    GPKG_CHECK(take(tree, "repository", about.repository));
    GPKG_CHECK(take(tree, "documentation", about.documentation));
    for (const auto& file : about.license_files) {
        if (!is_safe_relative(file))
            return tree.find("license_file")
                ->fail(fmt::format("the licence file '{}' must be a relative path", file));
    }
    return about;
}

std::string tree_json(const Tree& tree) { return json_text(to_json(tree)); }

}  // namespace gpkg
