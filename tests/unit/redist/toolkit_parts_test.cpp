// Which parts of a toolkit a package uses.

#include "libcore/redist/toolkit_parts.hpp"

#include "libcore/redist/component_facts.hpp"
#include "tests/support/catch.hpp"

namespace toolkit_parts_test {
namespace {

using gpkg::ToolkitPart;
using gpkg::ToolkitUse;
using Texts = std::vector<std::string>;

/// An unpacked package with these files.
class Package {
public:
    Package& file(const std::string& path, const std::string& text = "x") {
        REQUIRE(gpkg::write_file_atomically(folder_.path() / path, text));
        files_.push_back(path);
        return *this;
    }
    Package& binary(const std::string& path, const Texts& needed) {
        file(path);
        gpkg::Binary one;
        one.path = path;
        one.elf.needed = needed;
        binaries_.push_back(one);
        return *this;
    }
    std::vector<ToolkitUse> uses(const std::vector<ToolkitPart>& parts) const {
        auto uses = gpkg::toolkit_uses(folder_.path(), files_, binaries_, parts);
        REQUIRE(uses);
        return *uses;
    }

private:
    gpkg::TemporaryFolder folder_ =
        gpkg::TemporaryFolder::make(gpkg::fs::temp_directory_path()).value();
    Texts files_;
    std::vector<gpkg::Binary> binaries_;
};

const ToolkitPart kBlas{"libcublas", "12.9", {"libcublas.so.12", "libcublasLt.so.12"}, {}};
const ToolkitPart kNvcc{"cuda-nvcc-tools", "12.9", {}, {"ptxas", "nvcc"}};

}  // namespace

TEST_CASE("what packages of all of CUDA are called", "[redist]") {
    for (const auto* name : {"cuda", "cudatoolkit", "cuda-toolkit", "cuda-libraries", "rocm"})
        CHECK(gpkg::is_whole_toolkit(name));
    for (const auto* name : {"cuda-cudart", "libcublas", "cuda-version", "cudatoolkitx", ""})
        CHECK_FALSE(gpkg::is_whole_toolkit(name));
}

TEST_CASE("libraries that are linked with are uses", "[redist]") {
    using Uses = std::vector<ToolkitUse>;
    CHECK(Package().binary("lib/a.so", {"libcublas.so.12", "libc.so.6"}).uses({kBlas, kNvcc}) ==
          Uses{{"libcublas.so.12", "libcublas", false}});
    // Of another major version it is another library.
    CHECK(Package().binary("lib/a.so", {"libcublas.so.11"}).uses({kBlas}).empty());
    // A copy in the package is the package's own.
    CHECK(Package()
              .binary("lib/a.so", {"libcublas.so.12"})
              .file("lib/libcublas.so.12")
              .uses({kBlas})
              .empty());
    // Where a part's file is not at hand, its libraries stand for every version.
    const auto known = gpkg::known_toolkit_part("libcublas", "11.8");
    REQUIRE(known);
    CHECK(Package().binary("lib/a.so", {"libcublasLt.so.11"}).uses({*known}) ==
          Uses{{"libcublasLt.so.11", "libcublas", false}});
}

TEST_CASE("names in files are uses, unless the part is linked with", "[redist]") {
    using Uses = std::vector<ToolkitUse>;
    CHECK(Package().file("x.py", "dlopen('libcublasLt.so')").uses({kBlas}) ==
          Uses{{"libcublasLt.so.12", "libcublas", true}});
    CHECK(Package().file("x.sh", "exec ptxas -v").uses({kNvcc}) ==
          Uses{{"ptxas", "cuda-nvcc-tools", true}});
    CHECK(Package().file("x.sh", "exec myptxas ptxas-old ptxas_2").uses({kNvcc}).empty());
    CHECK(Package()
              .file("x.py", "libcublasLt.so")
              .binary("a.so", {"libcublas.so.12"})
              .uses({kBlas}) == Uses{{"libcublas.so.12", "libcublas", false}});
    // A name that lies across two pieces of a long file.
    constexpr std::size_t kPiece = std::size_t{1} << 20U;
    CHECK(Package()
              .file("big", std::string(kPiece - 4, 'x') + "libcublas.so" + std::string(kPiece, 'x'))
              .uses({kBlas})
              .size() == 1);
}

TEST_CASE("who has which library of CUDA's", "[redist]") {
    // Names of conda-forge's packages, and the libraries in them.
    CHECK(gpkg::component_of_library("libnppial.so.12") == "libnpp");
    CHECK(gpkg::component_of_library("libnppc.so.12") == "libnpp");
    CHECK(gpkg::component_of_library("libcheckpoint.so") == "cuda_cupti");
    CHECK(gpkg::component_of_library("libnvrtc-builtins.so.12.9") == "cuda_nvrtc");
    CHECK(gpkg::component_of_library("libcudnn.so.9") == "cudnn");
    CHECK(gpkg::component_of_library("libcud.so").empty());
    CHECK(gpkg::component_of_library("").empty());
    CHECK(gpkg::libraries_of_package("libcufft") == Texts{"libcufft", "libcufftw"});
    CHECK(gpkg::libraries_of_package("libcudnn") == Texts{"libcudnn"});
    CHECK(gpkg::libraries_of_package("cuda-cudart") == Texts{"libcudart"});
    CHECK(gpkg::libraries_of_package("cuda_cudart").empty());
    CHECK_FALSE(gpkg::known_toolkit_part("libcurl", "8"));
    CHECK_FALSE(gpkg::known_toolkit_part("cuda-toolkit", "12.9"));
}

}  // namespace toolkit_parts_test
