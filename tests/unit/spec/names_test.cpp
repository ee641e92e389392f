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

TEST_CASE("build strings, subdirs, labels and channels follow CEP 26", "[spec]") {
    CHECK(is_build_string("py312h2e1fc1f_0"));
    CHECK(is_build_string("3.11_+A"));
    for (const auto* text : {"", "a-b", "a b", "a*"}) CHECK_FALSE(is_build_string(text));

    for (const auto* text : {"noarch", "linux-64", "emscripten-wasm32", "foo-bar"})
        CHECK(is_subdir(text));
    for (const auto* text : {"", "linux_64", "linux", "-64", "linux-", "linux-64-x", "Linux-64"})
        CHECK_FALSE(is_subdir(text));
    CHECK(is_known_subdir("linux-64"));
    CHECK_FALSE(is_known_subdir("foo-bar"));
    for (const auto subdir : known_subdirs()) CHECK(is_subdir(subdir));

    for (const auto* text : {"main", "cuda-12.1.0", "a/b", "nolabel"}) CHECK(is_label(text));
    for (const auto* text : {"", "1a", "a b", "/a"}) CHECK_FALSE(is_label(text));

    for (const auto* text : {"conda-forge", "_private", "7.x"}) CHECK(is_channel_component(text));
    for (const auto* text : {"", "-a", ".a", "A", "a b"}) CHECK_FALSE(is_channel_component(text));
}

TEST_CASE("extras and flags follow CEP 44 and 45", "[spec]") {
    CHECK(is_extra_name("group-name"));
    for (const auto* text : {"", "Group", "a b"}) CHECK_FALSE(is_extra_name(text));
    for (const auto* text : {"cuda", "blas:mkl", "sm_90"}) CHECK(is_flag(text));
    for (const auto* text : {"", "gpu-x", "a:b:c", "CUDA", "blas:", ":mkl", "blas:*"})
        CHECK_FALSE(is_flag(text));
    CHECK(is_flag_pattern("blas:*"));
    CHECK(is_flag_pattern("*"));
}
