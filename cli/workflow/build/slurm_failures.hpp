#pragma once

// What went wrong with builds on a cluster, told of the variant and of the machine.

#include "libcore/base/error.hpp"
#include "libcore/cluster/job_array.hpp"
#include "libcore/fs/file.hpp"

#include <map>
#include <optional>
#include <string>

namespace gpkg::cli {

/// With these the script of a task ends that cannot begin.
inline constexpr int kSeesNoFolder = 66;
inline constexpr int kHasNoGpkg = 67;

/// "accel=cuda, python=3.12"; without what all variants of a platform share.
std::string variant_text(const std::map<std::string, std::string>& variant);

/// Of what, and where.
struct TaskPlace {
    std::string distribution;
    std::map<std::string, std::string> variant;
    std::string node;   ///< empty where it got to none
    std::string job;    ///< "17_3"
    std::string state;  ///< what Slurm says of it; empty where it was not asked
    std::string log;    ///< empty where there is none
};

/// Adds it to the text and to the details of the error.
void tell_place(Error& error, const TaskPlace& place);

/// The error of a task that worked in `folder`, whose files lie in `work` now.
Error told_here(Error error, const fs::path& folder, const fs::path& work, const TaskPlace& place);

/// Why a task left no answer, with a hint at what helps.
Error death_of(const std::optional<EndedTask>& ended, const std::string& job);

}  // namespace gpkg::cli
