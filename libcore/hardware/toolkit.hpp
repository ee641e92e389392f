#pragma once

// Which CUDA toolkits a package can be built with, as its build string and what it asks of a
// package like cuda-version tell.

#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/package_record.hpp"
#include "libcore/spec/version.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// 12.6 of "cuda126_mkl_h4a15719_0" and "cuda126py312h3fd9d12_200". Nothing for a major version
/// alone.
std::optional<Version> toolkit_of_build(std::string_view build);

/// Those that a dependency on a package like cuda-version takes, of all that are known and those
/// that it names: 12.6, 12.8, 12.9 of "cuda-version >=12.6,<13". Empty where it is on another
/// package, and where it takes none of them.
std::vector<Version> toolkits_of(const MatchSpec& dependency);

/// The CUDA that a record tells it is for: "12.9" or "12"; nothing where none can be read.
std::optional<std::string> cuda_of(const PackageRecord& record);

}  // namespace gpkg
