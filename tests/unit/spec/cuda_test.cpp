#include "libcore/spec/cuda.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

namespace {

Version version(std::string_view text) { return Version::parse(text).value(); }

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
    CHECK(code_fit(version("9.0"), version("9.0")) == CodeFit::Exact);
    CHECK(code_fit(version("8.0"), version("8.6")) == CodeFit::SameMajor);
    CHECK(code_fit(version("8.0"), version("9.0")) == CodeFit::Compiled);
    CHECK(code_fit(version("9.0"), version("8.9")) == CodeFit::No);
    CHECK(code_fit(version("9.0"), version("10.0")) == CodeFit::Compiled);
}
