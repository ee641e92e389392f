#include "libcore/hardware/variant_columns.hpp"

#include "tests/support/catch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace gpkg;

// Builds of real channels, with the dependencies that matter.
TEST_CASE("what tells a build from others is read from its record", "[spec]") {
    struct Row {
        std::string build;
        std::vector<std::string> depends;
        std::string noarch, expected;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"cuda129_mkl_py311_hcbd18c7_301", {"__cuda", "cuda-version >=12.9,<13", "python_abi 3.11.* *_cp311"}, "", "nvidia|12.9|||mkl||3.11"},
        {"py38h8854b6b_0", {"libopenblas >=0.3", "python >=3.8,<3.9.0a0"}, "", "||||openblas||3.8"},
        {"pyhd8ed1ab_0", {"python >=3.9"}, "python", "||||||>=3.9"},
        {"nompi_h1234567_101", {"libzlib"}, "", "|||||nompi|"},
        {"mpi_openmpi_h1_0", {"openmpi >=4.1,<5.0a0"}, "", "|||||openmpi|"},
        {"h1_0", {"mpich >=4,<5.0a0", "blas * mkl"}, "", "||||mkl|mpich|"},
        {"1_h5875eb1_mkl", {"mkl >=2024,<2025.0a0"}, "", "||||mkl||"},
        {"cpu_generic_h84853e1_5", {"libblas >=3.9.0,<4.0a0"}, "", "none||||generic||"},
        {"cuda126_generic_h9f17e3a_200", {"pytorch 2.6.0 cuda*_generic*200"}, "", "nvidia|12.6|||generic||"},
        {"generic_h9f17e3a_0", {"libzlib"}, "", "||||||"},
        {"h1_0", {"__cuda_arch >=8.0", "__archspec * x86_64_v3"}, "", "nvidia||>=8.0|x86_64_v3|||"},
        {"h1_0", {"__archspec * ^(zen4|x86_64_v4|icelake)$"}, "", "|||x86_64_v4|||"},
        {"h1_0", {"__archspec * ^(zen4|neoverse_v1)$"}, "", "|||^(zen4|neoverse_v1)$|||"},
        {"h1_0", {"__amdgpu_arch >=9.0.10", "_x86_64-microarch-level >=3"}, "", "amd||>=9.0.10|level >=3|||"},
        {"0", {"python"}, "", "||||||"},
    }));
    // clang-format on
    CAPTURE(row.build);
    PackageRecord record;
    record.name = "p";
    record.build = row.build;
    record.depends = row.depends;
    record.noarch = row.noarch;
    const auto columns = variant_columns(record);
    std::vector<std::string> told;
    for (const auto& column : kVariantColumns) told.push_back(columns.*column.value);
    CHECK(fmt::format("{}", fmt::join(told, "|")) == row.expected);
}
