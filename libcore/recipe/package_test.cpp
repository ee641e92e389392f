#include "libcore/recipe/package_test.hpp"

#include "libcore/base/path_glob.hpp"
#include "libcore/base/text.hpp"
#include "libcore/yaml/node.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gpkg {
namespace {

void append_list(std::string& out,
                 std::string_view key,
                 const std::vector<std::string>& items,
                 std::string_view indent) {
    if (items.empty()) return;
    out += fmt::format("{}{}:\n", indent, key);
    for (const auto& item : items) out += fmt::format("{}  - {}\n", indent, yaml::quote(item));
}

constexpr std::array kModuleTests = {
    ModuleTests{PackageTest::Kind::Perl, "perl", "uses", "perl"},
    ModuleTests{PackageTest::Kind::R, "r", "libraries", "r-base"},
    ModuleTests{PackageTest::Kind::Ruby, "ruby", "requires", "ruby"},
};

const ModuleTests& module_tests_of(PackageTest::Kind kind) {
    return *std::find_if(kModuleTests.begin(), kModuleTests.end(), [&](const auto& one) {
        return one.kind == kind;
    });
}

std::string test_text(const PackageTest& test) {
    std::string out;
    switch (test.kind) {
    case PackageTest::Kind::Script:
        append_list(out, "script", test.commands, "  ");
        if (test.commands.empty()) out += "  script: []\n";
        if (!test.requirements.empty()) {
            out += "  requirements:\n";
            append_list(out, "run", test.requirements, "    ");
        }
        if (!test.source_files.empty() || !test.recipe_files.empty()) {
            out += "  files:\n";
            append_list(out, "source", test.source_files, "    ");
            append_list(out, "recipe", test.recipe_files, "    ");
        }
        break;
    case PackageTest::Kind::Python:
        out += "  python:\n";
        append_list(out, "imports", test.imports, "    ");
        out += fmt::format("    pip_check: {}\n", test.pip_check);
        append_list(out, "python_version", test.python_versions, "    ");
        break;
    case PackageTest::Kind::Perl:
    case PackageTest::Kind::R:
    case PackageTest::Kind::Ruby: {
        const auto& of = module_tests_of(test.kind);
        out += fmt::format("  {}:\n", of.key);
        append_list(out, of.modules, test.imports, "    ");
        break;
    }
    case PackageTest::Kind::Contents:
        out += "  package_contents:\n";
        if (test.absent_files.empty()) {
            append_list(out, "files", test.files, "    ");
        } else {
            out += "    files:\n";
            append_list(out, "exists", test.files, "      ");
            append_list(out, "not_exists", test.absent_files, "      ");
        }
        append_list(out, "bin", test.bin, "    ");
        append_list(out, "lib", test.lib, "    ");
        append_list(out, "include", test.include, "    ");
        append_list(out, "site_packages", test.site_packages, "    ");
        if (test.strict) out += "    strict: true\n";
        break;
    case PackageTest::Kind::Downstream:
        out += fmt::format("  downstream: {}\n", yaml::quote(test.downstream));
        break;
    }
    out[0] = '-';
    return out;
}

Result<std::vector<std::string>> texts(const yaml::Node& node, std::string_view key) {
    const auto* value = node.find(key);
    if (value == nullptr) return std::vector<std::string>();
    return value->as_texts("strings");
}

Result<PackageTest> parse_test(const yaml::Node& node) {
    PackageTest test;
    if (node.find("script") != nullptr) {
        const auto& script = *node.find("script");
        // Other builders write the script as they write build.script: a map with its content.
        const auto* content = script.is_map() ? script.find("content") : &script;
        if (content == nullptr) return script.fail("the script has no content");
        GPKG_TRY(test.commands, content->as_texts("commands"));
        if (const auto* requirements = node.find("requirements")) {
            GPKG_TRY(test.requirements, texts(*requirements, "run"));
        }
        if (const auto* files = node.find("files")) {
            GPKG_TRY(test.source_files, texts(*files, "source"));
            GPKG_TRY(test.recipe_files, texts(*files, "recipe"));
        }
        return test;
    }
    if (const auto* python = node.find("python")) {
        test.kind = PackageTest::Kind::Python;
        GPKG_TRY(test.imports, texts(*python, "imports"));
        if (const auto* check = python->find("pip_check")) {
            GPKG_TRY(test.pip_check, check->as_bool("pip_check"));
        }
        GPKG_TRY(test.python_versions, texts(*python, "python_version"));
        return test;
    }
    for (const auto& of : kModuleTests) {
        const auto* modules = node.find(of.key);
        if (modules == nullptr) continue;
        if (!modules->is_map())
            return modules->fail(fmt::format("expected {} in a map", of.modules));
        test.kind = of.kind;
        GPKG_TRY(test.imports, texts(*modules, of.modules));
        return test;
    }
    if (const auto* contents = node.find("package_contents")) {
        test.kind = PackageTest::Kind::Contents;
        if (const auto* files = contents->find("files"); files != nullptr && files->is_map()) {
            GPKG_TRY(test.files, texts(*files, "exists"));
            GPKG_TRY(test.absent_files, texts(*files, "not_exists"));
        } else {
            GPKG_TRY(test.files, texts(*contents, "files"));
        }
        GPKG_TRY(test.bin, texts(*contents, "bin"));
        GPKG_TRY(test.lib, texts(*contents, "lib"));
        GPKG_TRY(test.include, texts(*contents, "include"));
        GPKG_TRY(test.site_packages, texts(*contents, "site_packages"));
        if (const auto* strict = contents->find("strict")) {
            GPKG_TRY(test.strict, strict->as_bool("strict"));
        }
        return test;
    }
    if (const auto* downstream = node.find("downstream")) {
        test.kind = PackageTest::Kind::Downstream;
        GPKG_TRY(test.downstream, downstream->as_text("a spec"));
        return test;
    }
    return node.fail("unknown kind of test");
}

bool is_library_file(std::string_view name) {
    return name.ends_with(".so") || name.find(".so.") != std::string_view::npos ||
           name.ends_with(".a") || name.ends_with(".dylib");
}

/// The globs of each thing that must be there, of which one has to match.
std::vector<std::vector<std::string>> wanted_files(const PackageTest& test) {
    std::vector<std::vector<std::string>> wanted;
    for (const auto& glob : test.files) wanted.push_back({glob});
    for (const auto& name : test.bin) wanted.push_back({"bin/" + name});
    for (const auto& name : test.include) wanted.push_back({"include/" + name});
    for (const auto& name : test.lib) {
        if (is_library_file(name)) {
            wanted.push_back({"lib/" + name});
            continue;
        }
        const auto library = fmt::format("lib/lib{}", name);
        wanted.push_back({library + ".so", library + ".so.*", library + ".a", library + "*.dylib"});
    }
    for (const auto& name : test.site_packages) {
        // A module's name, or the path of a file.
        const auto last = name.substr(name.find_last_of("./") + 1);
        const bool is_path = name.find('/') != std::string::npos || last == "py" || last == "pth";
        auto module = name;
        std::replace(module.begin(), module.end(), '.', '/');
        std::vector<std::string> globs;
        // Of noarch packages they lie in a folder of their own (CEP 34).
        for (const auto* folder : {"lib/python*/site-packages/", "site-packages/"}) {
            if (is_path) {
                globs.push_back(folder + name);
                continue;
            }
            for (const auto* ending : {".py", "/__init__.py", ".*.so", ".so"})
                globs.push_back(fmt::format("{}{}{}", folder, module, ending));
        }
        wanted.push_back(std::move(globs));
    }
    return wanted;
}

}  // namespace

