// `tests:` of a recipe.

#include "libcore/base/text.hpp"
#include "libcore/recipe/sections.hpp"
#include "libcore/recipe/sections_internal.hpp"

#include <fmt/format.h>

namespace gpkg {
namespace {

using namespace sections;

/// A script as a map, as lines for bash.
Result<std::vector<std::string>> commands_of(const Tree& tree, const fs::path& folder) {
    GPKG_CHECK(refuse(tree, "a test's script", {"secrets"}));
    GPKG_TRY(const auto script, read_script_map(tree, "a test's script", folder));
    std::vector<std::string> commands;
    for (const auto& [name, value] : script.environment)
        commands.push_back(fmt::format("export {}={}", name, shell_word(value)));
    if (!script.folder.empty()) commands.push_back("cd " + shell_word(script.folder));
    auto content = script.content;
    if (!script.file.empty()) {
        GPKG_TRY(content, read_file(script.file));
    }
    if (!content.ends_with('\n')) content += '\n';
    if (script.interpreter == "python") {
        content = fmt::format("python - <<'END_OF_TEST'\n{}END_OF_TEST", content);
    } else if (script.interpreter == "bash") {
        content.pop_back();
    } else {
        return tree.unsupported(fmt::format("unsupported test interpreter '{}'; use bash or python",
                                            script.interpreter));
    }
    commands.push_back(std::move(content));
    return commands;
}

Result<PackageTest> script_test(const Tree& tree, const fs::path& folder) {
    GPKG_CHECK(tree.only_keys("a test", {"script", "requirements", "files"}));
    PackageTest test;
    const auto* script = tree.find("script");
    if (script->is_map()) {
        GPKG_TRY(test.commands, commands_of(*script, folder));
    } else {
        GPKG_TRY(test.commands, script->as_texts("commands"));
    }
    if (const auto* requirements = tree.find("requirements")) {
        GPKG_CHECK(requirements->only_keys("a test's requirements", {"run", "build"}));
        GPKG_TRY(test.requirements, read_specs(requirements->find("run")));
        // What runs where the test does is here the same machine.
        GPKG_TRY(const auto build, read_specs(requirements->find("build")));
        test.requirements.insert(test.requirements.end(), build.begin(), build.end());
    }
    if (const auto* files = tree.find("files")) {
        GPKG_CHECK(files->only_keys("a test's files", {"source", "recipe"}));
        GPKG_CHECK(take(*files, "source", test.source_files));
        GPKG_CHECK(take(*files, "recipe", test.recipe_files));
    }
    return test;
}

Result<PackageTest> read_test(const Tree& tree, const fs::path& folder) {
    PackageTest test;
    if (tree.find("script") != nullptr) return script_test(tree, folder);
    if (const auto* python = tree.find("python")) {
        GPKG_CHECK(tree.only_keys("a test", {"python"}));
        GPKG_CHECK(python->only_keys("a python test", {"imports", "pip_check", "python_version"}));
        GPKG_CHECK(take(*python, "python_version", test.python_versions));
        test.kind = PackageTest::Kind::Python;
        GPKG_CHECK(take(*python, "imports", test.imports));
        GPKG_CHECK(take(*python, "pip_check", test.pip_check));
        return test;
    }
    for (const auto& of : module_tests()) {
        const auto* modules = tree.find(of.key);
        if (modules == nullptr) continue;
        GPKG_CHECK(tree.only_keys("a test", {of.key}));
        GPKG_CHECK(modules->only_keys(fmt::format("a test of {}", of.key), {of.modules}));
        test.kind = of.kind;
        GPKG_CHECK(take(*modules, of.modules, test.imports));
        return test;
    }
    if (const auto* contents = tree.find("package_contents")) {
        GPKG_CHECK(tree.only_keys("a test", {"package_contents"}));
        GPKG_CHECK(contents->only_keys(
            "package_contents", {"files", "bin", "lib", "include", "site_packages", "strict"}));
        test.kind = PackageTest::Kind::Contents;
        GPKG_CHECK(take(*contents, "strict", test.strict));
        if (const auto* files = contents->find("files"); files != nullptr && files->is_map()) {
            GPKG_CHECK(files->only_keys("files", {"exists", "not_exists"}));
            GPKG_CHECK(take(*files, "exists", test.files));
            GPKG_CHECK(take(*files, "not_exists", test.absent_files));
        } else {
            GPKG_CHECK(take(*contents, "files", test.files));
        }
        GPKG_CHECK(take(*contents, "bin", test.bin));
        GPKG_CHECK(take(*contents, "lib", test.lib));
        GPKG_CHECK(take(*contents, "include", test.include));
        GPKG_CHECK(take(*contents, "site_packages", test.site_packages));
        return test;
    }
    if (tree.find("downstream") != nullptr) {
        GPKG_CHECK(tree.only_keys("a test", {"downstream"}));
        test.kind = PackageTest::Kind::Downstream;
        GPKG_TRY(const auto specs, read_specs(tree.find("downstream")));
        if (specs.size() != 1) return tree.fail("a downstream test needs exactly one package");
        test.downstream = specs.front();
        return test;
    }
    GPKG_CHECK(tree.only_keys(
        "a test", {"script", "python", "perl", "r", "ruby", "package_contents", "downstream"}));
    return tree.fail(
        "a test needs one of script, python, perl, r, ruby, package_contents and downstream");
}

}  // namespace

Result<std::vector<PackageTest>> read_recipe_tests(const Tree& tree, const fs::path& folder) {
    std::vector<PackageTest> tests;
    if (tree.is_null()) return tests;
    if (!tree.is_list())
        return tree.fail(fmt::format("expected a list of tests, found {}", tree.kind_name()));
    for (const auto& item : tree.items) {
        if (!item.is_map())
            return item.fail(fmt::format("expected a test, found {}", item.kind_name()));
        GPKG_TRY(auto test, read_test(item, folder));
        tests.push_back(std::move(test));
    }
    return tests;
}

}  // namespace gpkg
