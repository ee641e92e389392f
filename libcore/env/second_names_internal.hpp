#pragma once

// How what a transaction puts into a prefix is told from what others put there meanwhile: until it
// is committed, all of it has another name elsewhere. Files that are hard-linked have that in the
// store; each file and link that is made gets one in the journal's folder `new`, which is not there
// on file systems without hard links. What has one name alone is somebody else's.

#include "libcore/env/disk_internal.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

class SecondNames {
public:
    /// Makes the folder, where the file system of the prefix has hard links and counts them.
    static Result<void> prepare(Disk& disk);

    /// Where that cannot be examined, nothing has a second name.
    explicit SecondNames(Disk& disk);
    /// Has `make` make what is to be `target`, under the name that it is given: half written it has
    /// not got its own yet. 0 or errno. Where it cannot have two names, the journal is marked.
    int make(const std::string& target, const std::function<int(const std::string& name)>& make);

private:
    Disk& disk_;
    bool prepared_;
    std::atomic<std::size_t> count_{0};
};

/// Whether what stands at a path where the transaction puts something is somebody else's. What
/// python compiled has no second name, and is made again; a folder that could not be removed holds
/// something of others. `sources`: the packages that files were linked from; without them nothing
/// can be told, and what stands there is the transaction's.
class IsTheirs {
public:
    static Result<IsTheirs> make(const Disk& disk, const std::vector<std::string>& sources);
    bool operator()(std::string_view path, const struct stat& status) const;

private:
    explicit IsTheirs(bool can_tell) : can_tell_(can_tell) {}

    bool can_tell_;
};

}  // namespace gpkg
