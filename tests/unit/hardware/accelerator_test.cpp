#include "libcore/hardware/accelerator.hpp"

#include "libcore/hardware/toolkit.hpp"
#include "libcore/hardware/variant_columns.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;

namespace accelerator_test {
namespace {

PackageRecord record(std::string build,
                     std::vector<std::string> depends,
                     std::vector<std::string> flags = {}) {
    PackageRecord made;
    made.name = "p";
    made.build = std::move(build);
    made.depends = std::move(depends);
    made.flags = std::move(flags);
    return made;
}

PackageRecord constrained(PackageRecord made, std::vector<std::string> constrains) {
    made.constrains = std::move(constrains);
    return made;
}

}  // namespace

// Builds of real channels, with the dependencies that matter.
TEST_CASE("a build is for the accelerator that its record speaks of", "[spec]") {
    struct Row {
        std::string what;
        PackageRecord record;
        std::string_view accelerator;
        std::string evidence, cuda;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"pytorch 2.9.1 of conda-forge", record("cuda129_mkl_py311_hcbd18c7_301", {"__cuda", "__glibc >=2.17,<3.0.a0", "cuda-cudart >=12.9.79,<13.0a0", "cuda-version >=12.9,<13"}), "nvidia", "needs __cuda", "12.9"},
        {"the same for CPUs", record("cpu_mkl_py312_h4bd9f6a_101", {"__glibc >=2.17,<3.0.a0", "libtorch 2.9.1 cpu_mkl_h7adeb5d_101"}), "none", "needs libtorch 2.9.1 cpu_mkl_h7adeb5d_101", ""},
        {"torchvision 0.26", record("cuda129_py311_he7cc6d5_0", {"python", "pytorch * cuda*", "cuda-version >=12.9,<13"}), "nvidia", "needs pytorch * cuda*", "12.9"},
        {"torchvision 0.26 for CPUs", record("cpu_py314_hf84c570_0", {"python", "pytorch * cpu*"}), "none", "needs pytorch * cpu*", ""},
        {"pytorch 2.4.1 of the channel pytorch", record("py3.12_cuda12.4_cudnn9.1.0_0", {"blas * mkl", "pytorch-cuda >=12.4,<12.5", "pytorch-mutex 1.0 cuda"}), "nvidia", "needs pytorch-mutex 1.0 cuda", "12.4"},
        {"the same for CPUs", record("py3.12_cpu_0", {"blas * mkl", "pytorch-mutex 1.0 cpu"}), "none", "needs pytorch-mutex 1.0 cpu", ""},
        {"torchvision 0.9.1", record("py39_cu102", {"cudatoolkit >=10.2,<10.3", "pytorch 1.8.1"}), "nvidia", "needs cudatoolkit >=10.2,<10.3", "10.2"},
        {"libmagma, whose build string says nothing", record("ha7672b3_5", {"cuda-cudart", "cuda-version >=12,<13.0a0", "libcublas"}), "nvidia", "needs cuda-cudart", "12"},
        {"jaxlib 0.9.2", record("cuda129_py311h6689f8c_200", {"python", "__cuda", "cuda-nvcc-tools"}), "nvidia", "needs __cuda", "12.9"},
        {"faiss", record("py310cuda112h1234567_0_cuda", {"faiss-proc * cuda"}), "nvidia", "needs faiss-proc * cuda", ""},
        {"libarrow 10", record("h1234567_3_cpu", {"apache-arrow-proc * cpu"}), "none", "needs apache-arrow-proc * cpu", ""},
        {"ucx, which works with CUDA and needs none", record("hf72d326_1", {"libgcc >=14", "rdma-core >=61.0"}), "none", "", ""},
        {"magma-cuda121 of the channel pytorch", record("1", {}), "none", "", ""},
        {"a build string alone", record("gpu_py37hc9a7826_0", {"python >=3.7,<3.8.0a0"}), "nvidia", "build gpu_py37hc9a7826_0", ""},
        {"another", record("rocm64_py312h1_0", {"python"}), "amd", "build rocm64_py312h1_0", ""},
        {"what only begins like one", record("custom_0", {"curl", "hipsterplot"}), "none", "", ""},
        {"a tool that looks for CUDA", record("py312_0", {"cuda-pathfinder >=1.1"}), "none", "", ""},
        {"openmm 8.5.2, for either", record("py312ha28768a_0", {"cuda-nvrtc >=13.0.88,<14.0a0", "cuda-version >=13.0,<14", "libcufft", "rocm-core >=7.2.1,<7.3.0a0"}), "none", "", "13.0"},
        {"ROCm", record("h1_0", {"rocm-core >=7,<8", "rocblas"}), "amd", "needs rocm-core >=7,<8", ""},
        {"a library of ROCm's", record("h1_0", {"hipblas >=2"}), "amd", "needs hipblas >=2", ""},
        {"headers of ROCm's, which are compiled where it runs", record("h1_0", {"rocprim"}), "amd", "needs rocprim", ""},
        {"what only begins like ROCm's", record("h1_0", {"rocksdb", "hipsterplot"}), "none", "", ""},
        {"AMD's virtual package", record("h1_0", {"__amdgpu_arch >=9.0.10"}), "amd", "needs __amdgpu_arch >=9.0.10", ""},
        {"a flag of gpkg's schema alone", record("h1234567_0", {}, {"sm:90a"}), "nvidia", "flag sm:90a", ""},
        {"a flag without a word", record("h1234567_0", {}, {":90a"}), "none", "", ""},
        {"a flag says it before all else", record("cpu_0", {"__cuda"}, {"release", "accel:amd"}), "amd", "flag accel:amd", ""},
        {"a flag of CEP 45", record("h1_0", {}, {"blas:mkl", "cuda"}), "nvidia", "flag cuda", ""},
        {"the CUDA of build strings", record("cuda92_0", {}), "nvidia", "build cuda92_0", "9.2"},
        {"a toolkit that is bound from above alone", record("h1_0", {"cuda-version <13", "cuda-version >=12"}), "nvidia", "needs cuda-version <13", "12"},
        {"ambertools 24.8, without CUDA", record("cuda_None_nompi_py312h163ff36_103", {"python"}), "none", "build cuda_None_nompi_py312h163ff36_103", ""},
        {"faiss-cpu 1.4.0", record("py36_cuda0.0_1", {"python"}), "none", "build py36_cuda0.0_1", ""},
        {"no CUDA", record("no_cuda_py310_0", {"python"}), "none", "build no_cuda_py310_0", ""},
        {"no ROCm", record("no_rocm_py310_0", {"python"}), "none", "build no_rocm_py310_0", ""},
        {"CUDA switched off", record("cuda_off_0", {"python"}), "none", "build cuda_off_0", ""},
        {"torchvision-cpu 0.2.2", record("py27_cuNone_1", {"pytorch-cpu >=1.1.0"}), "none", "needs pytorch-cpu >=1.1.0", ""},
        {"libhwloc 2.9.2, which tells of AMD's devices", record("nocuda_h7313eea_1008", {"libxml2", "rocm-smi >=5.6.0,<6.0a0"}), "none", "", ""},
        {"cupy-core 14.1.1, which brings no CUDA", constrained(record("py314hf9e62a7_0", {"cuda-pathfinder"}), {"__cuda >=12.0", "cuda-version >=12,<13.0a0"}), "none", "", "12"},
        {"numba, for any CUDA", constrained(record("py312_0", {}), {"cuda-version >=11.2"}), "none", "", ""},
        {"a major version alone", record("cuda13_py312_260205_5b9658c4", {"python"}), "nvidia", "build cuda13_py312_260205_5b9658c4", "13"},
    }));
    // clang-format on
    CAPTURE(row.what);
    const auto found = accelerator_of(row.record);
    CHECK(to_string(found.accelerator) == row.accelerator);
    CHECK(found.evidence == row.evidence);
    CHECK(variant_columns(row.record).cuda == row.cuda);
}

