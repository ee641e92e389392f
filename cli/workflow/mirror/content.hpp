#pragma once

// What a mirror is to hold: the packages of a lock, or of what is asked for here.

#include "cli/workflow/mirror/mirroring.hpp"
#include "libcore/lock/lock_file.hpp"

#include <set>
#include <string>
#include <vector>

namespace gpkg::cli {

struct MirrorContent {
    LockFile lock;
    std::vector<PackageRecord> records;  ///< each URL once
    std::vector<std::string> channels;   ///< base URLs, those without a package too
    std::vector<Channel> named;          ///< as the user names them, with logins
    std::set<std::string> subdirs;       ///< that clients ask for
    bool records_are_whole = true;       ///< they say all that an index says
};

/// Solves, or reads the lock; fetches no package.
Result<MirrorContent> mirror_content(Context& context, const MirrorOptions& options);

}  // namespace gpkg::cli
