#pragma once

// The programs and libraries of a package: what each of them is, and what the package tells of all
// of them in info/binaries.json, so that nobody has to unpack it for that.

#include "libcore/binary/elf.hpp"
#include "libcore/binary/gpu_code.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// One ELF file.
struct Binary {
    std::string path;  ///< relative to the prefix
    ElfFile elf;
};

/// The ELF files among `files`, in their order; links are not followed. What begins like ELF and is
/// damaged is left out; what is wrong with it goes to `damaged`, where that is asked for.
Result<std::vector<Binary>> read_binaries(const fs::path& prefix,
                                          const std::vector<std::string>& files,
                                          std::vector<std::string>* damaged = nullptr);

/// By path, the GPU code of those files that hold any.
Result<std::map<std::string, GpuCode>> gpu_code_of(const fs::path& prefix,
                                                   const std::vector<std::string>& files);

/// A library that the package needs and neither holds nor expects of glibc.
struct LibraryNeed {
    std::string library;             ///< "libz.so.1"
    std::vector<std::string> files;  ///< that need it
    /// Who gives it: one of these, or none where that was not known when the package was built.
    std::string package;      ///< a run dependency
    bool is_driver = false;   ///< the machine's driver
    bool is_allowed = false;  ///< the recipe says that it may be missing

    bool is_settled() const { return !package.empty() || is_driver || is_allowed; }
    friend bool operator==(const LibraryNeed&, const LibraryNeed&) = default;
};

/// info/binaries.json.
struct PackageBinaries {
    std::string glibc;  ///< the newest release that files need which have to have it; empty: none
    GpuCode gpu;        ///< of all files together
    std::map<std::string, GpuCode> gpu_files;  ///< of those that hold any
    std::vector<LibraryNeed> needs;            ///< by library

    bool empty() const { return glibc.empty() && gpu.empty() && needs.empty(); }
};

inline constexpr std::string_view kBinariesFile = "binaries.json";

std::string binaries_json(const PackageBinaries& binaries);
/// `what` names the text in errors.
Result<PackageBinaries> parse_binaries_json(std::string_view text, std::string_view what);

}  // namespace gpkg
