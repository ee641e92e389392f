#pragma once

// An array of tasks as it is kept in a folder below <work>/slurm, from before it is submitted until
// what it made is gathered. Who waits for it may be gone for a while, or be another process.
//
//   <work>/slurm/1a2b3c4d/owner          the claim of who waits for it
//                         array.json     which job it is
//                         script.sh      what the job runs
//                         0.log          what the job of the first task said
//                         0/             the work folder of the first task, with order and answer

#include "libcore/build/cluster/task_files.hpp"
#include "libcore/fs/claim.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gpkg {

class TaskArray {
public:
    /// A new one; it is not submitted yet.
    static Result<TaskArray> make(const fs::path& work, const std::vector<TaskOrder>& orders);
    /// Those that earlier runs left and no living process has. What is left of one that was never
    /// whole is removed.
    static Result<std::vector<TaskArray>> left_in(const fs::path& work);

    /// What the job is called, which no other is.
    std::string name() const { return "gpkg-build-" + folder_.filename().native(); }
    std::size_t count() const { return count_; }
    /// Slurm's number of it; empty until it is known.
    const std::string& job() const { return job_; }
    Result<void> remember_job(const std::string& job);

    const fs::path& folder() const { return folder_; }
    fs::path task(std::size_t index) const { return folder_ / std::to_string(index); }
    fs::path log(std::size_t index) const { return folder_ / (std::to_string(index) + ".log"); }

    /// Those that are not gathered.
    std::vector<std::size_t> open() const;
    /// Moves what the task made, its notes and its logs, to where a run in this folder has them,
    /// and forgets the task. Can be done again where it was cut off.
    Result<void> gather(std::size_t index, const fs::path& work) const;
    /// Removes all that the task left; with the last of them the array.
    Result<void> forget(std::size_t index) const;

private:
    TaskArray(fs::path folder, Claim owner)
        : folder_(std::move(folder)), owner_(std::move(owner)) {}
    Result<void> write() const;

    fs::path folder_;
    Claim owner_;
    std::size_t count_ = 0;
    std::string job_;
};

}  // namespace gpkg
