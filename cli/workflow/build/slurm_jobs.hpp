#pragma once

// The job arrays of a run of gpkg build --slurm: what is submitted, what has ended, and how.

#include "cli/workflow/build/request.hpp"
#include "libcore/build/cluster/task_array.hpp"
#include "libcore/cluster/job_array.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace gpkg::cli {

class SlurmJobs {
public:
    struct Id {
        std::size_t array = 0;
        std::size_t index = 0;
        friend bool operator==(const Id&, const Id&) = default;
        friend bool operator<(const Id& one, const Id& other) {
            return std::tie(one.array, one.index) < std::tie(other.array, other.index);
        }
    };
    struct Ended {
        Id id;
        std::optional<TaskAnswer> answer;
        std::optional<EndedTask> told;  ///< by Slurm, of one that did not go well
    };

    SlurmJobs(Context& context, const BuildRequest& request, fs::path work);

    /// Looks at what earlier runs left, and gives what of it has ended.
    Result<std::vector<Ended>> recover();
    /// What of it is in the queue; nobody waits for it yet.
    const std::map<Id, TaskOrder>& left() const { return left_; }
    void adopt(Id id);
    /// Cancels some of it, waits until it is gone, and forgets it.
    Result<void> drop(const std::set<Id>& ids);

    Result<std::vector<Id>> submit(const std::vector<TaskOrder>& orders);
    bool is_waiting() const { return !live_.empty(); }
    /// Waits until something of what was submitted or adopted has ended.
    Result<std::vector<Ended>> next();
    /// To be called when a run ends early: Ctrl-C cancels what is in the queue, anything else
    /// leaves it. Says so in the error.
    Error ended_early(Error error);

    Result<void> gather(Id id) const { return arrays_[id.array].gather(id.index, work_); }
    Result<void> forget(Id id) const { return arrays_[id.array].forget(id.index); }
    fs::path folder(Id id) const { return arrays_[id.array].task(id.index); }
    fs::path log(Id id) const { return arrays_[id.array].log(id.index); }
    /// "17_3"
    std::string job(Id id) const;

    /// What an array of so many tasks would be submitted with.
    static Result<ArrayRequest> array_request(const Context& context,
                                              const BuildRequest& request,
                                              std::size_t count);

private:
    using Clock = std::chrono::steady_clock;

    Result<void> submit_some(const std::vector<TaskOrder>& orders, std::vector<Id>& ids);
    Result<void> write_script(const TaskArray& array) const;
    Result<QueuedTasks> queue_of(const std::set<std::size_t>& arrays) const;
    Result<std::vector<Ended>> look();
    Result<std::optional<Ended>> look_at(Id id, const QueuedTasks& queue);
    void tell_held(Id id, const QueuedTask& task);
    Result<void> pause(Clock::duration time) const;
    std::string jobs_of_live() const;

    Context& context_;
    const BuildRequest& request_;
    fs::path work_;
    std::function<bool()> cancelled_;
    std::vector<TaskArray> arrays_;
    std::map<Id, TaskOrder> left_;
    std::set<Id> live_;
    std::map<Id, Clock::time_point> missing_;  ///< left the queue, and the answer is not seen yet
    std::size_t largest_ = 0;
    bool is_silence_told_ = false;
};

}  // namespace gpkg::cli
