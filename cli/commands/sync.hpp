#pragma once

// Making an environment match a lock file or an environment.yml: `sync`, and `install --lock`.

#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/wishes/wishes.hpp"

namespace gpkg::cli {

struct SyncOptions {
    TargetOptions target;
    SourceOptions sources;
    ChangeOptions change;
    WishOptions wishes;
    LockedOptions lock;
};

/// Installs, changes and removes packages until the environment has those of the file, and no
/// others. Without a file: gpkg.lock of this folder, else its environment.yml.
Result<int> sync(Context& context, SyncOptions& options);

}  // namespace gpkg::cli
