#include "libcore/env/disk_use.hpp"

#include "tests/support/catch.hpp"

#include <fstream>

using namespace gpkg;

TEST_CASE("what packages take on the disk", "[env]") {
    auto folder = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(folder);
    const auto prefix = folder->path();
    fs::create_directories(prefix / "lib");
    std::ofstream(prefix / "lib/a.so") << std::string(1000, 'a');
    std::ofstream(prefix / "lib/b.so") << std::string(20, 'b');
    fs::create_hard_link(prefix / "lib/a.so", prefix / "lib/a.so.1");
    fs::create_symlink("a.so", prefix / "lib/link");

    PrefixRecord first;
    first.files = {"lib", "lib/a.so", "lib/link", "lib/gone"};
    PrefixRecord second;
    second.files = {"lib/a.so.1", "lib/b.so"};
    const auto uses = disk_use(prefix, {first, second});
    REQUIRE(uses.size() == 2);
    CHECK(uses[0].bytes == 1004);  // a soft link is as long as where it leads
    CHECK(uses[0].files == 2);
    CHECK(uses[0].missing == 1);
    CHECK(uses[1].bytes == 20);
    CHECK(uses[1].files == 2);
}

TEST_CASE("files shared by environments are counted once", "[env]") {
    auto folder = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(folder);
    const auto one = folder->path() / "one";
    const auto two = folder->path() / "two";
    fs::create_directories(one);
    fs::create_directories(two);
    std::ofstream(one / "a.so") << std::string(1000, 'a');
    fs::create_hard_link(one / "a.so", two / "a.so");
    std::ofstream(two / "b.so") << std::string(20, 'b');

    PrefixRecord first;
    first.files = {"a.so"};
    PrefixRecord second;
    second.files = {"a.so", "b.so"};
    SeenFiles seen;
    CHECK(disk_use(one, {first}, &seen).front().added_bytes == 1000);
    const auto uses = disk_use(two, {second}, &seen);
    CHECK(uses.front().bytes == 1020);
    CHECK(uses.front().added_bytes == 20);
}
