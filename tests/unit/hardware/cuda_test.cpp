#include "libcore/hardware/cuda.hpp"

#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/hardware/toolkit.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;

namespace cuda_test {
namespace {

Version version(std::string_view text) { return Version::parse(text).value(); }
CudaTarget target(std::string_view text) { return CudaTarget::of(version(text)); }

}  // namespace

TEST_CASE("a driver runs the CUDA that it supports, and from 11 on its major version", "[spec]") {
    struct Row {
        std::string_view toolkit, driver, compat;
        DriverFit fit;
    };
    const auto row = GENERATE(values<Row>({
        {"12.4", "12.4", "", DriverFit::Native},
        {"11.8", "12.4", "", DriverFit::Native},
        {"12", "12.0", "", DriverFit::Native},
        {"12.9", "12.4", "", DriverFit::MinorVersion},
        {"12.10", "12.9", "", DriverFit::MinorVersion},
        {"11.8", "11.0", "", DriverFit::MinorVersion},
        {"13.0", "12.9", "", DriverFit::No},
        {"12.0", "11.8", "", DriverFit::No},
        {"10.2", "10.1", "", DriverFit::No},
        {"13.0", "12.4", "13.0", DriverFit::Forward},
        {"13.1", "12.4", "13.0", DriverFit::No},
        {"12.9", "12.4", "12.8", DriverFit::MinorVersion},
    }));
    INFO(row.toolkit << " on " << row.driver);
    const auto compat =
        row.compat.empty() ? std::optional<Version>() : std::optional(version(row.compat));
    CHECK(driver_fit(version(row.toolkit), version(row.driver), compat) == row.fit);
}

TEST_CASE("compilers and headers of CUDA need no driver", "[spec]") {
    // Names of conda-forge's packages.
    for (const auto* name : {"cuda-nvcc",
                             "cuda-nvcc_linux-64",
                             "cuda-nvvm-tools",
                             "cuda-compiler",
                             "cuda-toolkit",
                             "cuda-cudart-dev_linux-64",
                             "cuda-cudart-static",
                             "libcublas-dev",
                             "libnvjitlink-dev"})
        CHECK(is_for_building(name));
    for (const auto* name :
         {"cuda-cudart", "libcublas", "cuda-version", "pytorch", "openssl-dev", "libcurl-static"})
        CHECK_FALSE(is_for_building(name));
}

TEST_CASE("GPU code runs on later minor versions, and PTX on later major ones", "[spec]") {
    CHECK(code_fit(target("9.0"), target("9.0")) == CodeFit::Exact);
    CHECK(code_fit(target("8.0"), target("8.6")) == CodeFit::SameMajor);
    CHECK(code_fit(target("8.0"), target("9.0")) == CodeFit::Compiled);
    CHECK(code_fit(target("9.0"), target("8.9")) == CodeFit::No);
    CHECK(code_fit(target("9.0"), target("10.0")) == CodeFit::Compiled);
}

TEST_CASE("what NVIDIA says of binary compatibility", "[spec]") {
    // "CUDA C++ Programming Guide", Binary Compatibility: machine code runs on later minor versions
    // of its major, but neither on nor from Tegra; code with an "a" on its capability alone, as PTX
    // too ("Family-specific and architecture-specific features").
    struct Row {
        std::string_view code, device;
        CodeFit fit;
    };
    const auto row = GENERATE(values<Row>({
        {"9.0a", "9.0", CodeFit::Exact},
        {"9.0a", "10.0", CodeFit::No},
        {"9.0a", "12.0", CodeFit::No},
        {"10.0a", "10.3", CodeFit::No},
        {"10.0", "10.3", CodeFit::SameMajor},
        {"12.0a", "12.1", CodeFit::No},
        {"12.0", "12.1", CodeFit::SameMajor},
        {"8.0", "8.9", CodeFit::SameMajor},
        {"8.7", "8.7", CodeFit::Exact},  // Orin
        {"8.0", "8.7", CodeFit::Compiled},
        {"8.6", "8.7", CodeFit::Compiled},
        {"8.7", "8.9", CodeFit::Compiled},
        {"8.7", "8.6", CodeFit::No},
        {"7.0", "7.2", CodeFit::Compiled},  // Xavier
        {"7.2", "7.5", CodeFit::Compiled},
        {"5.2", "5.3", CodeFit::Compiled},
        {"10.0", "10.1", CodeFit::Compiled},  // Thor, before CUDA 13
        {"7.5", "7.0", CodeFit::No},
        {"12.0", "13.5", CodeFit::Compiled},  // of a device that is not known yet
    }));
    INFO(row.code << " on " << row.device);
    CHECK(code_fit(target(row.code), target(row.device)) == row.fit);
}

TEST_CASE("CUDA's own packages, by their names on conda-forge", "[spec]") {
    for (const auto* name : {"cuda-cudart",
                             "cudnn",
                             "libcudnn",
                             "cusparselt",
                             "libcusparselt-dev",
                             "cutensor",
                             "libcutensor",
                             "libcublas-dev",
                             // What cuda-toolkit 13 needs besides.
                             "gds-tools",
                             "libcuobjclient-dev",
                             "nsight-compute",
                             "nccl"})
        CHECK(is_part_of_cuda(name));
    for (const auto* name : {"libcurl", "libnvme", "cupy", "curl", "cutlass", "libcufflinks"})
        CHECK_FALSE(is_part_of_cuda(name));
}

}  // namespace cuda_test
