#pragma once

// The machine as detectors see it. Nothing in this folder asks the real one but this_machine(), the
// CUDA probe and detectors' programs, which run in processes of their own; tests give a temporary
// tree, a map and small programs.

#include "libcore/base/env_lookup.hpp"
#include "libcore/fs/file.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::virtual_packages {

/// What the x86 instruction CPUID answers.
struct CpuidRegisters {
    std::uint32_t eax = 0;
    std::uint32_t ebx = 0;
    std::uint32_t ecx = 0;
    std::uint32_t edx = 0;
};

/// How NVIDIA's driver is asked: by a program of its own, since drivers hang and crash.
struct CudaProbe {
    /// The program and its first arguments; the names of `libraries` follow. It runs
    /// cuda_probe_main. Empty: CUDA is not asked for.
    std::vector<std::string> program;
    /// Tried in this order; a name without a slash is looked for by the loader.
    std::vector<std::string> libraries;
    /// After this time the program is killed and left behind, whatever it is stuck in.
    std::chrono::milliseconds limit{5000};
    /// Where answers are kept until the next boot; empty: nowhere.
    fs::path cache_folder;
};

/// How detectors beyond gpkg's own are asked (detectors.hpp).
struct DetectorSettings {
    std::vector<fs::path> folders;  ///< of detectors' files, the user's own first
    /// The program that confines another and its first arguments; what it is to confine follows.
    /// It runs confine_main. Empty: no program is run.
    std::vector<std::string> program;
    /// After this time a program is killed and left behind, whatever it is stuck in.
    std::chrono::milliseconds limit{5000};
    /// Where programs' answers are kept until the next boot; empty: nowhere.
    fs::path cache_folder;
};

struct Host {
    std::string platform;         ///< the target, e.g. "linux-64": what is being solved for
    std::string native_platform;  ///< what this machine is
    fs::path root = "/";          ///< files are read below this
    EnvLookup env;
    /// Leaf and subleaf to registers; empty where the CPU is not an x86.
    std::function<CpuidRegisters(std::uint32_t, std::uint32_t)> cpuid;
    /// The register XCR0: which vector registers the kernel saves. Asked only where CPUID says it
    /// is there.
    std::function<std::uint64_t()> xcr0;
    std::string kernel_release;        ///< as `uname -r` prints it
    std::optional<std::string> glibc;  ///< "2.36"; nothing where the C library is another one
    std::string glibc_source;          ///< where that is from
    CudaProbe cuda;
    DetectorSettings detectors;
    std::function<std::chrono::system_clock::time_point()> now;
};

/// Where libcuda.so.1 may be: the loader's path first, then the folders distributions use.
std::vector<std::string> usual_cuda_libraries();

/// The version that a glibc's libc.so.6 tells in its text, "2.36"; nothing where it is none.
std::optional<std::string> glibc_version_in(std::string_view library);

/// This machine, with itself as the target and this program, re-executed with kCudaProbeVerb and
/// kConfineVerb, as the probe and what confines others. The detectors are those that came with this
/// program. The caller may set `platform` and the folders of caches, and add detectors.
Host this_machine();

}  // namespace gpkg::virtual_packages
