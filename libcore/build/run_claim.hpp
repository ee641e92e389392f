#pragma once

// What a run builds is its own while it lasts, so that no second run builds the same, pulls a
// folder away, or takes what is not published. A run writes the names of its outputs into a file of
// <work>/runs, all at once or not at all, and holds a flock(2) on it, which the kernel drops with
// the process.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <chrono>
#include <functional>
#include <set>
#include <string>

namespace gpkg {

class RunClaim {
public:
    struct Waiting {
        std::function<bool()> cancelled{};  ///< asked now and then
        /// Called once, when it has waited for so long: "process 4711 on node3, which builds NAME".
        std::function<void(const std::string& for_whom)> told{};
        std::chrono::milliseconds told_after{1000};
    };
    /// Waits for runs that have one of these names. Interrupted when cancelled.
    static Result<RunClaim> take(const fs::path& work,
                                 const std::set<std::string>& names,
                                 const Waiting& waiting);

    RunClaim(RunClaim&& other) noexcept;
    RunClaim& operator=(RunClaim&&) = delete;
    ~RunClaim();

    /// Not empty on file systems that machines share (NFS, Lustre), and others that cannot lock:
    /// work goes on without.
    const std::string& warning() const { return warning_; }

private:
    RunClaim() = default;
    Result<void> write(const fs::path& folder, const std::set<std::string>& names);
    fs::path file_;
    Descriptor descriptor_;
    std::string warning_;
};

}  // namespace gpkg
