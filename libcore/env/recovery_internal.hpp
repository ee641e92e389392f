#pragma once

// What stopped commands left of an environment.

#include "libcore/env/disk_internal.hpp"
#include "libcore/env/transaction.hpp"

namespace gpkg {

/// Brings a stopped transaction back, or on to its end. The prefix's lock is held.
Result<Recovery> recover_locked(Disk& disk);

/// Whether `prefix` is being removed under its own name.
bool is_half_removed(const fs::path& prefix);

/// Removes the rest, under whatever name it lies.
Result<Recovery> finish_removal(const fs::path& prefix, const TransactionOptions& options);

}  // namespace gpkg
