#include "cli/command_line.hpp"

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "libcore/base/text.hpp"
#include "libcore/config/config.hpp"
#include "libcore/net/url.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

namespace gpkg::cli {
namespace {

/// Options that may stand before the command: first those that take a value.
constexpr auto kLeading = std::to_array<std::string_view>({"-n",
                                                           "--name",
                                                           "-p",
                                                           "--prefix",
                                                           "--color",
                                                           "--json",
                                                           "-q",
                                                           "--quiet",
                                                           "-v",
                                                           "--verbose",
                                                           "-y",
                                                           "--yes",
                                                           "--offline"});
constexpr auto kWithValue = std::span(kLeading).first<5>();
constexpr auto kFlags = std::span(kLeading).subspan<5>();
/// Of these, the ones that a command without them can ignore.
constexpr auto kIgnorable = std::to_array<std::string_view>({"-y", "--yes", "--offline"});

bool is_one_of(std::span<const std::string_view> options, std::string_view word) {
    return std::ranges::find(options, word) != options.end();
}

/// The options in one word, a word for each: {"-q", "-n"} for "-qn", {"-n", "ml"} for "-nml",
/// {"--name=ml"}. Empty where they may not stand before the command.
std::vector<std::string> leading_options(std::string_view word) {
    if (word.starts_with("--")) {
        const auto name = word.substr(0, word.find('='));
        const bool may_lead =
            is_one_of(kWithValue, name) || (name == word && is_one_of(kFlags, name));
        return may_lead ? std::vector{std::string(word)} : std::vector<std::string>();
    }
    std::vector<std::string> options;
    if (!word.starts_with('-')) return options;
    for (std::size_t i = 1; i < word.size(); ++i) {
        options.push_back({'-', word[i]});
        if (is_one_of(kFlags, options.back())) continue;
        if (!is_one_of(kWithValue, options.back())) return {};
        if (i + 1 < word.size()) options.emplace_back(word.substr(i + 1));
        break;
    }
    return options;
}

/// Reads --json and --color up to a "--".
void read_output_options(std::span<const std::string> words, CommandLine& line) {
    constexpr std::string_view kColor = "--color";
    for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
        const std::string_view word = words[i];
        if (word == "--json") line.json = true;
        if (word == kColor && i + 1 < words.size())
            line.color = color_choice_of(words[i + 1]).value_or(line.color);
        if (word.starts_with(kColor) && word.substr(kColor.size()).starts_with('='))
            line.color = color_choice_of(word.substr(kColor.size() + 1)).value_or(line.color);
    }
}

/// The command word as gpkg spells it, which may take several words.
std::vector<std::string> canonical(std::string_view word) {
    for (const auto& alias : aliases()) {
        if (alias.name == word) return CLI::detail::split(std::string(alias.stands_for), ' ');
    }
    return {std::string(word)};
}

/// The command with all that follows it, as CLI11 is to read it.
void read_words(std::span<char* const> arguments, CommandLine& line) {
    std::string_view command = arguments.front();
    auto rest = arguments.subspan(1);
    line.is_help = command == "help";
    if (line.is_help && rest.empty()) {
        line.words.emplace_back("--help");
        return;
    }
    if (line.is_help) {
        command = rest.front();
        rest = rest.subspan(1);
    }
    const bool is_all = line.is_help && command == "all";
    if (is_all) command = "--help-commands";
    if (command == "version") command = "--version";
    for (auto& word : canonical(command)) line.words.push_back(std::move(word));
    line.words.insert(line.words.end(), rest.begin(), rest.end());
    if (line.is_help && !is_all) line.words.emplace_back("--help");
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

/// Whether a value of this name may be a secret: "API_TOKEN", "db_password".
bool names_secret(std::string_view name) {
    constexpr auto kParts = std::to_array<std::string_view>({"token", "password", "secret", "key"});
    const auto lower = to_lower(name);
    return std::ranges::any_of(kParts,
                               [&](auto part) { return lower.find(part) != std::string::npos; });
}

/// Packages have lower-case names: libsecret=0.20 is a spec.
bool names_secret_variable(std::string_view name) {
    return names_secret(name) && to_lower(name) != name;
}

/// A key for `gpkg config` that is no setting: those of gpkg hold no secrets but logins in URLs.
bool is_secret_key(std::string_view name) {
    return names_secret(name) && name.find_first_of("/:") == std::string_view::npos &&
           !find_config_key(name.substr(0, name.find('.')));
}

}  // namespace

bool CommandLine::has(std::string_view word) const {
    return std::ranges::find(words, word) != words.end();
}

std::span<const std::string_view> leading_option_names() { return kLeading; }

CommandLine read_command_line(std::span<char* const> arguments) {
    CommandLine line;
    if (arguments.empty()) return line;
    line.words.emplace_back(arguments.front());
    std::size_t at = 1;
    while (at < arguments.size()) {
        const auto options = leading_options(arguments[at]);
        if (options.empty()) break;
        ++at;
        line.before_command.insert(line.before_command.end(), options.begin(), options.end());
        if (!is_one_of(kWithValue, options.back())) continue;
        if (at == arguments.size()) {
            line.lacks_value = options.back();
            break;
        }
        line.before_command.emplace_back(arguments[at++]);
    }
    read_output_options(line.before_command, line);
    if (at == arguments.size()) return line;
    read_words(arguments.subspan(at), line);
    read_output_options(line.words, line);
    return line;
}

void move_options_behind_command(CommandLine& line, const CLI::App& program) {
    std::vector<const CLI::App*> path{&program};
    while (path.size() < line.words.size()) {
        const auto* command = subcommand(*path.back(), line.words[path.size()]);
        if (command == nullptr) break;
        path.push_back(command);
    }
    const auto end = path.size();
    if (end == 1) return;
    std::erase_if(line.before_command, [&](const std::string& word) {
        return is_one_of(kIgnorable, word) && std::ranges::none_of(path, [&](const auto* command) {
                   return command->get_option_no_throw(word) != nullptr;
               });
    });
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
    const bool is_config = path.size() > 1 && path[1]->get_name() == "config";
    bool is_behind_secret_name = false;
    std::string line;
    for (const std::string_view word : typed.first(typed.size() - std::min(typed.size(), hidden))) {
        if (!line.empty()) line += ' ';
        const auto equals = word.starts_with('-') ? word.npos : word.find('=');
        const auto name = word.substr(0, equals);
        const bool is_secret =
            is_config ? !word.starts_with('-') && is_secret_key(name) : names_secret_variable(name);
        if (is_behind_secret_name && !word.starts_with('-'))
            line += "...";
        else if ((hides_values || is_secret) && equals != word.npos)
            line += shell_word(name) + "=...";
        else
            line += shell_word(mask_secrets(word));
        // "config set token VALUE"
        is_behind_secret_name = is_behind_secret_name || (is_config && is_secret);
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
