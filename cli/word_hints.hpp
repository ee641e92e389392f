#pragma once

// What somebody meant by a word that a command does not take.

#include "cli/given_words.hpp"
#include "libcore/base/error.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace gpkg::cli {

/// The environments that an argument may mean: the one of this name, else those of similar names.
using NearEnvironments = std::function<std::vector<std::string>(const std::string&)>;

/// Whether the word is the name of an environment.
bool names_environment(const NearEnvironments& near_environments, const std::string& word);

/// A command line with words that the command does not take.
struct UnexpectedWords {
    std::span<CLI::App* const> path;     ///< the program and the named commands, the innermost last
    std::vector<std::string> words;      ///< those that it does not take
    std::span<const std::string> typed;  ///< all words, the program first
    NearEnvironments near_environments;
};

/// The first guess that fits one of the words, else where to find help.
std::string hint_for(const UnexpectedWords& unexpected);

/// Of a command that lacks an argument: what it is, or an example.
std::string hint_by_example(const CLI::App& command);

/// A word, or "--option", of another tool behind a command; a subcommand written as an option
/// (--check); a file of another command. Empty for other words.
std::string hint_for_unknown_word(const CLI::App& command,
                                  std::string_view word,
                                  std::span<const std::string> typed = {},
                                  const IsEnvironment& is_environment = {});

/// Whether the first of the words stands where a subcommand was expected.
bool is_unknown_subcommand(const CLI::App& command, const std::vector<std::string>& words);

/// Whether `gpkg NAME` is a command that help lists.
bool is_command(std::string_view name);

/// "did you mean gpkg list or gpkg lint?"
std::string did_you_mean_behind(std::vector<std::string> near, const std::string& before);

/// Takes the fixes of a request out: they would leave out, or replace, a word that is no package.
void drop_fixes(Error& error);

/// The same error, if it is about `argument`, the name of an environment that was given without -n.
/// `command` is the innermost one.
Error with_environment_option(Error error, const CLI::App& command, const std::string& argument);

/// For commands with subcommands that also take packages: when such a command failed and its first
/// argument resembles a subcommand, the hint names that. Only a hint: a package may be called so.
/// `typed` are the words of the command line, the program first.
Error with_near_subcommand(Error error,
                           const CLI::App& command,
                           const std::string& argument,
                           std::span<const std::string> typed);

}  // namespace gpkg::cli
