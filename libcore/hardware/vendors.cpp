#include "libcore/hardware/vendors.hpp"

#include <algorithm>
#include <array>

namespace gpkg {
namespace {

template <std::size_t N>
using Texts = std::array<std::string_view, N>;
using Says = ToolkitPackage::Says;

// Beginnings: "libcu" and "libnv" alone would take libcurl and libnvme too.
constexpr auto kCudaBeginnings = std::to_array<std::string_view>({
    "cuda-",       "cusparselt",   "cutensor",    "libcublas",        "libcudnn",
    "libcudss",    "libcufft",     "libcufile",   "libcuobjclient",   "libcurand",
    "libcusolver", "libcusparse",  "libcutensor", "libnpp",           "libnvcomp",
    "libnvfatbin", "libnvjitlink", "libnvjpeg",   "libnvptxcompiler", "libnvshmem",
    "libnvvm",     "nsight-",
});
constexpr Texts<6> kCudaPackages{"cuda", "cudatoolkit", "cudnn", "gds-tools", "nccl", "nvcomp"};
constexpr auto kCudaToolkitPackages = std::to_array<ToolkitPackage>({
    {"cuda-version", Says::Release},
    {"pytorch-cuda", Says::Major},
    {"cudatoolkit", Says::Release},
    {"cuda-toolkit"},
    {"cuda"},
});
constexpr Texts<3> kCudaSelectors{"pytorch-cuda", "pytorch-gpu", "tensorflow-gpu"};
constexpr Texts<5> kCudaNumberedOtherwise{
    "cuda-core", "cuda-pathfinder", "cuda-compat", "cuda-tile", "cuda-nsight"};

// NVIDIA, "CUDA Toolkit Release Notes", component versions of 11.0 to 13.0.
constexpr auto kCudaNumberings = std::to_array<PartNumbering>({
    {"libcublas", "11", 11},     {"libcublas", "12", 12},       {"libcublas", "13", 13},
    {"libcufft", "10.1", 11},    {"libcufft", "11", 12},        {"libcufft", "12", 13},
    {"libcufile", "1.0", 11},    {"libcufile", "1.5", 12},      {"libcufile", "1.15", 13},
    {"libcurand", "10.2.1", 11}, {"libcurand", "10.3.1", 12},   {"libcurand", "10.4", 13},
    {"libcusolver", "10.5", 11}, {"libcusolver", "11.4.2", 12}, {"libcusolver", "12", 13},
    {"libcusparse", "11", 11},   {"libcusparse", "12", 12},     {"libcusparse", "12.6", 13},
    {"libnpp", "11", 11},        {"libnpp", "12", 12},          {"libnpp", "13", 13},
    {"libnvjpeg", "11", 11},     {"libnvjpeg", "12", 12},       {"libnvjpeg", "13", 13},
    {"libnvjitlink", "12", 12},  {"libnvjitlink", "13", 13},    {"libnvfatbin", "12", 12},
    {"libnvfatbin", "13", 13},   {"libnvvm-samples", "11", 11}, {"libnvvm-samples", "12", 12},
});

// Headers too (rocprim, hipcub): who needs those where it runs has code for AMD's GPUs compiled
// there, as CuPy does. CUDA's are taken so as well (cuda-cccl).
constexpr auto kRocmBeginnings = std::to_array<std::string_view>({
    "hip-",        "hipblas",      "hipcc",     "hipcub",    "hipfft",    "hipify",
    "hiprand",     "hipsolver",    "hipsparse", "migraphx",  "miopen",    "rccl",
    "rocalution",  "rocblas",      "rocfft",    "rocm-",     "rocminfo",  "rocprim",
    "rocprofiler", "rocr-runtime", "rocrand",   "rocsolver", "rocsparse", "roct-thunk-interface",
    "rocthrust",   "roctracer",
});
constexpr auto kRocmToolkitPackages =
    std::to_array<ToolkitPackage>({{"rocm-core"}, {"rocm-version"}});

constexpr Texts<1> kNone{"none"}, kCpu{"cpu"}, kAmd{"amd"}, kHip{"hip"}, kGfx{"gfx"}, kRocm{"rocm"},
    kRocmSmi{"rocm-smi"}, kCuda{"cuda"}, kCudaPathfinder{"cuda-pathfinder"};
constexpr Texts<2> kNvidia{"nvidia", "gpu"}, kCudaCode{"sm", "ptx"}, kCudaRelease{"cuda", "cu"},
    kRocmWords{"rocm", "hip"};
constexpr Texts<3> kCpuSelectors{"cpuonly", "pytorch-cpu", "tensorflow-cpu"};

/// By the number of the accelerator.
constexpr auto kRows = std::to_array<Vendor>({
    {
        .accelerator = Accelerator::None,
        .choice = AcceleratorChoice::None,
        .name = "none",
        .title = "CPU",
        .toolkit = "CPU",
        .word = "cpu",
        .words = kNone,
        .word_beginnings = kCpu,
        .build_selectors = kCpuSelectors,
    },
    {
        .accelerator = Accelerator::Nvidia,
        .choice = AcceleratorChoice::Nvidia,
        .name = "nvidia",
        .title = "NVIDIA",
        .toolkit = "CUDA",
        .word = "cuda",
        .driver = "__cuda",
        .device = "__cuda_arch",
        .driver_tells_release = true,
        .words = kNvidia,
        .word_beginnings = kCuda,
        .release_words = kCudaRelease,
        .code_flags = kCudaCode,
        .packages = kCudaPackages,
        .beginnings = kCudaBeginnings,
        .without_gpu = kCudaPathfinder,
        .build_selectors = kCudaSelectors,
        .toolkit_packages = kCudaToolkitPackages,
        .numbered_beginning = "cuda-",
        .numbered_otherwise = kCudaNumberedOtherwise,
        .numberings = kCudaNumberings,
        .first_major = 9,
        .last_major = 14,
        .first_compatible_major = 11,  // NVIDIA, "CUDA Compatibility"
    },
    {
        .accelerator = Accelerator::Amd,
        .choice = AcceleratorChoice::Amd,
        .name = "amd",
        .title = "AMD",
        .toolkit = "ROCm",
        .word = "rocm",
        .driver = "__amdgpu",
        .device = "__amdgpu_arch",
        .software = "__rocm",
        .words = kAmd,
        .word_beginnings = kRocmWords,
        .release_words = kRocm,
        .code_flags = kGfx,
        .packages = kHip,
        .beginnings = kRocmBeginnings,
        .without_gpu = kRocmSmi,
        .toolkit_packages = kRocmToolkitPackages,
        .first_major = 4,
        .last_major = 9,
    },
});

}  // namespace

bool is_one_of(std::string_view name, Vendor::Names names) {
    return std::ranges::find(names, name) != names.end();
}

bool begins_with_one_of(std::string_view name, Vendor::Names beginnings) {
    return std::ranges::any_of(beginnings, [&](auto begin) { return name.starts_with(begin); });
}

bool Vendor::has_part(std::string_view package) const {
    return is_one_of(package, packages) || begins_with_one_of(package, beginnings);
}

const ToolkitPackage* Vendor::find_toolkit_package(std::string_view package) const {
    const auto found = std::ranges::find(toolkit_packages, package, &ToolkitPackage::name);
    return found == toolkit_packages.end() ? nullptr : &*found;
}

std::span<const Vendor> accelerator_rows() { return kRows; }
std::span<const Vendor> vendors() { return std::span(kRows).subspan(1); }
const Vendor& row_of(Accelerator accelerator) {
    return kRows[static_cast<std::size_t>(accelerator)];
}

}  // namespace gpkg
