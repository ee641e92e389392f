#pragma once

// GPU code in files: for which architectures a library or program holds machine code, and for which
// NVIDIA's intermediate code (PTX), which a driver compiles. Read from the sections that nvcc
// (.nv_fatbin) and hipcc (.hip_fatbin) write, from those of the members of static libraries, and
// from files of such code alone (.fatbin, .cubin); nothing is run or decompressed.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/spec/version.hpp"

#include <set>
#include <string>
#include <string_view>

namespace gpkg {

struct GpuCode {
    std::set<CudaTarget> sass;  ///< machine code
    std::set<CudaTarget> ptx;   ///< intermediate code
    std::set<std::string> gfx;  ///< AMD's targets, "gfx90a", "gfx90a:xnack+"

    bool has_cuda() const { return !sass.empty() || !ptx.empty(); }
    bool empty() const { return !has_cuda() && gfx.empty(); }
    void add(const GpuCode& more);
    /// What this has and `other` has not.
    GpuCode without(const GpuCode& other) const;
};

/// Empty where the file is of no kind that GPU code is found in, or has it in a form that is not
/// known. Errors: the file cannot be read, or promises more than there is.
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

/// "machine code for 8.0 and 9.0, PTX of 9.0".
std::string to_string(const GpuCode& code);

}  // namespace gpkg
