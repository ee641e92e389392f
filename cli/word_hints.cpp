#include "cli/word_hints.hpp"

#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/options.hpp"
#include "cli/other_names.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "libcore/config/config.hpp"
#include "libcore/fs/file.hpp"
#include "virtual-packages/machines.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

/// What an edit or two can add to a word.
constexpr std::size_t kFewLetters = 2;

// ---- what the command takes

/// "env create": the name behind "gpkg".
std::string words_of_command(const CLI::App& command) {
    constexpr std::string_view kProgram = "gpkg ";
    const auto name = full_name(command);
    return name.starts_with(kProgram) ? name.substr(kProgram.size()) : std::string();
}

bool has_option(const CLI::App& command, const std::string& flag) {
    return command.get_option_no_throw(flag) != nullptr;
}

bool is_given(const CLI::App& command, const std::string& flag) {
    return has_option(command, flag) && command.get_option_no_throw(flag)->count() > 0;
}

bool is_unused(const CLI::App& command, const std::string& flag) {
    return has_option(command, flag) && command.get_option_no_throw(flag)->count() == 0;
}

bool takes_environment(const CLI::App& command) { return has_option(command, "--name"); }

/// Whether -n or -p names the environment.
bool has_environment(const CLI::App& command) {
    return is_given(command, "--name") || is_given(command, "--prefix");
}

bool takes_arguments(const CLI::App& command) {
    return std::ranges::any_of(command.get_options(),
                               [](const auto* option) { return option->get_positional(); });
}

/// The argument of a command that takes one at most; null for other commands.
const CLI::Option* single_argument(const CLI::App& command) {
    const CLI::Option* found = nullptr;
    for (const auto* option : command.get_options()) {
        if (!option->get_positional()) continue;
        if (found != nullptr || option->get_items_expected_max() > 1) return nullptr;
        found = option;
    }
    return found;
}

/// Of gpkg config with a KEY and no VALUE: "set channels=x" and "remove channels".
std::string hint_for_missing_value(const CLI::App& command) {
    const auto* key = command.get_option_no_throw("key");
    if (key == nullptr || key->count() == 0) return "";
    const auto text = key->results().front();
    if (const auto equals = text.find('='); equals != std::string::npos)
        return fmt::format("write a space for '=': {} {} VALUE",
                           full_name(command),
                           shell_word(text.substr(0, equals)));  // a value may be a secret
    if (command.get_name() == "set" && find_config_key(text))
        return fmt::format("to see the meaning of the setting: gpkg config describe {}",
                           shell_word(text));
    if (command.get_name() != "remove") return "";
    return fmt::format("to remove the whole setting: gpkg config remove-key {}", shell_word(text));
}

// ---- the words of the command line

/// One of the words that the command does not take.
struct Word {
    const UnexpectedWords& line;
    const CLI::App& command;
    const std::string& text;

    bool is_option() const { return text.starts_with('-'); }
    /// "--name" of "--name=ml".
    std::string flag() const { return text.substr(0, text.find('=')); }
    std::vector<std::string> near_environments() const {
        return takes_environment(command) && line.near_environments && !is_option()
                   ? line.near_environments(text)
                   : std::vector<std::string>();
    }
    bool is_environment() const { return near_environments() == std::vector{text}; }
};

/// The words that were typed, the program and the command first, without those of `command` and
/// `word`; of "--revision=3" the value is left.
std::vector<std::string> words_around(std::span<const std::string> typed,
                                      const CLI::App& command,
                                      std::string_view word) {
    std::vector<std::string> words(typed.begin(), typed.end());
    for (const auto* outer = &command; outer != nullptr && !words.empty();
         outer = outer->get_parent()) {
        const auto found = outer->get_parent() == nullptr
                               ? words.begin()
                               : std::ranges::find(words, outer->get_name());
        if (found != words.end()) words.erase(found);
    }
    const auto found = std::ranges::find_if(words, [&](const auto& other) {
        return other == word || (word.starts_with('-') && other.starts_with(word) &&
                                 other.substr(word.size()).starts_with('='));
    });
    if (found == words.end()) return words;
    if (*found == word)
        words.erase(found);
    else
        found->erase(0, word.size() + 1);
    return words;
}

