#pragma once

// A program that asks somebody else, who may never answer.

#include "libcore/cluster/slurm_command.hpp"
#include "libcore/process/process.hpp"

namespace gpkg {

/// Runs the command with its outputs apart. Network where it is too slow, and what it said last.
Result<SlurmAnswer> run_limited(ProcessCommand command,
                                std::chrono::seconds limit,
                                const std::function<bool()>& cancelled);

}  // namespace gpkg