TEST_CASE("what a build constrains brings no CUDA", "[spec]") {
    const auto ucx = constrained(record("hf72d326_1", {"libgcc >=14"}), {"cuda-version >=12,<13"});
    CHECK(!cuda_of(ucx));
    CHECK(cuda_beside(ucx) == "12");
}

TEST_CASE("parts of a vendor's own stack are for no accelerator", "[spec]") {
    // Of conda-forge: they come in one form, and a compiler says nothing of what is run.
    for (const auto* name : {"cuda-cudart", "cuda-nvcc", "cuda-pathfinder", "libcublas", "nccl"}) {
        auto part = record("h376f20c_0", {"cuda-version >=12.9,<12.10.0a0", "libgcc >=13"});
        part.name = name;
        CAPTURE(name);
        CHECK(accelerator_of(part) == AcceleratorOf{});
    }
    for (const auto* name : {"hip", "hipblaslt", "rocprim", "rocr-runtime", "rocm-smi"}) {
        auto part = record("h376f20c_0", {"rocm-core >=7,<8", "__glibc >=2.28"});
        part.name = name;
        CAPTURE(name);
        CHECK(accelerator_of(part) == AcceleratorOf{});
    }
    for (const auto* name : {"libmagma", "pytorch-gpu", "libcurl", "libcudf"}) {
        auto build = record("h376f20c_0", {"libcublas >=12.9,<13"});
        build.name = name;
        CAPTURE(name);
        CHECK(accelerator_of(build).accelerator == Accelerator::Nvidia);
    }
}

}  // namespace accelerator_test
