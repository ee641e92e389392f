#pragma once

// Activation as text that a shell evaluates. Every value is quoted: no character of a path or a
// variable is ever seen by the shell as anything but itself.

#include "libcore/env/activation.hpp"

#include <string>
#include <string_view>

namespace gpkg {

/// Commands that carry out `activation`, for `eval` or `source`.
std::string shell_commands(const Activation& activation, Shell shell);

/// Before ".": a script that sh cannot read does not end it. Only sh needs that, and zsh cannot.
inline constexpr std::string_view kSurvives = "command ";

/// `text` as one word.
std::string shell_quoted(std::string_view text, Shell shell);

/// What goes into a shell's startup file: a function `gpkg` that evaluates activate, deactivate and
/// reactivate in the shell itself and passes everything else on to `program`, refreshing the active
/// environment after commands that may have changed it. It relies on
/// `program activate|deactivate|reactivate --shell NAME ...` printing shell_commands().
///
/// tcsh has no functions, and an alias cannot hold several lines: there it is a script, to be kept
/// in a file that tcsh_alias() sources.
std::string shell_hook(Shell shell, const fs::path& program);
std::string tcsh_alias(const fs::path& script);

/// "bash", "zsh", "fish", "tcsh", "powershell", "posix"
std::string_view shell_name(Shell shell);

}  // namespace gpkg
