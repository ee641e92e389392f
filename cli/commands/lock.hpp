#pragma once

// What gpkg lock and its verbs have in common.

#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/wishes.hpp"
#include "libcore/lock/lock_format.hpp"

#include <string>
#include <vector>

namespace gpkg::cli::locks {

inline constexpr const char* kUsualName = "gpkg.lock";

struct Options {
    SourceOptions sources;
    WishOptions wishes;
    std::vector<std::string> machines;
    bool for_all = false;
    std::string output;
    std::string file = kUsualName;
    std::string converted;
    bool available = false;          ///< check: ask the channels whether the packages are there
    std::vector<std::string> names;  ///< repair: that may have another version
    bool dry_run = false;
};

/// What is asked for on the machine of `sources`; channels of files are added to those.
Result<ChangeRequest> wanted(Context& context, const WishOptions& options, SourceOptions& sources);

/// The lock file; what it warns of goes to the user.
Result<ReadLock> read(Context& context, const std::string& file);

/// A class for every answer that there could be.
Result<int> write_for_all(Context& context, const Options& options);
Result<int> check(Context& context, const Options& options);
Result<int> repair(Context& context, const Options& options);

}  // namespace gpkg::cli::locks
