#include "libcore/recipe/output_identity.hpp"

#include "libcore/base/text.hpp"
#include "libcore/recipe/tree.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/version.hpp"

#include <array>
#include <fmt/format.h>

namespace gpkg {
namespace {

constexpr std::array<std::string_view, 9> kOutputKeys = {
    "package", "staging", "inherit", "source", "build", "requirements", "tests", "about", "extra"};

/// What a staging output cannot have (CEP 41), as it makes no package.
Result<void> check_staging(const yaml::Node& node) {
    const auto refuse = [](const yaml::Node& value, std::string_view key) {
        return fail(ErrorKind::Parse,
                    fmt::format("{}: a staging output cannot have '{}'", value.key_place(), key),
                    "move it to the packages that inherit from it");
    };
    for (const auto* key : {"tests", "extra"}) {
        if (const auto* value = node.find(key)) return refuse(*value, key);
    }
    const auto* build = node.find("build");
    if (build != nullptr && build->is_map()) {
        for (const auto& [key, value] : build->entries()) {
            if (key != "script") return refuse(value, "build." + key);
        }
    }
    const auto* needs = node.find("requirements");
    if (needs == nullptr || !needs->is_map()) return {};
    for (const auto* key : {"run", "run_constraints", "run_exports", "extras"}) {
        if (const auto* value = needs->find(key))
            return refuse(*value, std::string("requirements.") + key);
    }
    return {};
}

Result<void> check_name(const Tree& at, const std::string& name) {
    if (is_package_name(name) && to_lower(name) == name) return {};
    return at.fail(fmt::format("invalid package name '{}'", name),
                   "use lower case letters, digits and single - _ . between them");
}

Result<OutputIdentity> read_staging(const yaml::Node& at, const Names& names) {
    GPKG_TRY(const auto tree, evaluate_tree(at, names));
    GPKG_CHECK(tree.only_keys("staging", {"name"}));
    const auto* name = tree.find("name");
    if (name == nullptr) return at.fail("the staging output has no name");
    OutputIdentity identity;
    GPKG_TRY(identity.name, name->as_text("a name"));
    GPKG_CHECK(check_name(*name, identity.name));
    return identity;
}

}  // namespace

Result<void> check_output(const yaml::Node& node) {
    if (!node.is_map())
        return node.fail(fmt::format("expected an output, found {}", node.kind_name()));
    for (const auto& [key, value] : node.entries())
        GPKG_CHECK(check_key(value, key, "an output", kOutputKeys));
    const auto* staging = node.find("staging");
    if ((node.find("package") == nullptr) == (staging == nullptr))
        return node.fail("an output needs either 'package' or 'staging'");
    return staging == nullptr ? Result<void>{} : check_staging(node);
}

Result<OutputIdentity> read_identity(const Recipe& recipe,
                                     const yaml::Node& node,
                                     const Names& names) {
    if (const auto* staging = node.find("staging")) return read_staging(*staging, names);
    const auto& at = *node.find("package");
    GPKG_TRY(auto package, evaluate_tree(at, names));
    GPKG_CHECK(package.only_keys("package", {"name", "version"}));
    if (const auto* shared = recipe.root.find("recipe")) {
        GPKG_TRY(const auto base, evaluate_tree(*shared, names));
        GPKG_CHECK(base.only_keys("recipe", {"name", "version"}));
        package = merge_trees(base, package);
    }
    const auto* name = package.find("name");
    const auto* version = package.find("version");
    if (name == nullptr) return at.fail("the package has no name");
    if (version == nullptr)
        return at.fail("the package has no version", "add version: \"1.0\" below package:");
    OutputIdentity identity;
    GPKG_TRY(identity.name, name->as_text("a package name"));
    GPKG_TRY(identity.version, version->as_version("the version"));
    GPKG_CHECK(check_name(*name, identity.name));
    const auto parsed = Version::parse(identity.version);
    if (!parsed) return version->fail(parsed.error().message, parsed.error().hint);
    if (identity.version.find('-') != std::string::npos || identity.version.size() > 64)
        return version->fail(
            fmt::format("invalid version '{}': it is part of a file name", identity.version),
            "use _ instead of -, and at most 64 characters");
    identity.version = parsed->to_string();
    return identity;
}

}  // namespace gpkg
