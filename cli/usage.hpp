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

/// The options of a command as they are typed, with their dashes; without hidden ones.
std::vector<std::string> flags_of(const CLI::App& command);
/// The commands below a command; without hidden ones.
std::vector<std::string> verbs_of(const CLI::App& command);

/// What CLI11 found wrong, with similar names as the hint; `first` is the first word after the
/// program. `is_environment` is asked about an argument that the command does not take.
Error usage_error(CLI::App& app,
                  const CLI::ParseError& problem,
                  const std::string& first,
                  const std::function<bool(const std::string&)>& is_environment);

/// Of a word in the place of a command.
Error unknown_command(const std::string& first);

/// Fails if options or arguments of a command were given together with a subcommand that has its
/// own: `gpkg closure why --size`.
Result<void> check_own_options_unused(const CLI::App& command, const CLI::App& subcommand);

/// For commands that take packages where a verb may stand: hints at the verb when they failed and
/// their first argument is nearly one. Never more than a hint, for a package may have that name.
Error with_near_verb(Error error, const CLI::App& command, const std::string& argument);

}  // namespace gpkg::cli
