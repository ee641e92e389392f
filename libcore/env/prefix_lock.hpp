#pragma once

// One writer per prefix. The lock is flock(2) on conda-meta/.gpkg-lock, which holds the holder's
// pid and host, so that a waiter can name it; the kernel drops it with the process, however that
// ends. The file goes away with the lock. Where the file system cannot lock (some NFS and Lustre
// mounts) work goes on without, and `warning` says so.

#include "libcore/fs/file.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace gpkg {

/// How to wait for a lock that another process holds.
struct LockWait {
    std::chrono::milliseconds patience{0};
    std::function<bool()> cancelled{};                         ///< asked now and then
    std::function<void(const std::string& holder)> waiting{};  ///< called once, before waiting
};

class PrefixLock {
public:
    /// Waits for the lock of an existing prefix; fails with Conflict, naming the holder, when
    /// patience ends, with Interrupted when cancelled. Makes conda-meta where it is missing.
    static Result<PrefixLock> acquire(const fs::path& prefix, const LockWait& how);

    PrefixLock(PrefixLock&& other) noexcept;
    PrefixLock& operator=(PrefixLock&& other) noexcept;
    PrefixLock(const PrefixLock&) = delete;
    PrefixLock& operator=(const PrefixLock&) = delete;
    ~PrefixLock();

    /// Whether some process holds it. Does not wait and leaves nothing behind.
    static bool is_held(const fs::path& prefix);

    /// Not empty when the file system cannot lock.
    const std::string& warning() const { return warning_; }
    /// The prefix was renamed while its lock was held.
    void moved_to(const fs::path& prefix);
    /// Removes the lock file and lets go.
    void release();

private:
    PrefixLock() = default;
    fs::path file_;
    int descriptor_ = -1;
    std::string warning_;
};

/// "process 4711 on node3": for others who wait.
std::string this_process();

/// Who holds the lock of `prefix` ("process 4711 on node3"), or nothing.
std::string lock_holder(const fs::path& prefix);

}  // namespace gpkg
