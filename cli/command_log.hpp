#pragma once

// The last commands of this user that changed something or failed, with their errors: what
// `gpkg log` and `gpkg info --report` print. One JSON object a line in `log/commands.jsonl` of the
// user's cache folder. Keeping it is best effort: a folder that cannot be written stops no command.

#include "libcore/base/error.hpp"
#include "libcore/config/config.hpp"
#include "libcore/fs/file.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::cli {

struct LoggedCommand {
    std::string time;     ///< UTC: "2026-11-28T08:43:17Z"
    std::string command;  ///< as typed, secrets hidden
    std::string prefix;   ///< the environment it worked on; empty: none
    int status = 0;       ///< exit status
    double seconds = 0;
    std::string error;  ///< message and hint; empty: it succeeded
};

/// Whether a command is kept although it succeeded: it changes environments, channels or settings.
bool changes_something(std::string_view command);

void log_command(const Config& config, const LoggedCommand& entry);
/// The oldest first. Damaged lines are left out.
std::vector<LoggedCommand> logged_commands(const Config& config);

}  // namespace gpkg::cli