// ---- guesses: what a word may have meant; empty where it is something else

/// "clean all" for "clean --all".
std::string as_option_without_dashes(const Word& word) {
    if (word.is_option() || !subcommand_names(word.command).empty() ||
        !has_option(word.command, "--" + word.text))
        return "";
    return fmt::format("did you mean --{}?", word.text);
}

/// "3" or "-3" where --last lists the last ones.
std::string as_number(const Word& word) {
    const auto& command = word.command;
    const bool is_flag = word.is_option();
    const auto number =
        whole_number<std::uint32_t>(std::string_view(word.text).substr(is_flag ? 1 : 0));
    if (!number || !has_option(command, "--last") || word.is_environment()) return "";
    const auto others = words_around(word.line.typed, command, word.text);
    if (!is_flag && command.get_name() == "history" && *number > 1)
        return with_given_words(
            fmt::format("to see what generation {} changed: gpkg diff {} {} -n NAME",
                        *number,
                        *number - 1,
                        *number),
            others);
    return with_given_words(
        fmt::format("for the last {}: {} --last {} {{}}", *number, full_name(command), *number),
        others);
}

/// A word of another tool: see other_names.hpp.
std::string as_other_name(const Word& word) {
    if (word.line.path.size() < 2 || word.is_environment()) return "";
    const auto is_environment = [&](const std::string& name) {
        return names_environment(word.line.near_environments, name);
    };
    return hint_for_unknown_word(word.command, word.text, word.line.typed, is_environment);
}

/// "gpkg env shell -n ml" for "gpkg shell -n ml".
std::string as_command_below_env(const Word& word) {
    if (word.command.get_name() != "env" || !is_command(word.text)) return "";
    return with_given_words(fmt::format("use gpkg {} {{}}", word.text),
                            words_around(word.line.typed, word.command, word.text));
}

/// "gpkg module -n ml": the subcommand has the option.
std::string as_option_of_subcommand(const Word& word) {
    if (!word.is_option()) return "";
    std::vector<std::string> usages;
    for (const auto* sub : subcommands_of(word.command)) {
        if (has_option(*sub, word.flag()))
            usages.push_back(fmt::format("{} {}", full_name(*sub), word.flag()));
    }
    return usages.empty()
               ? ""
               : fmt::format("{} follows the subcommand: {}", word.flag(), join_or(usages));
}

/// Options that `flag` resembles, is a part of (--lock of --from-lock), or means.
std::vector<std::string> near_options(const std::string& flag, const CLI::App& command) {
    const auto names = option_names(command);
    if (auto near = near_names(flag, names); !near.empty()) return near;
    constexpr std::string_view kDashes = "--";
    std::vector<std::string> bare;
    for (const auto& name : names)
        if (name.starts_with(kDashes)) bare.push_back(name.substr(kDashes.size()));
    if (flag.starts_with(kDashes)) {
        auto near = near_names(flag.substr(kDashes.size()), bare);
        for (auto& name : near) name.insert(0, kDashes);
        if (!near.empty()) return near;
    }
    return names_of_same_meaning(flag, names);
}

/// Those of the innermost command come first: what it does not know falls to those around it.
std::string as_similar_option(const Word& word) {
    if (!word.is_option()) return "";
    const auto& path = word.line.path;
    for (std::size_t i = path.size() - 1; i > 0; --i) {
        const auto near = near_options(word.flag(), *path[i]);
        if (!near.empty()) return did_you_mean(near);
    }
    return "";
}

