#pragma once

// The last commands of this user that changed something or failed, with their errors: what
// `gpkg log` and `gpkg info --report` print. One JSON object a line in `log/commands.jsonl` of the
// user's cache folder. A command that changes something writes a line when it starts and one when
// it ends, with the same id, so that a killed command is listed too. Keeping the log is best
// effort: a folder that cannot be written stops no command.

#include "libcore/base/error.hpp"
#include "libcore/config/config.hpp"
#include "libcore/fs/file.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::cli {

struct LoggedCommand {
    std::string id;               ///< of the process: of this machine, this boot, and its start
    std::string time;             ///< of its start, in UTC: "2026-11-28T08:43:17Z"
    std::string command;          ///< as typed, secrets hidden
    std::string prefix;           ///< the environment it worked on; empty: none
    std::optional<int> status{};  ///< exit status; nothing until it ends
    double seconds = 0;
    std::string error{};        ///< message and hint; empty: none was printed
    std::string folder{};       ///< where it was typed
    bool is_cancelled = false;  ///< the user answered no to its question
    bool changes = false;       ///< not one that only reads

    bool has_failed() const { return status != 0 && !is_cancelled; }
};

/// This process, as LoggedCommand::id.
std::string own_log_id();
/// Whether the command creates an environment that does not exist.
bool may_create(const LoggedCommand& entry);
/// Whether it removes a whole environment: "gpkg env remove -n ml", "gpkg remove -n ml --all".
bool removes_environment(const LoggedCommand& entry);
/// "exit status 1", "cancelled", "did not finish" or "running"; empty for success.
std::string outcome_of(const LoggedCommand& entry);

void log_command(const Config& config, const LoggedCommand& entry);
/// The oldest first, one entry for each id. Damaged lines and wrong usage (typos) are left out.
std::vector<LoggedCommand> logged_commands(const Config& config);
/// The last command that was to create this environment, if it was killed; else empty. Behind
/// "cd FOLDER && " where it was typed in another folder than this one.
std::string interrupted_creation(const Config& config, const fs::path& prefix);
/// The command that created an environment which another one has removed since, in the same way;
/// else empty.
std::string creation_of_removed(const Config& config, const fs::path& prefix);

}  // namespace gpkg::cli
