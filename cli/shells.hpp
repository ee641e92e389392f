#pragma once

// What several commands need to know of the user's shell.

#include "cli/output.hpp"
#include "libcore/config/config.hpp"
#include "libcore/env/activation.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gpkg::cli {

/// An error for shells that gpkg does not speak.
Result<Shell> parse_shell(std::string_view name);

/// The shell that called: the parent process, else $SHELL.
std::optional<Shell> guess_shell(const EnvLookup& env);

/// "~/.bashrc"
std::string_view startup_file(Shell shell);
/// What a user types, or puts there, to have the hook.
std::string_view hook_loader(Shell shell);

/// Completion of `gpkg` for bash, zsh and fish; empty for other shells. `program` is quoted for the
/// shell; it runs only when the user presses Tab.
std::string completion_script(Shell shell, std::string_view program);

/// What `gpkg shell-hook` prints: the function `gpkg` and its completion. The hook of tcsh is a
/// script in a file; it is written where it is not there yet.
Result<std::string> hook_code(const Config& config, Shell shell);

/// Code for a shell, on stdout as it is; in JSON mode as {"success", "code"}.
void print_shell_code(Output& out, std::string_view code);

}  // namespace gpkg::cli
