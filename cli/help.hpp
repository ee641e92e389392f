#pragma once

// Help texts: what `gpkg --help`, `gpkg help all` and `gpkg COMMAND --help` print, and the same
// facts as the reference page and the man page.
//
// A command's footer is its description: paragraphs, then examples, which are the lines that begin
// with two spaces.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gpkg::cli {

/// The group of options that every command has.
inline constexpr std::string_view kCommonOptions = "Common options";

struct HelpStyle {
    std::size_t width = 80;  ///< columns that lines are wrapped to
    bool color = false;      ///< headings are bold
};

/// For a terminal of so many columns; nothing: not a terminal.
HelpStyle help_style(std::optional<std::size_t> columns, bool color);

/// The first steps, the topics with their commands, and where the rest is.
/// `documentation` is the path of its first page, or says where it is.
std::string overview(const HelpStyle& style, const std::string& documentation);
/// Every command with its summary, by topic.
std::string all_commands(const HelpStyle& style);
/// Usage, description, examples, subcommands and options of one command.
std::string help_of(const CLI::App& command, const HelpStyle& style);

/// docs/reference/cli.md. All commands of `program` must be bound.
std::string reference_page(const CLI::App& program);
/// gpkg(1), in roff. All commands of `program` must be bound.
std::string man_page(const CLI::App& program);

/// The first example in the help of a command, without its comment; with `word` the first that has
/// this word, such as "--for". Empty if there is none.
std::string example_of(const CLI::App& command, std::string_view word = {});
/// The subcommands of a command, and its groups of options, which CLI11 keeps as subcommands
/// without a name. Hidden subcommands are left out.
std::vector<const CLI::App*> subcommands_of(const CLI::App& command);
std::vector<const CLI::App*> option_groups_of(const CLI::App& command);
/// "--name" for each option of a command, "-n" for one without a long name; without hidden ones.
std::vector<std::string> option_names(const CLI::App& command);
/// The names of a command's subcommands; without hidden ones.
std::vector<std::string> subcommand_names(const CLI::App& command);

/// The path of a page of the documentation ("how-to/update-gpkg.md"), beside the installed program
/// or in the sources it was built in; otherwise says where it is.
std::string documentation_page(std::string_view page);

/// "gpkg env config vars": the command as it is typed.
std::string full_name(const CLI::App& command);
/// "FILE" of an option or argument that takes a file; empty for a flag.
std::string value_name(const CLI::Option& option);

}  // namespace gpkg::cli
