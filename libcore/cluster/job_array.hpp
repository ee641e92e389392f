#pragma once

// Job arrays of Slurm: submitting them, and what has become of their tasks. Accounting is not
// needed; of tasks that ended Slurm tells for some minutes (MinJobAge).

#include "libcore/cluster/slurm_command.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct ArrayRequest {
    std::string name;  ///< of the job
    fs::path script;
    std::size_t count = 0;           ///< of tasks, numbered from 0
    std::size_t at_a_time = 0;       ///< 0: as many as there is room for
    fs::path folder;                 ///< to run in
    fs::path logs;                   ///< a folder: the task's number and ".log"
    std::vector<std::string> words;  ///< further options of sbatch
};

std::vector<std::string> sbatch_command(const ArrayRequest& request);

/// The number of the job. What interrupts it comes too late: ask find_array() then.
Result<std::string> submit_array(const ArrayRequest& request);
/// Of this user's jobs in the queue, the one of that name.
Result<std::optional<std::string>> find_array(const std::string& name,
                                              const std::function<bool()>& cancelled);
/// How many tasks an array may have.
Result<std::size_t> largest_array(const std::function<bool()>& cancelled);

/// A task in the queue.
struct QueuedTask {
    std::string state;   ///< as squeue has it: PENDING, RUNNING, COMPLETING, ...
    std::string node;    ///< empty while it waits
    std::string reason;  ///< why it waits

    bool is_waiting() const { return node.empty(); }
    /// It is done, and the node cleans up.
    bool is_ending() const { return state == "COMPLETING"; }
    /// It waits for a person.
    bool is_held() const { return reason.find("eld") != std::string::npos; }
};
using QueuedTasks = std::map<std::pair<std::string, std::size_t>, QueuedTask>;  ///< job and number
/// Those of these jobs that have not ended.
Result<QueuedTasks> queued_tasks(const std::vector<std::string>& jobs,
                                 const std::function<bool()>& cancelled);
QueuedTasks parse_queue(std::string_view text);

/// A task that ended.
struct EndedTask {
    std::string state;  ///< COMPLETED, FAILED, TIMEOUT, OUT_OF_MEMORY, CANCELLED, NODE_FAIL, ...
    std::string reason;
    std::string node;
    std::string time_limit;
    int exit_code = 0;
    int signal = 0;
};
/// No value where Slurm has forgotten it, or it has not ended.
Result<std::optional<EndedTask>> ended_task(const std::string& job,
                                            std::size_t index,
                                            const std::function<bool()>& cancelled);
std::optional<EndedTask> parse_ended(std::string_view text);
/// The same of the record, among those of the job, that is of this task and perhaps of others. One
/// that none is of was cancelled while it waited.
std::optional<EndedTask> parse_ended_in(std::string_view records, std::size_t index);

/// Of some tasks of a job; of all where `indexes` is empty.
Result<void> cancel_tasks(const std::string& job, const std::vector<std::size_t>& indexes);

}  // namespace gpkg
