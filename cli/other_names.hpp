#pragma once

// What users of other tools type, and what gpkg has for it.

#include "cli/given_words.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::cli {

/// "use gpkg list -n ml" for "ls -n ml", a command of another tool; empty for other words.
/// `command` is empty for the first word, else the command that does not know the word: "env
/// config". `others` are the words typed behind it.
std::string hint_for_other_name(const std::string& command,
                                std::string_view word,
                                std::span<const std::string> others = {},
                                const IsEnvironment& is_environment = {});

/// Those of `names`, subcommands or options, that mean the same as a word of another tool: "build"
/// for "create", "--output" for "--dest".
std::vector<std::string> names_of_same_meaning(std::string_view word,
                                               const std::vector<std::string>& names);

/// How to use an image or an archive of an environment where a command does not take one; empty
/// for other words.
std::string hint_for_packed_environment(const std::string& word);

}  // namespace gpkg::cli
