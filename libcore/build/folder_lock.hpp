#pragma once

// Held while a folder is built in, so that a second run does not pull it away. The lock is flock(2)
// on a file beside it, which the kernel drops with the process. Used by the builder only.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <string>
#include <utility>

namespace gpkg {

class FolderLock {
public:
    /// Does not wait: Conflict when another process holds it. `what` is what is built, for errors.
    static Result<FolderLock> take(const fs::path& file, const std::string& what);

    /// Not empty when the file system cannot lock (some NFS and Lustre mounts): work goes on
    /// without.
    const std::string& warning() const { return warning_; }

private:
    explicit FolderLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
    Descriptor descriptor_;
    std::string warning_;
};

}  // namespace gpkg