/// "gpkg why not torch" for "gpkg why-not torch": the first argument is a part of the name.
std::string as_part_of_name(const Word& word) {
    const auto* argument = single_argument(word.command);
    if (argument == nullptr || argument->count() == 0) return "";
    const auto part = argument->results().front();
    const auto name = words_of_command(word.command) + "-" + part;
    if (!is_command(name)) return "";
    auto others = words_around(word.line.typed, word.command, part);
    return fmt::format("did you mean gpkg {} {}?", name, shell_words(others));
}

std::string as_similar_subcommand(const Word& word) {
    if (word.is_option()) return "";
    const auto names = subcommand_names(word.command);
    auto near = near_names(word.text, names);
    if (near.empty()) near = names_of_same_meaning(word.text, names);
    return did_you_mean_behind(std::move(near), full_name(word.command) + " ");
}

/// "list --verify" for "gpkg verify".
std::string as_command_with_dashes(const Word& word) {
    if (!word.text.starts_with("--") || !is_command(word.text.substr(2))) return "";
    return fmt::format("to see the options: {} --help; or the command: gpkg {}",
                       full_name(word.command),
                       word.text.substr(2));
}

/// An argument that only lacks the option before it: "--for h100", "-f environment.yml".
std::string as_value_of_option(const Word& word) {
    const auto& command = word.command;
    if (word.is_option() || word.line.words.size() > 1) return "";
    if (!has_environment(command) && !word.near_environments().empty()) return "";
    const auto with = [&](std::string_view flag) {
        return fmt::format("did you mean {} {}?", flag, shell_word(word.text));
    };
    if (is_unused(command, "--for") && virtual_packages::find_machine(word.text, {}))
        return with("--for");
    std::error_code code;
    if (fs::is_regular_file(word.text, code)) {
        const auto file = fs::path(word.text).filename().native();
        const bool is_lock = file.find("lock") != std::string::npos;
        if (is_lock && is_unused(command, "--lock")) return with("--lock");
        if (is_unused(command, "--file")) return with("-f");
    }
    const bool is_path = word.text.find_first_of("./") != std::string::npos;
    return is_path && is_unused(command, "--output") ? with("--output") : "";
}

/// A word where a subcommand was expected: a setting, for gpkg config, else the subcommands and
/// what the command does without one.
std::string as_subcommand(const Word& word) {
    if (!is_unknown_subcommand(word.command, word.line.words)) return "";
    const auto words = words_of_command(word.command);
    if (words == "config" && find_config_key(word.text))
        return fmt::format("use gpkg config get {}", shell_word(word.text));
    auto hint = fmt::format("subcommands: {}", fmt::join(subcommand_names(word.command), ", "));
    if (const auto more = hint_for_other_name(std::string(), words); !more.empty())
        hint += "; " + more;
    if (is_command(word.text)) hint += "; or the command: gpkg " + word.text;
    return hint;
}

/// "gpkg diff -n ml 1 2" for "gpkg diff ml 1 2": the first argument is the environment.
std::string as_argument_behind_environment(const Word& word) {
    const auto& command = word.command;
    if (word.line.words.size() != 1 || word.is_option() || has_environment(command)) return "";
    std::vector<std::string> arguments;
    for (const auto* option : command.get_options()) {
        if (option->get_positional()) append(arguments, option->results());
    }
    if (arguments.empty() || !Word{word.line, command, arguments.front()}.is_environment())
        return "";
    arguments.push_back(word.text);
    return fmt::format(
        "name the environment with -n: {} -n {}", full_name(command), shell_words(arguments));
}

/// "verify ml" for "verify -n ml", "env remove ./ml" for "env remove -p ./ml".
std::string as_environment(const Word& word) {
    const auto& command = word.command;
    if (!takes_environment(command) || has_environment(command) || word.is_option()) return "";
    // verify has a text of its own for paths.
    const bool is_path = word.text.find('/') != std::string::npos;
    if (is_path && command.get_name() != "verify" && !takes_arguments(command))
        return fmt::format("did you mean -p {}?", shell_word(word.text));
    auto environments = word.near_environments();
    for (auto& name : environments) name = "-n " + shell_word(name);
    return did_you_mean(environments);
}

