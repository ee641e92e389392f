#include "libcore/hardware/wheel.hpp"

#include "tests/support/catch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace gpkg;

// Distributions of PyPI and of their makers' own indexes, with the requirements that matter.
TEST_CASE("what a wheel is for is read from its version, its name and what it needs", "[spec]") {
    struct Row {
        std::string name, version;
        std::vector<std::string> depends;
        std::string python;
        std::vector<std::string> tags;
        std::string expected;  ///< accelerator|cuda|python
    };
    const std::string on_linux = R"(; platform_system == "Linux" and platform_machine == "x86_64")";
    // clang-format off
    const auto row = GENERATE_COPY(values<Row>({
        {"torch", "2.4.0+cu121", {}, ">=3.8.0", {"cp312-cp312-linux_x86_64"}, "nvidia|12.1|3.12"},
        {"torch", "2.4.0+cpu", {}, ">=3.8.0", {"cp312-cp312-linux_x86_64"}, "none||3.12"},
        {"torch", "2.9.0+rocm6.4", {}, ">=3.10", {"cp312-cp312-manylinux_2_28_x86_64"}, "amd||3.12"},
        {"torch", "2.9.0+xpu", {}, "", {}, "||"},
        {"torch", "2.9.0", {"filelock", "nvidia-cublas-cu12==12.8.4.1" + on_linux, "nvidia-cuda-runtime-cu12==12.8.90" + on_linux}, ">=3.10", {"cp313-cp313-manylinux_2_28_x86_64"}, "nvidia|12.8|3.13"},
        {"torch", "2.0.1", {"nvidia-cuda-runtime-cu11 (==11.7.99)" + on_linux}, "", {}, "nvidia|11.7|"},
        {"torch", "2.9.1", {"nvidia-cuda-runtime (==13.0.96) ; platform_system == \"Linux\""}, "", {}, "||"},  // it is not there
        {"torch_scatter", "2.1.2+pt24cu124", {}, ">=3.8", {}, "nvidia|12.4|>=3.8"},
        {"flash_attn", "2.5.8+cu122torch2.3cxx11abifalse", {}, "", {}, "nvidia|12.2|"},
        {"jaxlib", "0.4.13+cuda12.cudnn89", {}, "", {}, "nvidia|12|"},
        {"xgboost", "3.0.0", {"nvidia-nccl-cu12; platform_system == \"Linux\""}, ">=3.10", {"py3-none-manylinux_2_28_x86_64"}, "nvidia|12|>=3.10"},
        {"tensorflow", "2.19.0", {"nvidia-cublas-cu12==12.5.3.2; extra == \"and-cuda\""}, "", {}, "||"},
        {"tensorflow-cpu", "2.19.0", {}, "", {}, "none||"},
        {"polars-lts-cpu", "1.33.1", {}, "", {}, "||"},  // for old CPUs
        {"cupy-cuda12x", "13.4.1", {}, "", {}, "nvidia|12|"},
        {"cupy-rocm-5-0", "13.4.1", {}, "", {}, "amd||"},
        {"jax-rocm60-plugin", "0.4.35", {}, "", {}, "amd||"},
        {"onnxruntime_gpu", "1.22.0", {}, "", {}, "nvidia||"},
        {"py-cpuinfo", "9.0.0", {}, "", {}, "||"},
        {"nvidia-ml-py", "12.575.51", {}, "", {"py3-none-any"}, "||"},
        {"gpustat", "1.1.1", {"nvidia-ml-py>=11.450.129"}, "", {}, "||"},
        {"nvidia-cublas-cu12", "12.8.4.1", {}, ">=3", {}, "|12|>=3"},
        {"nvidia-cuda-runtime-cu12", "12.8.90", {}, ">=3", {}, "|12.8|>=3"},
        {"cryptography", "45.0.0", {}, ">=3.7", {"cp311-abi3-manylinux_2_34_x86_64"}, "||>=3.11"},
        {"Left_Pad", "1.5", {}, "", {}, "||"},
        {"odd", "1+", {"", ";", "(==", "==1", "nvidia-"}, "", {"cp3", "cp3x-cp3x-any", "--"}, "||"},
    }));
    // clang-format on
    CAPTURE(row.name, row.version);
    const std::set<std::string> present{"nvidia-cublas-cu12",
                                        "nvidia-cuda-runtime-cu12",
                                        "nvidia-cuda-runtime-cu11",
                                        "nvidia-nccl-cu12",
                                        "nvidia-ml-py",
                                        "filelock"};
    const auto columns =
        wheel_columns({row.name, row.version, row.depends, row.python, row.tags}, present);
    CHECK(fmt::format("{}|{}|{}", columns.accelerator, columns.cuda, columns.python) ==
          row.expected);
    for (const auto& silent : {columns.gpu, columns.cpu, columns.blas, columns.mpi})
        CHECK(silent.empty());
}

TEST_CASE("names of distributions are compared as PyPI compares them", "[spec]") {
    CHECK(normal_wheel_name("Left_Pad") == "left-pad");
    CHECK(normal_wheel_name("zope.interface") == "zope-interface");
    CHECK(normal_wheel_name("a.-_b") == "a-b");
}
