#pragma once

// What scripts do to the shell that sources them beyond the variables that it hands to programs.

#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// Why no module sets a variable that decides how shells work.
inline constexpr std::string_view kHeeded = "shells use it themselves";

/// Bash commands that write down what `changes_of_state` compares. Nothing that scripts define or
/// set ("set -e", a function "alias") gets in their way.
extern const std::string_view kWriteState;

/// What is otherwise after than it was before, in words: "the alias ll", "umask", "set -o vi".
std::vector<std::string> changes_of_state(std::string_view before, std::string_view after);

}  // namespace gpkg
