#pragma once

// What users of other tools type, and what gpkg has for it.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::cli {

/// Whether this is the name of an environment.
using IsEnvironment = std::function<bool(const std::string&)>;

/// A hint with the words that the user typed, so that its command can be pasted:
///
/// - "-n NAME": -n or -p as typed, or the first of `words` where that names an environment
/// - "{PACKAGE}": the words without -n and -p, or PACKAGE if there are no arguments
/// - "{1:OLD}", "{2:NEW}": the first or second argument, or OLD, NEW
/// - "{*N}", "{}": all words, or N, or nothing
std::string with_given_words(std::string hint,
                             std::span<const std::string> words,
                             const IsEnvironment& is_environment = {});

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
