#pragma once

// What gpkg lock and its verbs have in common.

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/wishes.hpp"
#include "libcore/lock/lock_format.hpp"

#include <optional>
#include <string>

namespace gpkg::cli::locks {

inline constexpr const char* kUsualName = "gpkg.lock";

Action bind_check(CLI::App& app);
Action bind_repair(CLI::App& app);
Action bind_convert(CLI::App& app);

/// The lock file; what it warns of goes to the user.
Result<ReadLock> read(Context& context, const std::string& file);

/// The format that a file's name tells; nothing where it tells none.
std::optional<LockFormat> format_of_name(const std::string& path);

/// Writes a class for every answer that there could be.
struct ForAllOptions {
    SourceOptions sources;
    WishOptions wishes;
    std::string output;
    bool dry_run = false;
};
Result<int> write_for_all(Context& context, const ForAllOptions& options);

}  // namespace gpkg::cli::locks
