#pragma once

// The job that this process is in.

#include "libcore/base/error.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace gpkg {

struct SlurmJob {
    std::string id;
    std::vector<std::string> nodes;     ///< in Slurm's order
    std::function<bool()> cancelled{};  ///< asked now and then
};

/// NotFound outside of a job; Unsupported for one of several components, each with options of its
/// own (srun's ":").
Result<SlurmJob> this_job(std::function<bool()> cancelled);

/// Which of these jobs of this user have not ended. Slurm forgets those that have.
Result<std::set<std::string>> living_jobs(const std::set<std::string>& jobs,
                                          const std::function<bool()>& cancelled);

}  // namespace gpkg
