#include "libcore/hardware/toolkit.hpp"

#include "libcore/hardware/contradictions.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;

namespace toolkit_test {
namespace {

PackageRecord record(std::string name,
                     std::string version,
                     std::string build,
                     std::vector<std::string> depends = {}) {
    PackageRecord made;
    made.name = std::move(name);
    made.version = std::move(version);
    made.build = std::move(build);
    made.depends = std::move(depends);
    return made;
}

std::string range_of(const PackageRecord& of) {
    const auto range = toolkit_of(of);
    return range ? range->to_string() : "-";
}

}  // namespace

// Records of conda-forge, pytorch, nvidia, pyg and rapidsai.
TEST_CASE("a build tells the releases of the toolkit that it goes with", "[hardware]") {
    struct Row {
        PackageRecord record;
        std::string range;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        // A declared dependency counts before the build string.
        {record("pytorch", "2.9.1", "cuda126_mkl_py310_h1", {"__cuda", "cuda-version >=12.6,<13"}), "CUDA 12.6 or newer"},
        {record("libtorch", "2.1", "cuda118_h1", {"cuda-version >=11.8,<12"}), "CUDA 11.8 or newer"},
        {record("tensorflow-base", "2.7.0", "cuda102py39_0", {"cudatoolkit >=10.2,<10.3.0a0"}), "CUDA 10.2"},
        {record("pytorch", "1.5.1", "py3.8_cuda10.2.89_0", {"cudatoolkit >=10.2.89,<10.3"}), "CUDA 10.2"},
        {record("pyg", "2.0.4", "py39_torch_1.11.0_cu115", {"pytorch 1.11.*", "cudatoolkit 11.5.*"}), "CUDA 11.5"},
        {record("libnvjitlink", "13.3.33", "h1_0", {"cuda-version >=13,<13.4.0a0"}), "CUDA 13.0 to 13.3"},
        {record("cudf", "26.4", "cuda13_py314_1", {"cuda-version >=13,<14.0a0"}), "CUDA 13"},
        // pytorch-cuda 12.1 stands beside parts of 12.5.
        {record("pytorch", "2.1", "py3.10_cuda12.1_cudnn8", {"pytorch-cuda >=12.1,<12.2"}), "CUDA 12"},
        {record("pytorch-cuda", "12.1", "ha16c6d3_6"), "CUDA 12"},
        // The build string alone.
        {record("torch-tensorrt", "2.9", "cu130_0", {"torch >=2.4"}), "CUDA 13"},
        {record("torch-tensorrt", "2.9", "cu126_0", {"torch >=2.4"}), "CUDA 12.6 or newer"},
        {record("torchvision", "0.6.1", "py38_cu102", {"pytorch ==1.5.1"}), "CUDA 10.2"},
        {record("xgboost", "3.0", "cuda13_py312"), "CUDA 13"},
        {record("pytorch", "2.5", "rocm63_py312_0"), "ROCm 6.3 or newer"},
        // Parts by their names and versions.
        {record("cuda-version", "12.9", "h1"), "CUDA 12.9"},
        {record("cudatoolkit", "11.8.0", "h1"), "CUDA 11.8"},
        {record("cuda-nvcc", "12.4.131", "0"), "CUDA 12.4 or newer"},
        {record("cuda-toolkit", "11.8.0", "0"), "CUDA 11.8 or newer"},
        {record("libcublas", "11.11.3.6", "0"), "CUDA 11"},
        {record("libcublas-dev", "12.4.5.8", "0"), "CUDA 12"},
        {record("libcufft", "11.2.1.3", "0"), "CUDA 12"},
        {record("libcufft", "10.9.0.58", "0"), "CUDA 11"},
        {record("libcusolver", "11.4.1.48", "0"), "CUDA 11"},
        {record("libcusolver", "11.6.1.9", "0"), "CUDA 12"},
        {record("libcurand", "10.3.0.86", "0"), "CUDA 11"},
        // Nothing is said.
        {record("cuda-core", "1.1.0", "py312_0"), "-"},
        {record("cuda-pathfinder", "1.3", "py312_0"), "-"},
        {record("nvidia-ml-py", "13.580", "pyhd8ed1ab_0"), "-"},
        {record("numpy", "2.0", "py312_0"), "-"},
        {record("faiss-cpu", "1.4.0", "py36_cuda0.0_1"), "-"},
        {record("ambertools", "24.8", "cuda_None_nompi_py312"), "-"},
        {record("ucx", "1.18", "hf72d326_1", {"libgcc >=14"}), "-"},
    }));
    // clang-format on
    CAPTURE(row.record.distribution());
    CHECK(range_of(row.record) == row.range);
}