std::string as_part_of_environment(const Word& word) {
    const auto& command = word.command;
    if (!takes_environment(command) || takes_arguments(command) || word.is_option()) return "";
    if (has_environment(command))
        return fmt::format("leave it out: {} is about the whole environment", full_name(command));
    if (words_of_command(command) == "verify")
        return "name an environment: -n NAME; for a package file: gpkg inspect FILE; for a "
               "channel: gpkg keys verify CHANNEL; for a mirror: gpkg mirror verify DIR";
    return "name an environment with -n NAME or -p PATH; to list them: gpkg env list";
}

/// Behind an unknown option it may be the value of that.
std::string as_second_argument(const Word& word) {
    const auto* argument = single_argument(word.command);
    const auto is_option = [](const std::string& other) { return other.starts_with('-'); };
    if (argument == nullptr || argument->count() == 0 ||
        std::ranges::any_of(word.line.words, is_option))
        return "";
    return fmt::format("{} takes one {} at a time", full_name(word.command), value_name(*argument));
}

/// In this order.
constexpr std::string (*kGuesses[])(const Word&) = {
    as_option_without_dashes,
    as_number,
    as_other_name,
    as_command_below_env,
    as_option_of_subcommand,
    as_similar_option,
    as_part_of_name,
    as_similar_subcommand,
    as_command_with_dashes,
    as_value_of_option,
    as_subcommand,
    as_argument_behind_environment,
    as_environment,
    as_second_argument,
    as_part_of_environment,
};

/// Of an image or archive for a command that takes neither.
std::string hint_for_packed(const CLI::App& command, const std::string& word) {
    const auto words = words_of_command(command);
    const bool takes_packed = words == "deploy" || words.starts_with("image ");
    if (takes_packed || has_option(command, "--output")) return "";
    auto hint = hint_for_packed_environment(word);
    if (!hint.empty() && has_option(command, "--image"))
        return fmt::format("did you mean --image {}?", shell_word(word));
    return hint;
}

}  // namespace

bool names_environment(const NearEnvironments& near_environments, const std::string& word) {
    return near_environments && near_environments(word) == std::vector{word};
}

std::string hint_for(const UnexpectedWords& unexpected) {
    const auto& command = *unexpected.path.back();
    for (const auto& text : unexpected.words) {
        for (const auto guess : kGuesses) {
            if (auto hint = guess({unexpected, command, text}); !hint.empty()) return hint;
        }
    }
    if (auto hint = hint_for_missing_value(command); !hint.empty()) return hint;
    if (unexpected.words.empty() && unexpected.path.size() > 1) {
        auto hint = hint_for_other_name(std::string(), words_of_command(command));
        if (!hint.empty()) return hint;
    }
    return fmt::format("to see the options: {} --help", full_name(command));
}

std::string hint_by_example(const CLI::App& command) {
    if (auto hint = hint_for_missing_value(command); !hint.empty()) return hint;
    if (auto hint = hint_for_other_name(std::string(), words_of_command(command)); !hint.empty())
        return hint;
    const auto example = example_of(command);
    return example.empty() ? fmt::format("to see the options: {} --help", full_name(command))
                           : "for example: " + example;
}

std::string hint_for_unknown_word(const CLI::App& command,
                                  std::string_view word,
                                  std::span<const std::string> typed,
                                  const IsEnvironment& is_environment) {
    if (word.starts_with('-')) word = word.substr(0, word.find('='));
    const auto others = words_around(typed, command, word);
    if (auto hint = hint_for_other_name(words_of_command(command), word, others, is_environment);
        !hint.empty())
        return hint;
    if (auto hint = hint_for_packed(command, std::string(word)); !hint.empty()) return hint;
    const auto verbs = subcommand_names(command);
    if (word.starts_with("--") && std::ranges::find(verbs, word.substr(2)) != verbs.end())
        return fmt::format("use {} {}", full_name(command), word.substr(2));
    return "";
}

