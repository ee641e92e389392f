#pragma once

// By what the builds of one version differ, as far as their records tell.

#include "libcore/spec/package_record.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// Empty where the record says nothing.
struct VariantColumns {
    std::string accelerator;  ///< "nvidia", "amd", or "none" where the build is said to be for none
    std::string cuda;         ///< "12.9", the CUDA it is built for
    std::string gpu;          ///< ">=8.0": what it asks of __cuda_arch or __amdgpu_arch
    std::string cpu;          ///< "x86_64_v3" of __archspec, or "level >=3"
    std::string blas;         ///< "mkl"
    std::string mpi;          ///< "openmpi"; "nompi" where the build is said to be without
    std::string python;       ///< "3.12", or the range of a noarch package

    friend bool operator==(const VariantColumns&, const VariantColumns&) = default;
};

struct VariantColumn {
    std::string_view name;   ///< in JSON and differences
    std::string_view title;  ///< in headings of tables
    std::string VariantColumns::*value;
};

/// All of them, in the order in which tables have them.
inline constexpr auto kVariantColumns = std::to_array<VariantColumn>({
    {"accelerator", "Accelerator", &VariantColumns::accelerator},
    {"cuda", "CUDA", &VariantColumns::cuda},
    {"gpu", "GPU", &VariantColumns::gpu},
    {"cpu", "CPU", &VariantColumns::cpu},
    {"blas", "BLAS", &VariantColumns::blas},
    {"mpi", "MPI", &VariantColumns::mpi},
    {"python", "Python", &VariantColumns::python},
});

VariantColumns variant_columns(const PackageRecord& record);

/// The packages that are builds for GPUs, and for which: "pytorch (CUDA 12.9)", "jaxlib (amd)".
std::vector<std::string> gpu_builds(const std::vector<PackageRecord>& records);

}  // namespace gpkg
