#pragma once

// Errors of the command line, with suggestions for misspelled words.

#include "cli/word_hints.hpp"
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

/// Of a word, or an option, in the place of a command; `others` are the words behind it.
Error unknown_command(const std::string& first,
                      std::span<const std::string> others = {},
                      const NearEnvironments& near_environments = {});

/// What CLI11 found wrong, with similar names as the hint; `typed` are the words of the command
/// line, the program first. `near_environments` is asked about an argument that the command does
/// not take.
Error usage_error(CLI::App& app,
                  const CLI::ParseError& problem,
                  std::span<const std::string> typed,
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

/// Fails if options or arguments of a command were given together with a subcommand that has its
/// own: `gpkg closure why --size`.
Result<void> check_own_options_unused(const CLI::App& command, const CLI::App& subcommand);

}  // namespace gpkg::cli
