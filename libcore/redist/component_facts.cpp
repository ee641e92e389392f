#include "libcore/redist/component_facts.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gpkg {
namespace {

/// What is known of a component; lists are words.
struct Row {
    std::string_view component;
    /// Names up to ".so" of what its archive and its package have: for archives that are not at
    /// hand, and for packages.
    std::string_view libraries{};
    /// Where its package is not called like it.
    std::string_view package{};
    /// Parts that are in the package of its name, beside the runtime.
    std::string_view main{};
    bool has_runtime = true;
    // The others as ComponentFacts has them.
    std::string_view stubs{};
    std::string_view links{};
    std::string_view opens{};
    std::string_view dev_needs{};
    bool dev_needs_static = false;
    std::string_view compiler{};  ///< "cuda_nvcc:tools": component and part
    bool is_of_system = false;
};

constexpr Row kRows[] = {
    {.component = "cuda_cccl", .main = "dev"},
    {.component = "cuda_crt", .has_runtime = false},  // its files lie with the compiler's
    {.component = "cuda_cudart",
     .libraries = "libcudart",
     .stubs = "cuda-driver-dev",
     .dev_needs = "cuda_cccl cuda_crt",
     .dev_needs_static = true},
    {.component = "cuda_cuobjdump", .main = "tools"},
    {.component = "cuda_cupti",
     .libraries = "libcupti libcheckpoint libnvperf_host libnvperf_target libpcsamplingutil",
     .dev_needs = "cuda_cudart"},
    {.component = "cuda_cuxxfilt", .main = "tools"},
    {.component = "cuda_demo_suite", .main = "tools"},
    {.component = "cuda_documentation", .main = "docs"},
    {.component = "cuda_gdb", .main = "tools"},
    {.component = "cuda_memcheck", .main = "tools"},
    {.component = "cuda_nsight", .main = "tools"},
    {.component = "cuda_nvcc",
     .main = "activation",
     .has_runtime = false,  // its libraries lie in nvvm/, with the tools
     .compiler = "cuda_nvcc:tools cuda_nvcc:dev cuda_crt:dev cuda_crt:tools libnvvm:tools "
                 "cuda_cudart:dev cuda_cudart:stubs"},
    {.component = "cuda_nvdisasm", .main = "tools"},
    {.component = "cuda_nvml_dev", .main = "dev stubs"},
    {.component = "cuda_nvprof", .main = "tools", .links = "cuda_cupti"},
    {.component = "cuda_nvprune", .main = "tools"},
    {.component = "cuda_nvrtc", .libraries = "libnvrtc libnvrtc-builtins"},
    {.component = "cuda_nvtx", .libraries = "libnvToolsExt libnvtx3interop"},
    {.component = "cuda_nvvp", .main = "tools"},
    {.component = "cuda_profiler_api", .main = "dev"},
    {.component = "cuda_sanitizer_api", .main = "tools"},
    {.component = "cudnn",
     .libraries = "libcudnn",
     .package = "libcudnn",
     .opens = "cuda_nvrtc libcublas",
     .dev_needs = "cuda_cudart"},
    {.component = "libcublas",
     .libraries = "libcublas libcublasLt libnvblas",
     .opens = "cuda_nvrtc",
     .dev_needs = "cuda_cudart cuda_crt"},
    {.component = "libcufft", .libraries = "libcufft libcufftw", .dev_needs = "cuda_cudart"},
    {.component = "libcufile", .libraries = "libcufile libcufile_rdma", .dev_needs = "cuda_cudart"},
    {.component = "libcurand", .libraries = "libcurand", .dev_needs = "cuda_cudart"},
    {.component = "libcusolver",
     .libraries = "libcusolver libcusolverMg",
     .links = "libcublas libcusparse libnvjitlink",
     .dev_needs = "cuda_cudart libcublas libcusparse"},
    {.component = "libcusparse",
     .libraries = "libcusparse",
     .links = "libnvjitlink",
     .dev_needs = "cuda_cudart"},
    {.component = "libnpp",
     .libraries = "libnppc libnppial libnppicc libnppidei libnppif libnppig libnppim libnppist "
                  "libnppisu libnppitc libnpps",
     .dev_needs = "cuda_cudart"},
    {.component = "libnvfatbin", .libraries = "libnvfatbin"},
    {.component = "libnvjitlink", .libraries = "libnvJitLink"},
    {.component = "libnvjpeg", .libraries = "libnvjpeg", .dev_needs = "cuda_cudart"},
    {.component = "libnvvm", .libraries = "libnvvm", .has_runtime = false},
    {.component = "nccl", .libraries = "libnccl", .dev_needs = "cuda_cudart"},
    {.component = "nsight_compute", .main = "tools"},
    {.component = "nsight_systems", .main = "tools"},

    {.component = "collectx_bringup", .is_of_system = true},
    {.component = "cuda_compat", .is_of_system = true},
    {.component = "driver_assistant", .is_of_system = true},
    {.component = "fabricmanager", .is_of_system = true},
    {.component = "imex", .is_of_system = true},
    {.component = "libnvidia_nscq", .is_of_system = true},
    {.component = "libnvsdm", .is_of_system = true},
    {.component = "mft", .is_of_system = true},
    {.component = "mft_autocomplete", .is_of_system = true},
    {.component = "mft_oem", .is_of_system = true},
    {.component = "nvidia_driver", .is_of_system = true},
    {.component = "nvidia_fs", .is_of_system = true},
    {.component = "nvlsm", .is_of_system = true},
};

struct OtherLibrary {
    std::string_view library, package;
};
constexpr auto kOthers = std::to_array<OtherLibrary>({{"libgcc_s.so.1", "libgcc"},
                                                      {"libgomp.so.1", "libgomp"},
                                                      {"libibverbs.so.1", "rdma-core"},
                                                      {"libmlx5.so.1", "rdma-core"},
                                                      {"libnuma.so.1", "libnuma"},
                                                      {"libOpenCL.so.1", "ocl-icd"},
                                                      {"librdmacm.so.1", "rdma-core"},
                                                      {"libstdc++.so.6", "libstdcxx"},
                                                      {"libz.so.1", "libzlib"}});

std::vector<std::string_view> words(std::string_view list) {
    return list.empty() ? std::vector<std::string_view>() : split(list, ' ');
}

std::vector<std::string> texts(std::string_view list) {
    const auto all = words(list);
    return {all.begin(), all.end()};
}

bool names_word(std::string_view list, std::string_view word) {
    const auto all = words(list);
    return std::find(all.begin(), all.end(), word) != all.end();
}

std::set<RedistPart> parts_of(std::string_view list) {
    std::set<RedistPart> parts;
    for (const auto part : redist_parts()) {
        if (names_word(list, part_name(part))) parts.insert(part);
    }
    return parts;
}

std::string package_of(std::string_view component, std::string_view known) {
    auto package = std::string(known.empty() ? component : known);
    std::replace(package.begin(), package.end(), '_', '-');
    return package;
}

}  // namespace

