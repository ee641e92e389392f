#pragma once

// One writer per prefix. The lock is conda-meta/.gpkg-lock, which holds the holder's pid and host,
// so that a waiter can name it, and goes away with the lock. On a file system of this machine it is
// flock(2) on that file: the kernel drops it with the process, however that ends. On one that
// machines share (NFS, Lustre), where flock may be missing, hang, or hold on one machine alone, and
// on others that cannot lock, the file itself is the lock: a Claim.

#include "libcore/fs/claim.hpp"
#include "libcore/fs/file.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace gpkg {

/// How to wait for a lock that another process holds.
struct LockWait {
    std::chrono::milliseconds patience{0};
    std::function<bool()> cancelled{};                         ///< asked now and then
    std::function<void(const std::string& holder)> waiting{};  ///< called once, before waiting
};

/// Fails where this user has not the right to change an environment that is there, naming whose it
/// is. What acquire() would find out, before work is done for it.
Result<void> check_may_change(const fs::path& prefix);
/// The hint of that failure.
std::string hint_on_own_copy(const fs::path& prefix);

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

    /// Not empty when there was no room for a lock.
    const std::string& warning() const { return warning_; }
    /// The prefix was renamed while its lock was held.
    void moved_to(const fs::path& prefix);
    /// Removes the lock file and lets go.
    void release();

private:
    enum class Outcome { Held, Busy, CannotLock };
    explicit PrefixLock(fs::path file) : file_(std::move(file)) {}
    Result<Outcome> try_flock();
    Result<Outcome> try_claim();
    Result<Outcome> trouble(int code);

    fs::path file_;
    Descriptor locked_;  ///< the file, where flock holds it
    std::optional<Claim> claim_;
    std::string warning_;
};

/// Who holds the lock of `prefix` ("process 4711 on node3", on shared file systems with the time
/// since when), or nothing.
std::string lock_holder(const fs::path& prefix);

}  // namespace gpkg
