#include "libcore/recipe/variant.hpp"

#include "tests/support/catch.hpp"

#include <vector>

using gpkg::Variant;

TEST_CASE("variant hashes are those of published packages", "[build]") {
    struct Row {
        Variant used;
        std::string hash;
    };
    const std::string main = "conda-forge main";
    // clang-format off
    const std::vector<Row> rows = {
        {{{"c_compiler", "gcc"}, {"c_compiler_version", "7.3.0"}}, "7b6447c"},
        {{{"c_compiler", "clang"}}, "1de35cc"},
        {{{"c_compiler", "vs2017"}, {"vc", "14"}}, "62dcd97"},
        {{{"VERSION", "1.0"}}, "e35c369"},
        {{{"target_platform", "noarch"}}, "4616a5c"},
        {{{"channel_targets", main}}, "d8ed1ab"},
        {{{"__unix", "__unix"}, {"channel_targets", main}}, "707e725"},
        {{{"__win", "__win"}, {"channel_targets", main}}, "7428d3b"},
        {{{"channel_targets", main}, {"target_platform", "linux-64"}}, "a770c72"},
        {{{"channel_targets", main}, {"target_platform", "osx-64"}}, "694c41f"},
        {{{"channel_targets", main}, {"target_platform", "osx-arm64"}}, "ce30654"},
        {{{"channel_targets", main}, {"target_platform", "win-64"}}, "57928b3"},
        {{{"channel_targets", main}, {"target_platform", "linux-aarch64"}}, "8af1aa0"},
        {{{"channel_sources", "conda-forge"}, {"channel_targets", main}, {"target_platform", "noarch"}},
         "c364b38"},
        {{{"channel_sources", "conda-forge"}, {"channel_targets", main}, {"python_min", "3.9"},
          {"target_platform", "noarch"}}, "e01879c"},
        {{{"channel_sources", "conda-forge"}, {"channel_targets", main}, {"python_min", "3.10"},
          {"target_platform", "noarch"}}, "cf101f3"},
        {{{"target_platform", "osx-arm64"}}, "60d57d3"},
        {{{"target_platform", "linux-64"}}, "b0f4dca"},
        {{{"python", "3.11"}, {"target_platform", "linux-64"}}, "48b7412"},
        {{{"__unix", "__unix"}, {"target_platform", "noarch"}}, "5600cae"},
        {{{"foobar", "baz"}, {"target_platform", "osx-arm64"}}, "bf59cf5"},
        {{{"CONDA_BUILD_SYSROOT",
           "/Applications/Xcode_13.2.1.app/Contents/Developer/Platforms/MacOSX.platform/Developer/SDKs/"
           "MacOSX11.0.sdk"},
          {"build_platform", "osx-64"}, {"c_compiler", "clang"}, {"c_compiler_version", "14"},
          {"channel_targets", main}, {"openssl", "3"}, {"python", "3.11.* *_cpython"},
          {"rust_compiler", "rust"}, {"target_platform", "osx-arm64"}}, "507f6e9"},
        {{}, "bf21a9e"},
        // Python's escapes, as conda-build has them.
        {{{"k", "\xC3\xA9"}}, "81f4a7e"},
    };
    // clang-format on
    for (const auto& row : rows) {
        CAPTURE(gpkg::hash_input_text(row.used));
        CHECK(gpkg::variant_hash(row.used) == row.hash);
    }
}

TEST_CASE("the hashed text is Python's", "[build]") {
    CHECK(gpkg::hash_input_text({{"b", "2"}, {"a", "x\"y\n"}}) == R"({"a": "x\"y\n", "b": "2"})");
    CHECK(gpkg::hash_input_text({}) == "{}");
}

TEST_CASE("build strings", "[build]") {
    const Variant linux{{"target_platform", "linux-64"}};
    const Variant py311{{"python", "3.11"}, {"target_platform", "linux-64"}};
    const Variant noarch{{"target_platform", "noarch"}};
    CHECK(gpkg::default_build_string(linux, false, 5) == "hb0f4dca_5");
    CHECK(gpkg::default_build_string(py311, false, 5) == "py311h48b7412_5");
    CHECK(gpkg::default_build_string(noarch, true, 0) == "pyh4616a5c_0");
    CHECK(gpkg::default_build_string(noarch, false, 0) == "h4616a5c_0");

    const Variant many{
        {"numpy", "1.26"}, {"perl", "5.32.1"}, {"python", "3.11.* *_cpython"}, {"r_base", "4.4"}};
    CHECK(gpkg::default_build_string(many, false, 0).starts_with("np126py311pl5321r44h"));
}

TEST_CASE("variant keys have no dashes and dots", "[build]") {
    CHECK(gpkg::variant_key("r-base") == "r_base");
    CHECK(gpkg::variant_key("ruamel.yaml") == "ruamel_yaml");
    CHECK(gpkg::variant_key("CONDA_BUILD_SYSROOT") == "CONDA_BUILD_SYSROOT");
}
