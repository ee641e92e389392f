#pragma once

// By what the builds of one version differ, as far as their records tell.

#include "libcore/spec/package_record.hpp"

#include <array>
#include <string>
#include <string_view>

namespace gpkg {

inline constexpr auto kVariantColumns =
    std::to_array<std::string_view>({"accelerator", "cuda", "gpu", "cpu", "blas", "mpi", "python"});

using VariantColumns = std::array<std::string, kVariantColumns.size()>;

/// A value for each of kVariantColumns, empty where the record says nothing:
///   accelerator  "nvidia", "amd", or "none" where the build is said to be for none
///   cuda         "12.9", the CUDA it is built for
///   gpu          ">=8.0": what it asks of __cuda_arch or __amdgpu_arch
///   cpu          "x86_64_v3": what it asks of __archspec, or of the microarchitecture's level
///   blas, mpi    "mkl", "openmpi"; "nompi" where the build is said to be without
///   python       "3.12", or the range of a noarch package
VariantColumns variant_columns(const PackageRecord& record);

}  // namespace gpkg
