#include "libcore/env/moved.hpp"

#include "tests/support/catch.hpp"

#include <fstream>

using namespace gpkg;

namespace {

PrefixRecord record_with(std::string file) {
    PrefixRecord record;
    record.files = {file};
    PrefixPath path;
    path.path = std::move(file);
    path.prefix_placeholder = "/built/here";
    record.paths = {path};
    return record;
}

}  // namespace

TEST_CASE("an environment that was moved", "[env]") {
    auto folder = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(folder);
    const auto prefix = folder->path() / "env";
    const fs::path old = "/nowhere/old";
    fs::create_directories(prefix / "bin");
    const auto write = [&](const char* name, const std::string& text) {
        std::ofstream(prefix / name) << text;
        return record_with(name);
    };

    const auto own = write("bin/own", "#!" + (prefix / "bin/python").native() + "\n");
    const auto script = write("bin/script", "#!/nowhere/old/bin/python -E\nimport x\n");
    const auto lengthy = write(
        "bin/lengthy", "#!/bin/sh\n'''exec' \"/nowhere/old/bin/python\" \"$0\" \"$@\" #'''\n");
    const auto setting = write("lib.pc", "# of lib\nprefix=/nowhere/old\nlibs=-lx\n");
    const auto system = write("bin/system", "#!/usr/bin/env python\nprefix=$(pwd)\n");
    const auto shell = write("bin/shell", "#!/bin/sh\n");

    CHECK(moved_from(prefix, {own}) == std::nullopt);
    CHECK(moved_from(prefix, {script}) == old);
    CHECK(moved_from(prefix, {lengthy}) == old);
    CHECK(moved_from(prefix, {setting}) == old);
    CHECK(moved_from(prefix, {system, shell}) == std::nullopt);
    CHECK(moved_from(prefix, {system, script}) == old);
    // The first file that names an environment decides.
    CHECK(moved_from(prefix, {own, script}) == std::nullopt);

    SECTION("files without the path of the environment do not count") {
        auto plain = script;
        plain.paths.front().prefix_placeholder.clear();
        CHECK(moved_from(prefix, {plain}) == std::nullopt);
        CHECK_FALSE(names_prefix(plain));
        CHECK(names_prefix(script));
        plain.paths.front().type = PrefixPathType::UnixPythonEntryPoint;
        CHECK(moved_from(prefix, {plain}) == old);
    }
    SECTION("read from the environment") {
        CHECK(moved_from(prefix) == std::nullopt);
        const auto install = [&](PrefixRecord record, const char* name) {
            record.package.name = name;
            record.package.version = "1.0";
            record.package.build = "0";
            REQUIRE(write_file_atomically(prefix / "conda-meta" / record.file_name(),
                                          record.to_json()));
        };
        install(shell, "a");
        CHECK(moved_from(prefix) == std::nullopt);
        install(script, "c");
        CHECK(moved_from(prefix) == old);
        install(own, "b");
        CHECK(moved_from(prefix) == std::nullopt);
    }
    SECTION("another path of the same folder") {
        const auto link = folder->path() / "link";
        fs::create_directory_symlink(prefix, link);
        CHECK(moved_from(link, {own}) == std::nullopt);
    }
    SECTION("interpreters of scripts") {
        CHECK(other_prefix_in_script(prefix, prefix / "bin/script") == old);
        CHECK(other_prefix_in_script(prefix, prefix / "bin/own") == std::nullopt);
        CHECK(other_prefix_in_script(prefix, prefix / "bin/shell") == std::nullopt);
        CHECK(other_prefix_in_script(prefix, prefix / "bin/none") == std::nullopt);
    }
}
