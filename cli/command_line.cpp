#include "cli/command_line.hpp"

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "libcore/base/text.hpp"
#include "libcore/net/url.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

namespace gpkg::cli {
namespace {

/// Options that may stand before the command.
constexpr auto kFlags = std::to_array<std::string_view>(
    {"--json", "-q", "--quiet", "-v", "-vv", "--verbose", "-y", "--yes", "--offline"});
constexpr auto kWithValue =
    std::to_array<std::string_view>({"-n", "--name", "-p", "--prefix", "--color"});

bool is_one_of(std::span<const std::string_view> options, std::string_view word) {
    return std::ranges::find(options, word) != options.end();
}

/// Whether a word is an option with its value: "--name=ml", "-nml".
bool has_own_value(std::string_view word) {
    return std::ranges::any_of(kWithValue, [&](std::string_view option) {
        if (option.starts_with("--"))
            return word.starts_with(option) && word.substr(option.size()).starts_with('=');
        return word.starts_with(option) && word.size() > option.size() && !word.starts_with("--");
    });
}

/// How many of the words from `at` on are one option that may stand before the command.
std::size_t option_length(std::span<char* const> words, std::size_t at) {
    const std::string_view word = words[at];
    if (is_one_of(kFlags, word) || has_own_value(word)) return 1;
    return is_one_of(kWithValue, word) && at + 1 < words.size() ? 2 : 0;
}

/// The command word as gpkg spells it, which may take several words.
std::vector<std::string> canonical(std::string_view word) {
    for (const auto& alias : aliases()) {
        if (alias.name == word) return CLI::detail::split(std::string(alias.stands_for), ' ');
    }
    return {std::string(word)};
}

/// Of the command, or of the subcommand of it that was given.
const CLI::Option* option_of(const CLI::App& command, const std::string& flag) {
    if (const auto* option = command.get_option_no_throw(flag)) return option;
    for (const auto* verb : command.get_subcommands()) {
        if (const auto* option = option_of(*verb, flag)) return option;
    }
    return nullptr;
}

/// Whether the value of an option is the next word: of "-f" and "-qf", not of "-ffile" or
/// "--file=x".
bool awaits_value(const CLI::App& command, std::string_view word) {
    const auto takes_value = [&](const std::string& flag) {
        const auto* option = option_of(command, flag);
        return option != nullptr && option->get_items_expected_max() > 0;
    };
    if (word.starts_with("--")) return takes_value(std::string(word));
    for (std::size_t i = 1; i < word.size(); ++i) {
        if (takes_value({'-', word[i]})) return i + 1 == word.size();
    }
    return false;
}

const CLI::App* subcommand(const CLI::App& command, const std::string& name) {
    const auto named = command.get_subcommands(
        [&](const CLI::App* sub) { return !name.empty() && sub->get_name() == name; });
    return named.empty() ? nullptr : named.front();
}

/// How many of the words at the end are arguments of a program that gpkg runs now or in a job.
std::size_t program_arguments(std::span<const std::string> words,
                              std::span<const std::size_t> arguments,
                              std::span<CLI::App* const> path) {
    // Before it are the names of the commands.
    const auto first = path.size() - 1;
    if (effect_of(path) == Effect::RunsProgram)
        return first < arguments.size() ? words.size() - 1 - arguments[first] : 0;
    const auto mark = std::ranges::find(words, std::string_view("--"));
    const bool takes_command = path.back()->get_option_no_throw("command") != nullptr;
    return takes_command && mark != words.end()
               ? static_cast<std::size_t>(std::distance(mark, words.end())) - 1
               : 0;
}

bool takes_variables(const CLI::App& command) {
    return std::ranges::any_of(command.get_options(), [](const CLI::Option* option) {
        return option->get_type_name() == kVariableType;
    });
}

}  // namespace

bool CommandLine::has(std::string_view word) const {
    return std::ranges::find(words, word) != words.end();
}

CommandLine read_command_line(std::span<char* const> arguments) {
    CommandLine line;
    if (arguments.empty()) return line;
    line.words.emplace_back(arguments.front());
    std::size_t at = 1;
    while (at < arguments.size()) {
        const auto count = option_length(arguments, at);
        if (count == 0) break;
        for (const auto end = at + count; at < end; ++at)
            line.before_command.emplace_back(arguments[at]);
    }
    if (at == arguments.size()) return line;
    std::string_view command = arguments[at++];
    const bool is_help = command == "help";
    if (is_help && at == arguments.size()) {
        line.words.emplace_back("--help");
        return line;
    }
    if (is_help) command = arguments[at++];
    if (is_help && command == "all") {
        line.words.emplace_back("--help-commands");
        return line;
    }
    if (command == "version") command = "--version";
    for (auto& word : canonical(command)) line.words.push_back(std::move(word));
    line.words.insert(
        line.words.end(), arguments.begin() + static_cast<std::ptrdiff_t>(at), arguments.end());
    if (is_help) line.words.emplace_back("--help");
    return line;
}

void move_options_behind_command(CommandLine& line, const CLI::App& program) {
    std::size_t end = 1;
    for (const auto* command = &program; end < line.words.size(); ++end) {
        command = subcommand(*command, line.words[end]);
        if (command == nullptr) break;
    }
    if (end == 1) return;
    line.words.insert(line.words.begin() + static_cast<std::ptrdiff_t>(end),
                      line.before_command.begin(),
                      line.before_command.end());
    line.before_command.clear();
}

std::vector<CLI::App*> named_commands(CLI::App& program) {
    std::vector<CLI::App*> commands{&program};
    for (;;) {
        const auto below = commands.back()->get_subcommands();
        // A group of options has no name.
        if (below.empty() || below.front()->get_name().empty()) return commands;
        commands.push_back(below.front());
    }
}

std::vector<std::size_t> argument_indices(const CLI::App& command,
                                          std::span<const std::string> words) {
    std::vector<std::size_t> indices;
    bool all = false;  // behind "--"
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string_view word(words[i]);
        if (all || !word.starts_with('-')) {
            indices.push_back(i);
        } else if (word == "--") {
            all = true;
        } else if (awaits_value(command, word)) {
            ++i;
        }
    }
    return indices;
}

std::string recorded_command_line(std::span<char* const> typed,
                                  std::span<const std::string> words,
                                  std::span<const std::size_t> arguments,
                                  std::span<CLI::App* const> path) {
    const auto hidden = program_arguments(words, arguments, path);
    const bool hides_values = takes_variables(*path.back());
    std::string line;
    for (const std::string_view word : typed.first(typed.size() - std::min(typed.size(), hidden))) {
        if (!line.empty()) line += ' ';
        const auto equals = word.starts_with('-') ? word.npos : word.find('=');
        if (hides_values && equals != word.npos)
            line += shell_word(word.substr(0, equals)) + "=...";
        else
            line += shell_word(hide_secrets(word));
    }
    return hidden == 0 ? line : line + " ...";
}

std::string without_program_arguments(std::string error,
                                      std::span<const std::string> words,
                                      std::span<const std::size_t> arguments,
                                      std::span<CLI::App* const> path) {
    std::string hidden;
    for (const auto& word : words.last(program_arguments(words, arguments, path)))
        hidden += " " + shell_word(word);
    constexpr std::string_view kProposed = "\n  gpkg ";
    for (auto line = hidden.empty() ? error.npos : error.find(kProposed); line != error.npos;
         line = error.find(kProposed, line + 1)) {
        const auto at = error.find(hidden, line);
        if (at < error.find('\n', line + 1)) error.replace(at, hidden.size(), " ...");
    }
    return error;
}

}  // namespace gpkg::cli
