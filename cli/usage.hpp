#pragma once

// Errors of the command line, with suggestions for misspelled words.

#include "libcore/base/error.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace gpkg::cli {

/// The environments that an argument may mean: the one of this name, else those of similar names.
using NearEnvironments = std::function<std::vector<std::string>(const std::string&)>;

/// "--name" for each option of a command, "-n" for one without a long name; without hidden ones.
std::vector<std::string> option_names(const CLI::App& command);
/// The names of a command's subcommands; without hidden ones.
std::vector<std::string> subcommand_names(const CLI::App& command);

/// Takes the fixes of a request out: they would leave out, or replace, a word that is no package.
void drop_fixes(Error& error);

/// Of a word, or an option, in the place of a command.
Error unknown_command(const std::string& first);

/// What CLI11 found wrong, with similar names as the hint; `first` is the first word after the
/// program. `near_environments` is asked about an argument that the command does not take.
Error usage_error(CLI::App& app,
                  const CLI::ParseError& problem,
                  const std::string& first,
                  const NearEnvironments& near_environments);

/// Of an option whose value is another option of the command (--lock --dry-run): it lacks one.
std::optional<Error> option_as_value(const CLI::App& command);

/// Of a word behind the command that is the last of `path`, which is none of its subcommands.
Error unknown_subcommand(std::span<CLI::App* const> path, const std::string& word);

/// "gpkg solve: missing argument: SPEC", with an example of the command as the hint. For arguments
/// that are required only without certain options; CLI11 checks all others.
tl::unexpected<Error> missing_argument(const CLI::App& command, std::string_view argument);

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
