#pragma once

// GPU code in binaries: for which architectures a library or program holds machine code, and for
// which NVIDIA's intermediate code (PTX), which a driver compiles. Read from the sections that nvcc
// (.nv_fatbin) and hipcc (.hip_fatbin) write; nothing is run or decompressed.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/spec/version.hpp"

#include <set>
#include <string>
#include <string_view>

namespace gpkg {

struct GpuCode {
    std::set<int> sass;         ///< compute capabilities times ten, 90 for 9.0: machine code
    std::set<int> ptx;          ///< the same: intermediate code
    std::set<std::string> gfx;  ///< AMD's targets, "gfx90a", "gfx90a:xnack+"

    bool empty() const { return sass.empty() && ptx.empty() && gfx.empty(); }
    void add(const GpuCode& more);
};

/// Empty where the file is no 64-bit ELF file, has none of those sections, or has them in a form
/// that is not known. Errors: the file cannot be read, or a section promises more than there is.
Result<GpuCode> read_gpu_code(const fs::path& file);

/// How code runs on a device.
enum class CodeRuns {
    Natively,
    Compiled,  ///< only as PTX, which the driver compiles at the first start
    No,
};

/// On a device of this compute capability. Where there is no code for NVIDIA at all: No.
CodeRuns runs_on_nvidia(const GpuCode& code, const Version& capability);
/// On a device of this target, "gfx90a" or, where that is known, "gfx90a:xnack-"; generic targets
/// ("gfx9-4-generic") run on all of a family.
CodeRuns runs_on_amd(const GpuCode& code, std::string_view target);

/// "9.0" of 90.
std::string capability_text(int capability);
/// "machine code for 8.0 and 9.0, PTX of 9.0".
std::string to_string(const GpuCode& code);

}  // namespace gpkg
