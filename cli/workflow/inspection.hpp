#pragma once

// What `gpkg inspect` finds out about ELF files, files of GPU code and packages.

#include "libcore/binary/binaries.hpp"
#include "libcore/env/prefix_record.hpp"
#include "libcore/hardware/variant_inputs.hpp"
#include "libcore/package/info.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpkg::cli {

struct InspectedNeed {
    std::string library;
    std::string found;  ///< where: a path, "glibc", "the driver", a package; empty: nowhere
};

struct InspectedBinary {
    std::string path;  ///< as it was asked for, or below the prefix
    /// Nothing for static libraries and containers that are known for their GPU code alone.
    std::optional<ElfFile> elf;
    GpuCode gpu;
    std::vector<InspectedNeed> needs;
};

struct InspectedPackage {
    PackageRecord record;
    About about;
    std::optional<VariantInputs> inputs;  ///< nothing: not known
    std::optional<RunExports> run_exports;
    std::vector<std::string> paths;     ///< its files, below the prefix, sorted
    std::size_t text_placeholders = 0;  ///< files in which the prefix is replaced
    std::size_t binary_placeholders = 0;
    /// Files whose contents match info/paths.json; nothing if they were not compared.
    std::optional<std::size_t> matching_files;
    std::vector<std::string> link_scripts;  ///< "bin/.numpy-post-link.sh"
    std::vector<InspectedBinary> binaries;
};

/// No value where the file is no ELF file and holds no GPU code.
Result<std::optional<InspectedBinary>> inspect_file(const fs::path& path);

/// A .conda or .tar.bz2, unpacked for the time of the call. Fails if a file differs from the
/// package's info/paths.json.
Result<InspectedPackage> inspect_archive(const fs::path& archive);

/// An installed package. What its unpacked package would tell is nothing where that is gone.
Result<InspectedPackage> inspect_installed(const fs::path& prefix, const PrefixRecord& record);

}  // namespace gpkg::cli