std::string ComponentFacts::package_of(RedistPart part) const {
    if (main.contains(part)) return package;
    if (part == RedistPart::Stubs && !stubs.empty()) return stubs;
    return fmt::format("{}-{}", package, part_name(part));
}

ComponentFacts facts_of(std::string_view component) {
    const auto* const found = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& row) {
        return row.component == component;
    });
    const auto row = found == std::end(kRows) ? Row{component} : *found;
    ComponentFacts facts;
    facts.package = package_of(component, row.package);
    facts.main.merge(parts_of(row.main));
    facts.has_runtime = row.has_runtime;
    facts.stubs = row.stubs;
    facts.links = texts(row.links);
    facts.opens = texts(row.opens);
    facts.dev_needs = texts(row.dev_needs);
    facts.dev_needs_static = row.dev_needs_static;
    for (const auto word : words(row.compiler)) {
        const auto colon = word.find(':');
        facts.compiler.emplace_back(word.substr(0, colon),
                                    *parts_of(word.substr(colon + 1)).begin());
    }
    facts.is_of_system = row.is_of_system;
    return facts;
}

std::string component_of_library(std::string_view library) {
    const auto stem = library.substr(0, library.find(".so"));
    for (const auto& row : kRows) {
        if (names_word(row.libraries, stem)) return std::string(row.component);
    }
    return {};
}

std::vector<std::string> libraries_of_package(std::string_view package) {
    for (const auto& row : kRows) {
        if (package_of(row.component, row.package) == package) return texts(row.libraries);
    }
    return {};
}

std::string package_of_library(std::string_view library) {
    const auto* const found = std::find_if(
        kOthers.begin(), kOthers.end(), [&](const auto& one) { return one.library == library; });
    return found == kOthers.end() ? std::string() : std::string(found->package);
}

}  // namespace gpkg
