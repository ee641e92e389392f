#include "libcore/package/verify.hpp"

#include "libcore/package/unpack.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/package_archives.hpp"

using namespace gpkg;
using gpkg::tests::info_members;
using gpkg::tests::make_conda;

TEST_CASE("damage to an unpacked package is found", "[package]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(root);
    const auto archive = root->path() / "p-1-0.conda";
    const auto p = root->path() / "p";
    REQUIRE(write_file_atomically(
        archive,
        make_conda({{"a", "one"}, {"b", "two"}, {"c", "six"}, {"d/e", "ten"}},
                   info_members({{"a", "one"}, {"b", "two"}, {"c", "six"}, {"d/e", "ten"}}))));
    REQUIRE(unpack_package(archive, p));
    CHECK(verify_unpacked(p));

    REQUIRE(write_file_atomically(p / "a", "eno"));
    REQUIRE(write_file_atomically(p / "b", "four"));
    fs::remove(p / "c");
    fs::create_symlink("a", p / "c");
    fs::remove(p / "d/e");
    const auto damage = find_damage(p, VerifyDepth::Content);
    REQUIRE(damage);
    CHECK(*damage == std::vector<PathDamage>{{"a", "has a different checksum"},
                                             {"b", "has 4 bytes, not 3"},
                                             {"c", "is a symbolic link, not a file"},
                                             {"d/e", "is missing"}});
    CHECK(find_damage(p, VerifyDepth::Shape)->size() == 3);
    CHECK(verify_unpacked(p).error().message ==
          p.native() +
              ": differs from its info/paths.json: \"a\" has a different checksum, \"b\" has 4 "
              "bytes, not 3, \"c\" is a symbolic link, not a file and 1 more");

    // The same file reached through a link is not the package's.
    fs::remove_all(p / "d");
    REQUIRE(write_file_atomically(root->path() / "elsewhere/e", "ten"));
    fs::create_directory_symlink(root->path() / "elsewhere", p / "d");
    CHECK(find_damage(p, VerifyDepth::Content)->back() == PathDamage{"d/e", "is missing"});
}
