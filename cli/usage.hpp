#pragma once

// Errors of the command line, with suggestions for misspelled words.

#include "libcore/base/error.hpp"

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace gpkg::cli {

/// "--name" for each option of a command, "-n" for one without a long name; without hidden ones.
std::vector<std::string> option_names(const CLI::App& command);
/// The names of a command's subcommands; without hidden ones.
std::vector<std::string> subcommand_names(const CLI::App& command);

/// Of a word, or an option, in the place of a command.
Error unknown_command(const std::string& first);

/// What CLI11 found wrong, with similar names as the hint; `first` is the first word after the
/// program. `is_environment` is asked about an argument that the command does not take.
Error usage_error(CLI::App& app,
                  const CLI::ParseError& problem,
                  const std::string& first,
                  const std::function<bool(const std::string&)>& is_environment);

/// The same error about a file or folder that does not exist, with similar names as the hint.
Error with_near_file(Error error);

/// The same error, if it is about `argument`, the name of an environment that was given without -n.
/// `command` is the innermost one.
Error with_environment_option(Error error, const CLI::App& command, const std::string& argument);

/// Fails if options or arguments of a command were given together with a subcommand that has its
/// own: `gpkg closure why --size`.
Result<void> check_own_options_unused(const CLI::App& command, const CLI::App& subcommand);

/// For commands with subcommands that also take packages: when such a command failed and its first
/// argument resembles a subcommand, the hint names that. Only a hint: a package may be called so.
Error with_near_subcommand(Error error, const CLI::App& command, const std::string& argument);

}  // namespace gpkg::cli
