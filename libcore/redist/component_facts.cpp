#include "libcore/redist/component_facts.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

using Texts = std::vector<std::string>;

bool is_one_of(std::string_view component, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), component) != names.end();
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
    // Their libraries lie in nvvm/, with the tools. conda-forge's cuda-nvcc is the activation of
    // the compiler, which no archive holds.
    facts.has_runtime = !is_one_of(component, {"cuda_nvcc", "cuda_crt", "libnvvm"});

    // The libraries have no NEEDED for those that they open by name (nvrtc).
    if (component == "libcublas") facts.runtime_needs = {"cuda_nvrtc"};
    if (component == "libcusparse") facts.runtime_needs = {"libnvjitlink"};
    if (component == "libcusolver")
        facts.runtime_needs = {"libcublas", "libcusparse", "libnvjitlink"};
    if (component == "cudnn") {
        facts.runtime_needs = {"cuda_nvrtc", "libcublas"};
        facts.others = {"libzlib"};
    }
    if (component == "cuda_cudart") {
        facts.stubs = "cuda-driver-dev";
        facts.dev_needs = {"cuda_cccl"};
        facts.dev_needs_static = true;
    }
    if (is_one_of(component, {"libcublas", "libcufft", "libcurand", "libcusolver", "libcusparse"}))
        facts.dev_needs = {"cuda_cudart"};
    if (component == "libcublas") facts.dev_needs.emplace_back("cuda_crt");
    return facts;
}

}  // namespace gpkg
