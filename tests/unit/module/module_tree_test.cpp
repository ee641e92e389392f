#include "libcore/module/module_tree.hpp"

#include "tests/support/catch.hpp"

#include <fstream>

using namespace gpkg;

namespace module_tree_test {
namespace {

PackageRecord record(const std::string& name, std::vector<std::string> depends) {
    PackageRecord record;
    record.name = name;
    record.version = "1.2";
    record.build = "0";
    record.depends = std::move(depends);
    return record;
}

ModuleTexts module_for(const fs::path& prefix,
                       const std::string& version,
                       const std::string& name = "ml") {
    EnvironmentModule module;
    module.origin.prefix = prefix;
    module.name = name;
    module.version = version;
    return texts_of("Core", module);
}

const std::vector<ModuleFormat> kBoth{ModuleFormat::Lua, ModuleFormat::Tcl};

std::vector<std::string> names_in(const fs::path& root) {
    std::vector<std::string> names;
    const auto files = module_files(root);
    for (const auto& file : files.value())
        names.push_back(file.path.lexically_relative(root).native());
    return names;
}

}  // namespace

TEST_CASE("the room of an environment is what it asks of a machine", "[module]") {
    CHECK(module_room({}) == "Core");
    CHECK(module_room({record("a", {"__glibc >=2.28", "__unix"})}) == "Core");
    CHECK(module_room({record("a", {"__cuda >=12"})}) == "nvidia");
    CHECK(module_room({record("a", {"__cuda[when=\"__win\"]"})}) == "Core");
    CHECK(module_room({record("a", {"__rocm >=6"})}) == "amd");
    CHECK(module_room({record("a", {"__archspec 1 x86_64_v3"})}) == "x86_64_v3");
    CHECK(module_room({record("a", {"__archspec 1 zen4"}), record("b", {"__cuda"})}) ==
          "nvidia-x86_64_v4");
}

TEST_CASE("names of modules are made by a template", "[module]") {
    const std::map<std::string, std::string> values{{"name", "ml"}, {"generation", "3"}};
    const std::vector<PackageRecord> packages{record("python", {})};
    CHECK(module_name_of("{name}/{generation}", values, packages).value() == "ml/3");
    CHECK(module_name_of("apps/{name}/py{python}", values, packages).value() == "apps/ml/py1.2");
    const auto absent = module_name_of("{name}/{pytorch}", values, packages);
    REQUIRE_FALSE(absent);
    CHECK_THAT(absent.error().message, ContainsSubstring("pytorch"));
    for (const auto* bad : {"",
                            "/ml",
                            "ml/",
                            "a//b",
                            "a b",
                            "../x",
                            "-x",
                            ".x",
                            "ml/default",
                            "x.lua",
                            "a:b",
                            "$x",
                            "{name"})
        CHECK_FALSE(module_name_of(bad, values, packages));
}

TEST_CASE("an environment has one module, and others keep theirs", "[module]") {
    const auto folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto& root = folder.path();
    CHECK(names_in(root / "absent").empty());
    REQUIRE(write_module(root, module_for("/a", "1"), kBoth, {}));
    REQUIRE(make_default(root, "Core", "ml/1"));
    CHECK(names_in(root) == std::vector<std::string>{"Core/ml/1", "Core/ml/1.lua"});

    // The same again writes nothing.
    auto before = module_files(root).value();
    CHECK(write_module(root, module_for("/a", "1"), kBoth, before)->written.empty());
    // Another environment may not take the name.
    const auto taken = write_module(root, module_for("/b", "1"), kBoth, before);
    REQUIRE_FALSE(taken);
    CHECK_THAT(taken.error().message, Catch::Matchers::EndsWith("already the module of /a"));
    REQUIRE(write_module(root, module_for("/b", "7"), kBoth, before));

    // A new version takes the place of the old one, and is what the default was.
    before = module_files(root).value();
    const auto change = write_module(root, module_for("/a", "2"), kBoth, before);
    REQUIRE(change);
    CHECK(change->removed.size() == 2);
    CHECK(names_in(root) ==
          std::vector<std::string>{"Core/ml/2", "Core/ml/2.lua", "Core/ml/7", "Core/ml/7.lua"});
    CHECK(read_file(root / "Core/ml/.version").value() ==
          "#%Module\n## gpkg module default 1\nset ModulesVersion \"2\"\n");

    // What is of no use any more goes; what somebody else put there stays.
    std::ofstream(root / "Core/ml/8") << "#%Module\n";
    before = module_files(root).value();
    for (const auto& file : before) REQUIRE(remove_module(root, file));
    CHECK_FALSE(fs::exists(root / "Core/ml/.version"));
    CHECK(fs::exists(root / "Core/ml/8"));
    const auto foreign = write_module(root, module_for("/a", "8"), kBoth, {});
    REQUIRE_FALSE(foreign);
    CHECK_THAT(foreign.error().message,
               Catch::Matchers::EndsWith("ml/8: exists and was not written by gpkg"));
}

TEST_CASE("what is no place for a module leaves all modules as they are", "[module]") {
    const auto folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto& root = folder.path();
    REQUIRE(write_module(root, module_for("/a", "1"), kBoth, {}));
    REQUIRE(write_module(root, module_for("/b", "2"), kBoth, {}));
    const auto before = module_files(root).value();
    const auto names = names_in(root);
    const auto as_folder = write_module(root, module_for("/a", ""), kBoth, before);
    REQUIRE_FALSE(as_folder);
    CHECK_THAT(as_folder.error().message,
               ContainsSubstring("Core/ml is a folder of other modules"));
    const auto below_file = write_module(root, module_for("/a", "3", "ml/2"), kBoth, before);
    REQUIRE_FALSE(below_file);
    CHECK_THAT(below_file.error().message, ContainsSubstring("Core/ml/2 is a file"));
    CHECK(names_in(root) == names);

    // Where only its own are there, they make room.
    auto alone = before;
    for (auto& file : alone) {
        if (file.origin.prefix == "/b") REQUIRE(remove_module(root, file));
    }
    REQUIRE(write_module(root, module_for("/a", ""), kBoth, module_files(root).value()));
    CHECK(names_in(root) == std::vector<std::string>{"Core/ml", "Core/ml.lua"});
    REQUIRE(write_module(root, module_for("/a", "3"), kBoth, module_files(root).value()));
    CHECK(names_in(root) == std::vector<std::string>{"Core/ml/3", "Core/ml/3.lua"});

    // Of what is gone another may take the name.
    auto gone = module_files(root).value();
    CHECK_FALSE(write_module(root, module_for("/b", "3"), kBoth, gone));
    for (auto& file : gone) file.is_gone = true;
    REQUIRE(write_module(root, module_for("/b", "3"), kBoth, gone));
    CHECK(module_files(root)->front().origin.prefix == "/b");
}

TEST_CASE("who may not read an environment may not read its module", "[module]") {
    const auto folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto& root = folder.path();
    auto module = module_for("/a", "1");
    REQUIRE(write_module(root, module, kBoth, {}));
    const auto mode = [&] { return fs::status(root / "Core/ml/1.lua").permissions(); };
    module.kept_from = 077;
    CHECK(write_module(root, module, kBoth, {})->written.size() == 2);
    CHECK(mode() == (fs::perms::owner_read | fs::perms::owner_write));
    CHECK(write_module(root, module, kBoth, {})->written.empty());
}

}  // namespace module_tree_test
