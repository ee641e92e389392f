#pragma once

// Becoming a program inside an environment.

#include "cli/context.hpp"
#include "libcore/fs/file.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace gpkg::cli {

/// What shells and env(1) answer with when the command itself cannot be started.
inline constexpr int kCannotExecute = 126;
inline constexpr int kNotFound = 127;

/// Sets and unsets variables of this process.
Result<void> change_environment(
    const std::vector<std::pair<std::string, std::optional<std::string>>>& variables);

/// Before anything changes them: how this process takes signals, which is how the command will.
void remember_signals();

/// This process becomes the command: signals, exit status and terminal are the command's own.
/// Returns only when that fails, with the system's reason.
int become(const std::vector<std::string>& command);
/// The same, started from the file `program`; argument 0 stays as in `command`.
int become(const fs::path& program, const std::vector<std::string>& command);

/// The words behind the command's own options, exactly as they were typed.
std::vector<std::string> words_behind_options(const CLI::App& app,
                                              const std::vector<std::string>& words);

/// Becomes a command inside the environment, in `folder` where that is not empty. Returns only when
/// that fails; a command that is not there, and one that cannot be executed, are told and have
/// their statuses. `hint` is for the former.
Result<int> run_inside(Context& context,
                       const fs::path& prefix,
                       const std::vector<std::string>& command,
                       const std::string& folder,
                       const std::string& hint);

}  // namespace gpkg::cli
