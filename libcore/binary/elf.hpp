#pragma once

// ELF files as the builder sees them: what they are, which libraries they name, where they look for
// them. Reading is ours; writing goes through the patchelf program for the moment of one call,
// set_rpath(), and nothing else knows of it.

#include "libcore/base/cancelled.hpp"
#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpkg {

struct ElfFile {
    enum class Kind { Relocatable, Executable, SharedObject, Other };

    Kind kind = Kind::Other;
    std::uint16_t machine = 0;  ///< e_machine: 62 is x86-64, 183 is AArch64
    bool is_64_bit = true;
    /// It has a dynamic section with content: a program or library that the loader works on. Object
    /// files, static programs and files of debug symbols alone have none.
    bool is_dynamic = false;
    std::string interpreter;  ///< of a program: /lib64/ld-linux-x86-64.so.2
    std::string soname;
    std::vector<std::string> needed;
    /// DT_RPATH, split at ':'. An entry may be empty: the loader takes it for the working folder.
    std::vector<std::string> rpath;
    std::vector<std::string> runpath;  ///< DT_RUNPATH; the loader then ignores DT_RPATH
    /// The newest release of glibc whose symbols it asks for, "2.34"; empty where it asks for none.
    std::string glibc;
    bool is_static_pie = false;  ///< a program that is loaded anywhere and needs no loader
    bool is_stripped = false;    ///< it has no table of symbols for debuggers
};

/// The later of two releases, "2.9" before "2.34"; an empty one is before all.
std::string newer_glibc(const std::string& one, const std::string& other);

/// No value when the file is no ELF file. A file that begins like one and does not hold what it
/// promises is an Integrity error.
Result<std::optional<ElfFile>> read_elf(const fs::path& file);
/// The same of a file in a folder that stands for something else, a package: errors name the file
/// by its path in there.
Result<std::optional<ElfFile>> read_elf_in(const fs::path& folder, const std::string& path);

/// Gives every file this DT_RPATH and takes a DT_RUNPATH away; no entries: neither. The files must
/// be dynamic and writable.
Result<void> set_rpath(const std::vector<fs::path>& files,
                       const std::vector<std::string>& entries,
                       const Cancelled& cancelled = {});

}  // namespace gpkg
