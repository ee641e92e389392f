#pragma once

// Activation as text that a shell evaluates. Every value is quoted: no character of a path or a
// variable is ever seen by the shell as anything but itself.

#include "libcore/env/activation.hpp"

#include <string>
#include <string_view>

namespace gpkg {

/// Commands that carry out `activation`, for `eval` or `source`.
std::string shell_commands(const Activation& activation, Shell shell);

/// `text` as one word.
std::string shell_quoted(std::string_view text, Shell shell);

/// What goes into a shell's startup file: a function `gpkg` that evaluates activate, deactivate and
/// reactivate in the shell itself and passes everything else on to `program`, refreshing the active
/// environment after commands that may have changed it. It relies on
/// `program activate|deactivate|reactivate --shell NAME ...` printing shell_commands().
std::string shell_hook(Shell shell, const fs::path& program);

}  // namespace gpkg
