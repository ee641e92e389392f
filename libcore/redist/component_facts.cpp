#include "libcore/redist/component_facts.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gpkg {
namespace {

using Texts = std::vector<std::string>;

bool is_one_of(std::string_view component, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), component) != names.end();
}

/// What stands beside `name`; empty: it is not in the table.
template <std::size_t N>
std::string second_of(const std::array<std::pair<std::string_view, std::string_view>, N>& table,
                      std::string_view name) {
    const auto found = std::find_if(
        table.begin(), table.end(), [&](const auto& row) { return row.first == name; });
    return found == table.end() ? std::string() : std::string(found->second);
}

}  // namespace

std::string ComponentFacts::package_of(RedistPart part) const {
    if (main.contains(part)) return package;
    if (part == RedistPart::Stubs && !stubs.empty()) return stubs;
    return fmt::format("{}-{}", package, part_name(part));
}

ComponentFacts facts_of(std::string_view component) {
    ComponentFacts facts;
    facts.package = component;
    std::replace(facts.package.begin(), facts.package.end(), '_', '-');
    if (component == "cudnn") facts.package = "libcudnn";

    if (is_one_of(component, {"cuda_cccl", "cuda_profiler_api"}))
        facts.main = {RedistPart::Runtime, RedistPart::Dev};
    if (component == "cuda_nvml_dev")
        facts.main = {RedistPart::Runtime, RedistPart::Dev, RedistPart::Stubs};
    if (component == "cuda_documentation") facts.main = {RedistPart::Runtime, RedistPart::Docs};
    if (is_one_of(component,
                  {"cuda_cuobjdump",
                   "cuda_cuxxfilt",
                   "cuda_demo_suite",
                   "cuda_gdb",
                   "cuda_memcheck",
                   "cuda_nsight",
                   "cuda_nvdisasm",
                   "cuda_nvprof",
                   "cuda_nvprune",
                   "cuda_nvvp",
                   "cuda_sanitizer_api",
                   "nsight_compute",
                   "nsight_systems"}))
        facts.main = {RedistPart::Runtime, RedistPart::Tools};
    // Their libraries lie in nvvm/, with the tools.
    facts.has_runtime = !is_one_of(component, {"cuda_nvcc", "cuda_crt", "libnvvm"});

    if (component == "cuda_nvcc") {
        facts.main.insert(RedistPart::Activation);
        facts.compiler = {{"cuda_nvcc", RedistPart::Tools},
                          {"cuda_nvcc", RedistPart::Dev},
                          {"cuda_crt", RedistPart::Dev},
                          {"cuda_crt", RedistPart::Tools},
                          {"libnvvm", RedistPart::Tools},
                          {"cuda_cudart", RedistPart::Dev},
                          {"cuda_cudart", RedistPart::Stubs}};
    }

    if (component == "libcublas") facts.opens = {"cuda_nvrtc"};
    if (component == "libcusparse") facts.links = {"libnvjitlink"};
    if (component == "libcusolver") facts.links = {"libcublas", "libcusparse", "libnvjitlink"};
    if (component == "cuda_nvprof") facts.links = {"cuda_cupti"};
    if (component == "cudnn") facts.opens = {"cuda_nvrtc", "libcublas"};

    if (component == "cuda_cudart") {
        facts.stubs = "cuda-driver-dev";
        facts.dev_needs = {"cuda_cccl", "cuda_crt"};
        facts.dev_needs_static = true;
    }
    if (is_one_of(component,
                  {"cuda_cupti",
                   "cudnn",
                   "libcublas",
                   "libcufft",
                   "libcufile",
                   "libcurand",
                   "libcusolver",
                   "libcusparse",
                   "libnpp",
                   "libnvjpeg",
                   "nccl"}))
        facts.dev_needs = {"cuda_cudart"};
    if (component == "libcublas") facts.dev_needs.emplace_back("cuda_crt");
    if (component == "libcusolver") {
        facts.dev_needs.emplace_back("libcublas");
        facts.dev_needs.emplace_back("libcusparse");
    }
    facts.is_of_system = is_one_of(component,
                                   {"collectx_bringup",
                                    "cuda_compat",
                                    "driver_assistant",
                                    "fabricmanager",
                                    "imex",
                                    "libnvidia_nscq",
                                    "libnvsdm",
                                    "mft",
                                    "mft_autocomplete",
                                    "mft_oem",
                                    "nvidia_driver",
                                    "nvidia_fs",
                                    "nvlsm"});
    return facts;
}

std::string component_of_library(std::string_view library) {
    // By the name up to ".so".
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 27> kComponents{
        {{"libcudart", "cuda_cudart"},
         {"libcupti", "cuda_cupti"},
         {"libcheckpoint", "cuda_cupti"},
         {"libnvperf_host", "cuda_cupti"},
         {"libnvperf_target", "cuda_cupti"},
         {"libnvrtc", "cuda_nvrtc"},
         {"libnvrtc-builtins", "cuda_nvrtc"},
         {"libnvToolsExt", "cuda_nvtx"},
         {"libnvtx3interop", "cuda_nvtx"},
         {"libcudnn", "cudnn"},
         {"libcublas", "libcublas"},
         {"libcublasLt", "libcublas"},
         {"libnvblas", "libcublas"},
         {"libcufft", "libcufft"},
         {"libcufftw", "libcufft"},
         {"libcufile", "libcufile"},
         {"libcufile_rdma", "libcufile"},
         {"libcurand", "libcurand"},
         {"libcusolver", "libcusolver"},
         {"libcusolverMg", "libcusolver"},
         {"libcusparse", "libcusparse"},
         {"libnppc", "libnpp"},
         {"libnvfatbin", "libnvfatbin"},
         {"libnvJitLink", "libnvjitlink"},
         {"libnvjpeg", "libnvjpeg"},
         {"libnvvm", "libnvvm"},
         {"libnccl", "nccl"}}};
    return second_of(kComponents, library.substr(0, library.find(".so")));
}

std::string package_of_library(std::string_view library) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kPackages{
        {{"libgcc_s.so.1", "libgcc"},
         {"libgomp.so.1", "libgomp"},
         {"libibverbs.so.1", "rdma-core"},
         {"libmlx5.so.1", "rdma-core"},
         {"libnuma.so.1", "libnuma"},
         {"libOpenCL.so.1", "ocl-icd"},
         {"librdmacm.so.1", "rdma-core"},
         {"libstdc++.so.6", "libstdcxx"},
         {"libz.so.1", "libzlib"}}};
    return second_of(kPackages, library);
}

}  // namespace gpkg
