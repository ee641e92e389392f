#pragma once

// What users of other tools type, and what gpkg has for it.

#include <span>
#include <string>
#include <string_view>

namespace gpkg::cli {

/// "use gpkg list" for "ls", a command of another tool; empty for other words. `command` is empty
/// for the first word, else the command that does not know the word: "env config".
std::string hint_for_other_name(const std::string& command, std::string_view word);

/// The one of `known` that means the same as `word`: "--output-dir" for "--dest", "generate" for
/// "create". Empty where none does.
std::string same_meaning(std::string_view word, std::span<const std::string> known);

}  // namespace gpkg::cli