bool is_unknown_subcommand(const CLI::App& command, const std::vector<std::string>& words) {
    return !words.empty() && !words.front().starts_with('-') &&
           !subcommand_names(command).empty() && !takes_arguments(command);
}

bool is_command(std::string_view name) {
    const auto* command = find_command(name);
    return (command != nullptr && command->topic != Topic::Hidden) ||
           std::ranges::any_of(aliases(), [&](const Alias& alias) {
               return alias.is_listed && alias.name == name;
           });
}

std::string did_you_mean_behind(std::vector<std::string> near, const std::string& before) {
    for (auto& name : near) name.insert(0, before);
    return did_you_mean(near);
}

void drop_fixes(Error& error) {
    error.fixes.clear();
    auto details = nlohmann::ordered_json::parse(error.details, nullptr, false);
    if (!details.is_object() || !details.contains("fixes")) return;
    details["fixes"] = nlohmann::ordered_json::array();
    error.details = json_text(details);
}

Error with_environment_option(Error error, const CLI::App& command, const std::string& argument) {
    if (!takes_environment(command) || has_environment(command)) return error;
    if (error.hint.find("-n " + shell_word(argument)) != std::string::npos) return error;
    const bool is_about_it = error.message == kNoEnvironmentActive ||
                             error.message.starts_with(argument + " is not") ||
                             error.message.find(fmt::format("'{}'", argument)) != std::string::npos;
    if (!is_about_it) return error;
    drop_fixes(error);
    error.hint = fmt::format("did you mean -n {}?", shell_word(argument));
    return error;
}

Error with_near_subcommand(Error error,
                           const CLI::App& command,
                           const std::string& argument,
                           std::span<const std::string> typed) {
    if (error.kind == ErrorKind::Interrupted || error.kind == ErrorKind::Cancelled) return error;
    // Of a package that exists the fixes say more: conda may be one.
    if (error.kind == ErrorKind::Unsatisfiable && !error.is_about_unknown(argument)) return error;
    if (auto hint = hint_for_unknown_word(command, argument, typed); !hint.empty()) {
        drop_fixes(error);
        if (error.is_about_unknown(argument)) {
            error.message =
                fmt::format("{}: unknown subcommand '{}'", full_name(command), argument);
            error.context.clear();
        }
        error.hint = std::move(hint);
        return error;
    }
    auto near = near_names(argument, subcommand_names(command));
    // Names of packages may have a verb in them: pytest-check.
    std::erase_if(near, [&](const auto& verb) {
        return std::max(verb.size(), argument.size()) - std::min(verb.size(), argument.size()) >
               kFewLetters;
    });
    if (near.empty()) {
        // What no channel has may have been meant as a subcommand.
        const auto subcommands = subcommand_names(command);
        const bool is_word =
            std::ranges::all_of(argument, [](char c) { return c >= 'a' && c <= 'z'; });
        if (is_word && !subcommands.empty() && error.fixes.empty() &&
            error.hint.find("did you mean") == std::string::npos &&
            error.is_about_unknown(argument))
            error.hint += fmt::format("{}subcommands of {}: {}",
                                      error.hint.empty() ? "" : "; ",
                                      full_name(command),
                                      fmt::join(subcommands, ", "));
        return error;
    }
    drop_fixes(error);
    const auto hint =
        did_you_mean_behind(std::move(near), fmt::format("gpkg {} ", command.get_name()));
    error.hint = error.hint.empty() ? hint : fmt::format("{} Or: {}", hint, error.hint);
    return error;
}

}  // namespace gpkg::cli