std::string tests_text(const std::vector<PackageTest>& tests) {
    std::string out;
    for (const auto& test : tests) out += test_text(test);
    return out;
}

Result<std::vector<PackageTest>> read_tests(const fs::path& unpacked) {
    std::vector<PackageTest> tests;
    const auto file = unpacked / "info/tests/tests.yaml";
    const auto text = read_file(file);
    if (!text && text.error().kind == ErrorKind::NotFound) return tests;
    if (!text) return pass(text.error());
    GPKG_TRY(const auto root, yaml::Node::parse(*text, file.native()));
    if (root.is_null()) return tests;
    if (!root.is_list())
        return root.fail(fmt::format("expected a list of tests, found {}", root.kind_name()));
    for (const auto& item : root.items()) {
        GPKG_TRY(auto test, parse_test(item));
        tests.push_back(std::move(test));
    }
    return tests;
}

std::span<const ModuleTests> module_tests() { return kModuleTests; }

std::vector<std::vector<std::string>> test_environments(const PackageTest& test) {
    std::vector<std::vector<std::string>> environments;
    switch (test.kind) {
    case PackageTest::Kind::Python:
        for (const auto& version : test.python_versions)
            environments.push_back({"python " + version});
        break;
    case PackageTest::Kind::Perl:
    case PackageTest::Kind::R:
    case PackageTest::Kind::Ruby:
        environments.push_back({std::string(module_tests_of(test.kind).package)});
        break;
    case PackageTest::Kind::Downstream: environments.push_back({test.downstream}); break;
    case PackageTest::Kind::Script:
    case PackageTest::Kind::Contents: break;
    }
    if (environments.empty()) environments.push_back(test.requirements);
    return environments;
}

std::string test_script(const PackageTest& test) {
    std::string out;
    switch (test.kind) {
    case PackageTest::Kind::Script:
        for (const auto& command : test.commands) out += command + "\n";
        return out;
    case PackageTest::Kind::Python:
        for (const auto& module : test.imports)
            out += fmt::format("python -c {}\n", shell_word("import " + module));
        if (test.pip_check)
            out += "if python -c 'import pip' 2>/dev/null; then python -m pip check; fi\n";
        return out;
    case PackageTest::Kind::Perl:
        for (const auto& module : test.imports)
            out += fmt::format("perl -e {}\n", shell_word(fmt::format("use {};", module)));
        return out;
    case PackageTest::Kind::R:
        for (const auto& module : test.imports)
            out += fmt::format("Rscript -e {}\n", shell_word(fmt::format("library({})", module)));
        return out;
    case PackageTest::Kind::Ruby:
        for (const auto& module : test.imports)
            out += fmt::format("ruby -e {}\n", shell_word(fmt::format("require '{}'", module)));
        return out;
    case PackageTest::Kind::Contents:
    case PackageTest::Kind::Downstream: return out;
    }
    return out;
}

std::vector<std::string> content_faults(const PackageTest& test,
                                        const std::vector<std::string>& paths) {
    const auto matches = [&](const std::vector<std::string>& globs) {
        return std::any_of(paths.begin(), paths.end(), [&](const auto& path) {
            return any_path_glob_matches(globs, path);
        });
    };
    std::vector<std::string> faults;
    std::vector<std::string> named;
    for (const auto& globs : wanted_files(test)) {
        if (!matches(globs)) faults.push_back("no file matches " + join_or(globs));
        named.insert(named.end(), globs.begin(), globs.end());
    }
    for (const auto& glob : test.absent_files) {
        if (matches({glob})) faults.push_back("unwanted file: " + glob);
    }
    for (const auto& path : paths) {
        if (test.strict && !any_path_glob_matches(named, path))
            faults.push_back(fmt::format("unexpected file (strict): {}", path));
    }
    return faults;
}

}  // namespace gpkg
