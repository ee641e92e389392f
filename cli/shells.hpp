#pragma once

// What several commands need to know of the user's shell.

#include "cli/output.hpp"
#include "libcore/env/activation.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gpkg::cli {

/// An error for shells that gpkg does not speak.
Result<Shell> parse_shell(std::string_view name);

/// The shell that called: the parent process, else $SHELL.
std::optional<Shell> guess_shell(const EnvLookup& env);

std::string_view shell_name(Shell shell);
/// "~/.bashrc"
std::string_view startup_file(Shell shell);

/// Code for a shell, on stdout as it is; in JSON mode as {"success", "code"}.
void print_shell_code(Output& out, std::string_view code);

}  // namespace gpkg::cli
