#pragma once

// The last step of main: runs the command that the command line names, reports its errors in the
// words of that command line, and keeps it in the log.

#include "cli/command.hpp"
#include "cli/context.hpp"

#include <span>
#include <string>

namespace gpkg::cli {

/// Exit status of a command that failed.
inline constexpr int kFailed = 1;
/// Exit status of an error. `failed`: that of every error but wrong usage.
int exit_status(const Error& error, int failed = kFailed);

/// The option of the innermost command that has it and was given it; null if none was. `path` is
/// the program and the named commands.
CLI::Option* given_option(std::span<CLI::App* const> path, const std::string& flag);

/// The setting offline is the default of every --offline.
void apply_offline(std::span<CLI::App* const> path);

/// Runs the command `command`, the second of `path`, and keeps it in the log if it changes
/// something or fails.
Result<int> run_command(Context& context,
                        std::span<CLI::App* const> path,
                        const CLI::App& command,
                        const Action& action);

}  // namespace gpkg::cli
