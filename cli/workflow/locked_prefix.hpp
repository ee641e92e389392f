#pragma once

// An environment under its lock, for commands that change its settings without a transaction.

#include "cli/context.hpp"
#include "cli/options.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/env/prefix_lock.hpp"

namespace gpkg::cli {

struct LockedPrefix {
    Prefix prefix;
    PrefixLock lock;
};

/// Recovers from an interrupted command, then waits up to a minute for other processes. Fails for
/// an environment that is marked as frozen, unless `override_frozen` is set.
Result<LockedPrefix> lock_prefix(Context& context,
                                 const TargetOptions& target,
                                 bool override_frozen);

}  // namespace gpkg::cli
