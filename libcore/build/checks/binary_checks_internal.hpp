#pragma once

// The checks that have files of their own.

#include "libcore/build/checks/binary_checks.hpp"

namespace gpkg {

/// Run dependencies on libraries of the host environment that nothing in the package needs. Errors
/// only where that is certain enough (unused_dependencies.cpp tells when).
Result<std::vector<BinaryFinding>> unused_dependencies(const BinaryCheck& check,
                                                       const std::vector<Binary>& binaries,
                                                       const std::vector<LibraryNeed>& needs);

/// GPU code that the variant promises (`cuda_arch_list`, `gfx_list`) and the package lacks is an
/// error, code that it does not promise a warning.
std::vector<BinaryFinding> gpu_code_findings(const Variant& variant, const GpuCode& code);

/// Where the package names `__glibc` and admits a release older than `release`, the newest that
/// anything in it needs: these `files`.
Result<std::vector<BinaryFinding>> glibc_findings(const std::vector<std::string>& depends,
                                                  const std::vector<std::string>& files,
                                                  const std::string& release);

}  // namespace gpkg
