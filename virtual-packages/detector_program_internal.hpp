#pragma once

// Asking the program that a detector's file names.

#include "virtual-packages/detector_file_internal.hpp"
#include "virtual-packages/profile.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg::virtual_packages {

/// What a program answered.
struct Answer {
    std::vector<VirtualPackage> packages;
    std::vector<GpuDevice> gpus;
};

/// Reads an answer; errors begin with `where`. Only the packages of `yields` and GPUs of vendors
/// that gpkg has no detector for are accepted.
Result<Answer> parse_answer(std::string_view text,
                            const std::string& where,
                            const std::vector<std::string>& yields);

struct Asked {
    Answer answer;
    bool from_cache = false;
    /// What the kernel could not be made to refuse: "writing", "network". Empty as a rule.
    std::vector<std::string> unconfined;
    std::string warning;  ///< why there is no answer; empty as a rule
};

/// Runs the program, or remembers what it said.
Asked ask_program(const Host& host, const Detector& detector);

}  // namespace gpkg::virtual_packages
