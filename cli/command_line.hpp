#pragma once

// The words of the command line. Before CLI11 reads them, options before the command, other
// spellings of commands and `gpkg help` are rewritten. Afterwards it is known which are commands
// and arguments.

#include "cli/terminal.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace gpkg::cli {

struct CommandLine {
    /// The program, the command and all that follows it, in the order that CLI11 reads:
    /// `gpkg help list` is `gpkg list --help`, `gpkg add x` is `gpkg install x`.
    std::vector<std::string> words;
    /// Options that stood before the command: {"-n", "ml", "--json"}.
    std::vector<std::string> before_command{};
    /// The last of them, if it is without its value: "-n".
    std::string lacks_value{};
    /// --json and --color: they count for help and for usage errors, too.
    bool json = false;
    ColorChoice color = ColorChoice::Auto;
    /// `gpkg help ...`: only names of commands may follow.
    bool is_help = false;

    bool has(std::string_view word) const;
};

/// Options that may stand before the command: "--name", "-n".
std::span<const std::string_view> leading_option_names();

CommandLine read_command_line(std::span<char* const> arguments);

/// Puts the options that stood before the command behind it and its subcommands, which must be
/// bound. Commands that ask nothing and need no network ignore --yes and --offline there.
void move_options_behind_command(CommandLine& line, const CLI::App& program);

/// The program and, once CLI11 has read the command line, the commands that it names, outermost
/// first: gpkg, env, create.
std::vector<CLI::App*> named_commands(CLI::App& program);

/// The indices of words that are neither options of the command nor values of options.
std::vector<std::size_t> argument_indices(const CLI::App& command,
                                          std::span<const std::string> words);

/// The command line as the log and the history of environments keep it, fit for a shell and without
/// secrets: no logins in URLs, no values of environment variables ("NAME=...") or of unknown
/// settings whose names suggest secrets, no arguments of a program that gpkg runs ("..."). `typed`
/// is what the user typed, `words` is CommandLine::words with its `arguments` (see
/// argument_indices), `path` the program and the named commands.
std::string recorded_command_line(std::span<char* const> typed,
                                  std::span<const std::string> words,
                                  std::span<const std::size_t> arguments,
                                  std::span<CLI::App* const> path);

/// An error for the log: in commands that it proposes ("  gpkg exec tool=1.0 ..."), "..." stands
/// for the arguments of the program.
std::string without_program_arguments(std::string error,
                                      std::span<const std::string> words,
                                      std::span<const std::size_t> arguments,
                                      std::span<CLI::App* const> path);

}  // namespace gpkg::cli
