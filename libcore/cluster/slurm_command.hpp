#pragma once

// Slurm's own programs, asked for a limited time. What they print has the form of their manual
// pages whatever variables the user has set for reading it.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct SlurmCommand {
    std::vector<std::string> arguments;  ///< the program first: sinfo, srun, ...
    /// It makes an allocation of its own, also inside a job, whose variables it is not given.
    bool own_allocation = false;
    fs::path input{};                   ///< its standard input; empty: nothing to read
    std::chrono::seconds limit{60};     ///< then it is told to end, and killed if it does not
    std::function<bool()> cancelled{};  ///< asked now and then
};

struct SlurmAnswer {
    int exit_code = 0;  ///< 128 + n where signal n ended it
    std::string output;
    std::string errors;
};

/// Fails with NotFound where there is no such program, with Network where it is too slow, and with
/// Interrupted where it was cancelled; srun gives its allocation back in either case.
Result<SlurmAnswer> ask_slurm(const SlurmCommand& command);

/// Its output; any exit status but 0 is an error that tells what it said.
Result<std::string> slurm_output(const SlurmCommand& command);

/// The same, with "Slurm does not answer" before what the program said.
Result<std::string> slurm_state(const SlurmCommand& command);

/// What such an answer means: the program, and the last that it said.
Error refusal(const SlurmCommand& command, const SlurmAnswer& answer);

/// Whether a job in this state, "COMPLETED", has ended; by squeue's and scontrol's long names.
bool has_ended(std::string_view state);

/// Whether this process belongs to a job.
bool in_slurm_job();

}  // namespace gpkg
