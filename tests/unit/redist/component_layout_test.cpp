// Where the files of an archive go, and into which part.

#include "libcore/redist/component_layout.hpp"

#include "tests/support/catch.hpp"

#include <regex>

namespace component_layout_test {
namespace {

const gpkg::RedistLayout kLayout{"targets/x86_64-linux", "share/cuda-x", {}};

std::string place(const std::string& path) { return kLayout.place_of(path); }

bool matches(const std::string& glob, const std::string& path) {
    return std::regex_match(path, std::regex(gpkg::regex_of_glob(glob), std::regex::extended));
}

}  // namespace

TEST_CASE("files lie where conda-forge has them", "[redist]") {
    // clang-format off
    const std::vector<std::pair<std::string, std::string>> rows = {
        {"include/cuda.h", "targets/x86_64-linux/include/cuda.h"},
        {"lib/libx.so.1", "targets/x86_64-linux/lib/libx.so.1"},
        {"lib64/libx.so.1", "targets/x86_64-linux/lib/libx.so.1"},
        {"lib64/stubs/libx.so", "targets/x86_64-linux/lib/stubs/libx.so"},
        {"pkg-config/x.pc", "lib/pkgconfig/x.pc"}, {"lib/pkgconfig/x.pc", "lib/pkgconfig/x.pc"},
        {"lib64/pkgconfig/x.pc", "lib/pkgconfig/x.pc"},
        {"bin/nvcc", "bin/nvcc"}, {"nvvm/lib64/libnvvm.so", "nvvm/lib64/libnvvm.so"},
        {"targets/x86_64-linux/lib/libx.so", "targets/x86_64-linux/lib/libx.so"},
        {"doc/lib/x.a", "share/cuda-x/doc/lib/x.a"}, {"README.first", "share/cuda-x/README.first"},
        {"EULA.txt", "share/cuda-x/EULA.txt"}, {"LICENSE", ""},
        {"LICENSES/MIT", "share/cuda-x/LICENSES/MIT"}, {"bin/LICENSE", "bin/LICENSE"},
        // Not the folders of these names: files, and others that begin so.
        {"lib", "lib"}, {"include", "include"}, {"library/x", "library/x"}, {"lib32/x", "lib32/x"},
        {"includes/x.h", "includes/x.h"}, {"docker/x", "docker/x"},
        {"lib/pkgconfigs/x.pc", "targets/x86_64-linux/lib/pkgconfigs/x.pc"},
    };
    // clang-format on
    for (const auto& [path, expected] : rows) {
        CAPTURE(path);
        CHECK(place(path) == expected);
    }
}

TEST_CASE("links that stand for folders are left out, others are not", "[redist]") {
    CHECK(kLayout.is_left_out("targets/x86_64-linux/lib", true));
    CHECK(kLayout.is_left_out("lib64", true));
    CHECK(kLayout.is_left_out("lib", true));
    CHECK_FALSE(kLayout.is_left_out("targets/x86_64-linux/lib/libx.so", false));
    CHECK_FALSE(kLayout.is_left_out("nvvm/lib", true));
    CHECK_FALSE(kLayout.is_left_out("lib/cmake/current", true));
}

TEST_CASE("a glob as a regular expression is about whole names", "[redist]") {
    CHECK(matches("lib/*.so.*", "lib/libx.so.1"));
    CHECK_FALSE(matches("lib/*.so.*", "lib/a/libx.so.1"));
    CHECK_FALSE(matches("lib/*.so", "lib/libxXso"));  // the dot is a dot
    CHECK(matches("**/*.a", "x.a"));
    CHECK(matches("**/*.a", "a/b/x.a"));
    CHECK_FALSE(matches("**/*.a", "a/b/x.ab"));
    CHECK(matches("lib/**", "lib/a/b"));
    CHECK_FALSE(matches("lib/**", "lib"));
    CHECK(matches("a+(b){c}|^$", "a+(b){c}|^$"));
    CHECK_FALSE(matches("a+", "aa"));
}

TEST_CASE("platforms have folders of their own below targets", "[redist]") {
    // NVIDIA's, of the toolkit's cross-platform packages.
    CHECK(gpkg::target_folder("linux-x86_64") == "x86_64-linux");
    CHECK(gpkg::target_folder("linux-sbsa") == "sbsa-linux");
    CHECK(gpkg::target_folder("linux-aarch64") == "aarch64-linux");
    CHECK(gpkg::target_folder("linux-ppc64le") == "ppc64le-linux");
}

}  // namespace component_layout_test