TEST_CASE("what a package constrains says nothing of its toolkit", "[hardware]") {
    auto numba = record("numba", "0.61", "py312_0");
    numba.constrains = {"cuda-version >=11.2,<12", "cudatoolkit >=11.2"};
    CHECK_FALSE(toolkit_of(numba));
}

TEST_CASE("releases are ranked by the driver", "[hardware]") {
    const ToolkitVersion driver{12, 4};
    const std::vector<ToolkitVersion> best_first{
        {12, 4}, {12, 2}, {12, 0}, {12, 6}, {12, 9}, {11, 8}, {10, 2}, {13, 0}, {13, 1}};
    for (std::size_t i = 1; i < best_first.size(); ++i) {
        CAPTURE(best_first[i].to_string());
        CHECK(toolkit_fit(best_first[i - 1], driver) < toolkit_fit(best_first[i], driver));
    }
    // Before 11 a driver does not run later minor versions.
    CHECK(toolkit_fit({9, 2}, ToolkitVersion{10, 1}) < toolkit_fit({10, 2}, ToolkitVersion{10, 1}));
    // Without a driver the newest is best.
    CHECK(toolkit_fit({13, 0}, std::nullopt) < toolkit_fit({12, 9}, std::nullopt));
}

TEST_CASE("a request names a toolkit where it does so without a condition", "[hardware]") {
    const auto named = [](std::string_view text) {
        const auto range = toolkit_of_request(MatchSpec::parse(text).value());
        return range ? range->to_string() : "-";
    };
    CHECK(named("cuda-version 12.9.*") == "CUDA 12.9");
    CHECK(named("cuda-nvcc 12.4.*") == "CUDA 12.4");
    CHECK(named("rocm-core 6.*") == "ROCm 6");
    CHECK(named("cuda-version") == "-");
    CHECK(named("cuda-pathfinder 1.*") == "-");
    CHECK(named("cuda-version 12.9.*[when=\"python>=3.12\"]") == "-");
}

TEST_CASE("the table of vendors goes with what is known of their toolkits", "[hardware]") {
    const auto newest = ToolkitVersion::of(latest_toolkits().back());
    CHECK(row_of(Accelerator::Nvidia).last_major == newest->major + 1);
    for (const auto& row : accelerator_rows()) {
        CHECK(row_of(row.accelerator).name == row.name);
        CHECK(accelerator_of_word(row.word) == row.accelerator);
        CHECK(parse_accelerator_choice(row.name) == row.choice);
        for (const auto& package : row.toolkit_packages) CHECK(is_toolkit_part(package.name));
    }
}

TEST_CASE("packages that do not go together are told", "[hardware]") {
    const auto cpu = record("pytorch", "1.11.0", "py3.9_cpu_0");
    const auto pyg =
        record("pyg", "2.0.4", "py39_torch_1.11.0_cu115", {"pytorch 1.11.*", "cudatoolkit 11.5.*"});
    auto found = contradictions_in({cpu, pyg});
    REQUIRE(found.size() == 1);
    CHECK(found[0].subject == "pyg");
    CHECK(found[0].message ==
          "2.0.4 is a CUDA build and cannot be used with pytorch 1.11.0, a CPU build");

    found = contradictions_in({record("torch", "2.6", "cuda126_0", {"cuda-version >=12.6,<13"}),
                               record("torch-tensorrt", "2.9", "cu130_0")});
    REQUIRE(found.size() == 1);
    CHECK(found[0].subject == "CUDA");
    CHECK(found[0].message ==
          "has versions that do not go together: torch is for CUDA 12; "
          "torch-tensorrt is for CUDA 13; a program that loads several of these may fail");
    CHECK(found[0].packages == std::vector<std::string>{"torch", "torch-tensorrt"});

    // Minor versions go with each other.
    CHECK(contradictions_in({record("cudatoolkit", "11.2.2", "0"),
                             record("cuda-nvcc", "11.8.89", "0"),
                             record("pytorch-cuda", "11.7", "0")})
              .empty());
}

}  // namespace toolkit_test
