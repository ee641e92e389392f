#include "libcore/spec/names.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("package names follow CEP 26", "[spec]") {
    for (const auto* name : {"python", "7zip", "_libgcc_mutex", "a.b-c_d", "a-", "foo_", "_"}) {
        CAPTURE(name);
        CHECK(is_package_name(name));
        CHECK_FALSE(is_virtual_package_name(name));
    }
    for (const auto* name : {"__glibc", "__a"}) {
        CAPTURE(name);
        CHECK_FALSE(is_package_name(name));
        CHECK(is_virtual_package_name(name));
    }
    for (const auto* name : {"a--b", "pkg..x", "a_-b", "-a", ".a", "c++", "", "__", "___a"}) {
        CAPTURE(name);
        CHECK_FALSE(is_package_name(name));
        CHECK_FALSE(is_virtual_package_name(name));
    }
    CHECK(is_package_name(std::string(64, 'a')));
    CHECK_FALSE(is_package_name(std::string(65, 'a')));
}

TEST_CASE("file names are read from the right", "[spec]") {
    const auto parsed = FileName::parse("py-sirius-ms-2.1+sirius6.0.3-pyhd8ed1ab_0.conda");
    REQUIRE(parsed);
    CHECK(*parsed == FileName{"py-sirius-ms", "2.1+sirius6.0.3", "pyhd8ed1ab_0", "conda"});
    CHECK(FileName::parse("zlib-1.2.11-0.tar.bz2")->extension == "tar.bz2");
    CHECK(FileName::parse("zlib-1.2.11-0.zip").error().message ==
          "zlib-1.2.11-0.zip: a package file ends in .conda or .tar.bz2\n"
          "  zlib-1.2.11-0.zip\n"
          "                   ^");
}
