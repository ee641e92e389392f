#pragma once

// The pieces of the CUDA probe that only this folder sees: the bounded child process, the text it
// writes, the memory of earlier answers.

#include "virtual-packages/cuda.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::virtual_packages {

/// Set for the probe: a program that takes itself for no probe does not start one in turn.
inline constexpr std::string_view kProbingVariable = "GPKG_PROBING";

/// How a child process ended, or did not.
struct ChildOutcome {
    std::string output;         ///< its standard output, at most 64 KiB of it
    std::string start_failure;  ///< why it could not be started; empty when it was
    bool timed_out = false;
    std::optional<int> exit_status;
    std::optional<int> signal;
};

/// Runs a program for at most `limit`, without CUDA_VISIBLE_DEVICES and with
/// kProbingVariable in its environment. A program
/// that does not die when killed (stuck in the kernel) is abandoned: this never blocks on it.
ChildOutcome run_bounded(const std::vector<std::string>& arguments,
                         std::chrono::milliseconds limit);

/// The probe's lines as a report. What is no such line is a warning.
struct ProbeText {
    CudaReport report;
    std::vector<std::string> rejected;  ///< libraries that did not do, and why
    std::optional<int> announced;       ///< how many devices there should be
    bool started = false;               ///< it was the probe that spoke
    bool ended = false;
};
ProbeText parse_probe_text(std::string_view text);

/// The files the loader may take for `library`: itself where it is a path, else those of that name
/// on LD_LIBRARY_PATH, in ld.so.cache and in the loader's own folders. Only what exists.
std::vector<fs::path> library_files(const Host& host, std::string_view library);

/// What an answer of the driver depends on, as a digest; nothing where this boot has no name.
std::optional<std::string> cuda_cache_key(const Host& host);
std::optional<std::string> read_cuda_cache(const Host& host, const std::string& key);
void write_cuda_cache(const Host& host, const std::string& key, std::string_view probe_text);

}  // namespace gpkg::virtual_packages
