#include "libcore/env/environments.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("names that conda refuses are refused", "[env]") {
    for (const auto* good : {"ml", "a-b_c.1", "..a", "\xc3\xa4"})
        CHECK(check_environment_name(good));
    for (const auto* bad :
         {"", "a/b", "a b", "a:b", "a#b", "base", "root", ".", "..", "-n", "a\nb", "a\xff"})
        CHECK_FALSE(check_environment_name(bad));
    CHECK(check_environment_name("a b").error().to_string() ==
          "'a b' cannot be the name of an environment: it contains ' '\n"
          "  hint: for an environment at a path: -p PATH");
}

TEST_CASE("environments are listed once each", "[env]") {
    const auto world = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto home = world.path() / "home";
    const auto root = world.path() / "root";
    const auto elsewhere = world.path() / "elsewhere";
    for (const auto& path : {root, root / "envs/b", root / "envs/a", elsewhere})
        REQUIRE(write_file_atomically(path / "conda-meta/history", ""));
    fs::create_directories(root / "envs/no-environment");
    CHECK(list_environments({root, {root / "envs"}}, home) ==
          std::vector<fs::path>{root, root / "envs/a", root / "envs/b"});

    REQUIRE(register_environment(elsewhere, home));
    REQUIRE(register_environment(elsewhere, home));
    REQUIRE(register_environment(root / "envs/a", home));
    REQUIRE(register_environment(world.path() / "gone", home));
    CHECK(read_file(home / ".conda/environments.txt").value() ==
          elsewhere.native() + "\n" + (root / "envs/a").native() + "\n" +
              (world.path() / "gone").native() + "\n");
    CHECK(list_environments({root, {root / "envs"}}, home) ==
          std::vector<fs::path>{root, elsewhere, root / "envs/a", root / "envs/b"});

    CHECK(is_registered(elsewhere, home));
    CHECK_FALSE(is_registered(root / "envs/b", home));

    REQUIRE(unregister_environment(elsewhere, home));
    CHECK(list_environments({root, {root / "envs"}}, home).size() == 3);
    REQUIRE(unregister_environment(elsewhere, world.path() / "no-home"));
    CHECK_FALSE(fs::exists(world.path() / "no-home"));

    REQUIRE(write_file_atomically(home / ".conda/environments.txt", "/no-line-break"));
    REQUIRE(register_environment(elsewhere, home));
    CHECK(read_file(home / ".conda/environments.txt").value() ==
          "/no-line-break\n" + elsewhere.native() + "\n");
    REQUIRE(unregister_environment(elsewhere, home));
    CHECK(read_file(home / ".conda/environments.txt").value() == "/no-line-break\n");
    REQUIRE(unregister_environment("/no-line-break", home));
    CHECK_FALSE(fs::exists(home / ".conda"));
}

TEST_CASE("interrupted environments are listed, also those that are not complete", "[env]") {
    const auto world = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto root = world.path() / "root";
    for (const auto* name : {"sound", "changed"})
        REQUIRE(write_file_atomically(root / "envs" / name / "conda-meta/history", ""));
    for (const auto* name : {"changed", "created"})
        REQUIRE(write_file_atomically(
            root / "envs" / name / "conda-meta/.gpkg-transaction/plan.json", "{}"));
    CHECK(interrupted_environments({root, {root / "envs"}}, world.path()) ==
          std::vector<fs::path>{root / "envs/changed", root / "envs/created"});
}

TEST_CASE("what an environment is called", "[env]") {
    const EnvironmentFolders folders{"/r", {"/lab/places", "/r/envs"}};
    CHECK(folders.name_of("/r") == "base");
    CHECK(folders.name_of("/lab/places/ml") == "ml");
    CHECK(folders.name_of("/r/envs/ml") == "ml");
    CHECK(folders.name_of("/other/envs/ml") == "ml");
    CHECK(folders.name_of("/scratch/ml") == "/scratch/ml");
}

TEST_CASE("a name is looked up in every folder, and made where that can be", "[env]") {
    const auto work = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto first = work.path() / "first";
    const auto second = work.path() / "second";
    const EnvironmentFolders folders{work.path() / "root", {first, second}};
    CHECK(folders.path_of("ml") == first / "ml");
    REQUIRE(make_folders(second / "ml/conda-meta"));
    CHECK(folders.path_of("ml") == second / "ml");
    CHECK(folders.has(second / "ml"));
    CHECK_FALSE(folders.has(work.path() / "third/ml"));
    REQUIRE(make_folders(first / "ml/conda-meta"));
    CHECK(folders.path_of("ml") == first / "ml");
    CHECK_FALSE(folders.has(second / "ml"));
    REQUIRE(write_file_atomically(work.path() / "file", ""));
    CHECK(EnvironmentFolders{{}, {work.path() / "file/envs", second}}.path_of("new") ==
          second / "new");
}
