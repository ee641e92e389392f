#include "cli/usage.hpp"

#include "cli/command.hpp"
#include "cli/command_line.hpp"
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
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <span>

namespace gpkg::cli {
namespace {

/// What an edit or two can add to a word.
constexpr std::size_t kFewLetters = 2;

/// "env create": the name behind "gpkg".
std::string words_of_command(const CLI::App& command) {
    constexpr std::string_view kProgram = "gpkg ";
    const auto name = full_name(command);
    return name.starts_with(kProgram) ? name.substr(kProgram.size()) : std::string();
}

bool has_option(const CLI::App& command, const std::string& name) {
    return command.get_option_no_throw(name) != nullptr;
}

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

/// hint_for_other_name() of a word that `command` does not know, which may also be one of its
/// subcommands written as an option (--check), or a file of another command.
std::string hint_for_unknown_word(const CLI::App& command,
                                  std::string_view word,
                                  std::span<const std::string> typed) {
    if (word.starts_with('-')) word = word.substr(0, word.find('='));
    const auto others = words_around(typed, command, word);
    if (auto hint = hint_for_other_name(words_of_command(command), word, others); !hint.empty())
        return hint;
    if (auto hint = hint_for_packed(command, std::string(word)); !hint.empty()) return hint;
    const auto verbs = subcommand_names(command);
    if (const auto other = same_meaning(word, verbs); !other.empty())
        return fmt::format("use {} {}", full_name(command), other);
    if (const auto other = same_meaning(word, option_names(command)); !other.empty())
        return fmt::format("use {}", other);
    if (word.starts_with("--") && std::ranges::find(verbs, word.substr(2)) != verbs.end())
        return fmt::format("use {} {}", full_name(command), word.substr(2));
    return "";
}

std::string did_you_mean_behind(std::vector<std::string> near, const std::string& before = {}) {
    for (auto& name : near) name.insert(0, before);
    return did_you_mean(near);
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
std::vector<std::string> near_flags(const std::string& word, std::span<CLI::App* const> path) {
    const auto flag = word.substr(0, word.find('='));
    for (std::size_t i = path.size() - 1; i > 0; --i) {
        auto near = near_options(flag, *path[i]);
        if (!near.empty()) return near;
    }
    return {};
}

std::vector<std::string> near_subcommands(const std::string& word, const CLI::App& command) {
    const auto names = subcommand_names(command);
    auto near = near_names(word, names);
    return near.empty() ? names_of_same_meaning(word, names) : near;
}

/// Of an option before the subcommand that has it: "gpkg module -n ml".
std::string hint_for_early_option(const CLI::App& command, const std::string& word) {
    const auto flag = word.substr(0, word.find('='));
    std::vector<std::string> usages;
    for (const auto* sub : subcommands_of(command)) {
        if (sub->get_option_no_throw(flag) != nullptr)
            usages.push_back(fmt::format("{} {}", full_name(*sub), flag));
    }
    return usages.empty() ? ""
                          : fmt::format("{} follows the subcommand: {}", flag, join_or(usages));
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

bool takes_arguments(const CLI::App& command) {
    return std::ranges::any_of(command.get_options(),
                               [](const auto* option) { return option->get_positional(); });
}

/// Whether the first unexpected word stands where a subcommand was expected.
bool is_unknown_subcommand(const CLI::App& command, const std::vector<std::string>& words) {
    return !words.empty() && !words.front().starts_with('-') &&
           !subcommand_names(command).empty() && !takes_arguments(command);
}

/// Whether help lists this option of the command.
bool has_option(const CLI::App& command, const std::string& flag) {
    const auto flags = option_names(command);
    return std::ranges::find(flags, flag) != flags.end();
}

/// The option by which a command takes an environment: "-n".
bool takes_environment(const CLI::App& command) {
    return command.get_option_no_throw("--name") != nullptr;
}

/// Whether -n or -p names the environment.
bool has_environment(const CLI::App& command) {
    return std::ranges::any_of(std::array{"--name", "--prefix"}, [&](const char* flag) {
        const auto* option = command.get_option_no_throw(flag);
        return option != nullptr && option->count() > 0;
    });
}

/// Of an option that was given twice, by which something else may have been meant.
std::string hint_for_repeated(const CLI::App& command, const std::string& problem) {
    const auto end = problem.find(": At Most 1 required");
    return end == std::string::npos
               ? ""
               : hint_for_other_name(words_of_command(command), problem.substr(0, end));
}

bool names_one(const NearEnvironments& near_environments, const std::string& word) {
    return near_environments(word) == std::vector{word};
}

/// "gpkg why -n ml numpy" for "gpkg why ml numpy"; empty where the first argument is not an
/// environment.
std::string with_named_environment(const std::vector<std::string>& unexpected,
                                   const CLI::App& command,
                                   const NearEnvironments& near_environments) {
    const auto* argument = single_argument(command);
    if (unexpected.size() != 1 || argument == nullptr || argument->count() != 1 ||
        command.get_option_no_throw("--name")->count() > 0 ||
        !names_one(near_environments, argument->results().front()))
        return {};
    const std::vector words{argument->results().front(), unexpected.front()};
    return fmt::format(
        "name the environment with -n: {} -n {}", full_name(command), shell_words(words));
}

bool is_unused(const CLI::App& command, const std::string& option) {
    return has_option(command, option) && command.get_option_no_throw(option)->count() == 0;
}

bool lacks_environment(const CLI::App& command) {
    return is_unused(command, "--name") && is_unused(command, "--prefix");
}

/// "--for h100", "-f environment.yml" or "--output ml.tar.zst" for an argument that only lacks the
/// option before it.
std::string with_option(const CLI::App& command, const std::string& word) {
    if (is_unused(command, "--for") && virtual_packages::find_machine(word, {}))
        return "--for " + shell_word(word);
    std::error_code code;
    if (fs::is_regular_file(word, code)) {
        const bool is_lock = fs::path(word).filename().native().find("lock") != std::string::npos;
        if (is_lock && is_unused(command, "--lock")) return "--lock " + shell_word(word);
        if (is_unused(command, "--file")) return "-f " + shell_word(word);
    }
    if (is_unused(command, "--output") && word.find_first_of("./") != std::string::npos)
        return "--output " + shell_word(word);
    return "";
}

/// Of gpkg config with a KEY and no VALUE: "set channels=x" and "remove channels".
std::string hint_for_missing_value(const CLI::App& command) {
    const auto* key = command.get_option_no_throw("key");
    if (key == nullptr || key->count() == 0) return "";
    const auto text = key->results().front();
    if (const auto equals = text.find('='); equals != std::string::npos)
        return fmt::format("write a space for '=': {} {} {}",
                           full_name(command),
                           shell_word(text.substr(0, equals)),
                           shell_word(text.substr(equals + 1)));
    if (command.get_name() == "set" && find_config_key(text))
        return fmt::format("to see the meaning of the setting: gpkg config describe {}",
                           shell_word(text));
    if (command.get_name() != "remove") return "";
    return fmt::format("to remove the whole setting: gpkg config remove-key {}", shell_word(text));
}

bool is_command(std::string_view name) {
    const auto* command = find_command(name);
    return (command != nullptr && command->topic != Topic::Hidden) ||
           std::ranges::any_of(aliases(), [&](const Alias& alias) {
               return alias.is_listed && alias.name == name;
           });
}

/// Of a word where a subcommand was expected: a setting, for gpkg config, else the subcommands and
/// what the command does without one.
std::string hint_for_subcommand(const CLI::App& command, const std::string& word) {
    const auto words = words_of_command(command);
    if (words == "config" && find_config_key(word))
        return fmt::format("use gpkg config get {}", shell_word(word));
    auto hint = fmt::format("subcommands: {}", fmt::join(subcommand_names(command), ", "));
    if (const auto more = hint_for_other_name(std::string(), words); !more.empty())
        hint += "; " + more;
    if (is_command(word)) hint += "; or the command: gpkg " + word;
    return hint;
}

/// Of "3" or "-3" where --last lists the last ones.
std::string hint_for_number(const CLI::App& command,
                            std::string_view word,
                            std::span<const std::string> typed) {
    const bool is_flag = word.starts_with('-');
    const auto number = whole_number<std::uint32_t>(word.substr(is_flag ? 1 : 0));
    if (!number || command.get_option_no_throw("--last") == nullptr) return "";
    if (!is_flag && command.get_name() == "history" && *number > 1)
        return with_given_words(fmt::format("to see what generation {} changed: gpkg diff {} {} "
                                            "-n NAME",
                                            *number,
                                            *number - 1,
                                            *number),
                                words_around(typed, command, word));
    return with_given_words(
        fmt::format("for the last {}: {} --last {} {{}}", *number, full_name(command), *number),
        words_around(typed, command, word));
}

/// "use gpkg shell -n ml" for "gpkg env shell -n ml".
std::string hint_for_command(const CLI::App& group,
                             const std::string& word,
                             std::span<const std::string> typed) {
    if (group.get_name() != "env" || !is_command(word)) return "";
    return with_given_words(fmt::format("use gpkg {} {{}}", word),
                            words_around(typed, group, word));
}

std::string hint_for_unexpected(const std::vector<std::string>& unexpected,
                                std::span<CLI::App* const> path,
                                std::span<const std::string> typed,
                                const NearEnvironments& near_environments) {
    const auto& command = *path.back();
    const bool has_option = std::ranges::any_of(
        unexpected, [](const std::string& word) { return word.starts_with('-'); });
    for (const auto& word : unexpected) {
        const bool is_flag = word.starts_with('-');
        const bool is_environment =
            !is_flag && takes_environment(command) && names_one(near_environments, word);
        if (auto hint = hint_for_number(command, word, typed); !hint.empty() && !is_environment)
            return hint;
        if (path.size() > 1 && !is_environment) {
            auto hint = hint_for_unknown_word(command, word, typed);
            if (hint.empty()) hint = hint_for_command(command, word, typed);
            if (hint.empty() && is_flag) hint = hint_for_early_option(command, word);
            if (!hint.empty()) return hint;
        }
        auto near = is_flag ? near_flags(word, path) : near_subcommands(word, command);
        if (!near.empty())
            return did_you_mean_behind(std::move(near), is_flag ? "" : full_name(command) + " ");
        if (is_flag) {
            const auto name = word.substr(std::min(word.size(), std::size_t{2}));
            if (word.starts_with("--") && is_command(name))
                return fmt::format("to see the options: {} --help; or the command: gpkg {}",
                                   full_name(command),
                                   name);
            continue;
        }
        auto environments =
            lacks_environment(command) ? near_environments(word) : std::vector<std::string>();
        const auto option = environments.empty() && unexpected.size() == 1
                                ? with_option(command, word)
                                : std::string();
        if (!option.empty()) return fmt::format("did you mean {}?", option);
        if (is_unknown_subcommand(command, unexpected)) return hint_for_subcommand(command, word);
        if (takes_environment(command)) {
            auto hint = with_named_environment(unexpected, command, near_environments);
            if (!hint.empty()) return hint;
        }
        for (auto& name : environments) name = "-n " + shell_word(name);
        if (!environments.empty()) return did_you_mean(environments);
        if (takes_environment(command) && !takes_arguments(command) && has_environment(command))
            return fmt::format("leave it out: {} is about the whole environment",
                               full_name(command));
        if (path.size() == 2 && command.get_name() == "verify")
            return "name an environment: -n NAME; for a package file: gpkg inspect FILE; for a "
                   "channel: gpkg keys verify CHANNEL; for a mirror: gpkg mirror verify DIR";
        // Behind an unknown option it may be the option's value.
        const auto is_option = [](const auto& other) { return other.starts_with('-'); };
        const auto* argument = single_argument(command);
        // Behind an unknown option it may be the value of that.
        if (argument != nullptr && argument->count() > 0 && !has_option)
            return fmt::format(
                "{} takes one {} at a time", full_name(command), value_name(*argument));
        if (takes_environment(command) && !takes_arguments(command))
            return "name an environment with -n NAME or -p PATH; to list them: gpkg env list";
    }
    if (auto hint = hint_for_missing_value(command); !hint.empty()) return hint;
    if (unexpected.empty() && path.size() > 1) {
        if (auto hint = hint_for_other_name(std::string(), words_of_command(command));
            !hint.empty())
            return hint;
    }
    return fmt::format("to see the options: {} --help", full_name(command));
}

/// "for example: gpkg history -n ml --last 5", of an option that lacks its value; empty where help
/// has no example of it.
std::string hint_for_lacking_option(const CLI::App& command, const CLI::ParseError& problem) {
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&problem) == nullptr) return "";
    const std::string text = problem.what();
    const auto* option = command.get_option_no_throw(text.substr(0, text.find(':')));
    if (option == nullptr || text.find("At Most") != std::string::npos) return "";
    std::vector<std::string> flags;
    for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
    for (const auto& name : option->get_snames()) flags.push_back("-" + name);
    for (const auto& flag : flags) {
        if (const auto example = example_of(command, flag); !example.empty())
            return "for example: " + example;
    }
    return "";
}

/// The words as they were typed: of "-dry-run" CLI11 leaves "-ry-run".
std::vector<std::string> as_typed(std::vector<std::string> unexpected,
                                  std::span<const std::string> typed) {
    for (auto& word : unexpected) {
        if (!word.starts_with('-') || word.starts_with("--") ||
            std::ranges::find(typed, word) != typed.end())
            continue;
        const auto found = std::ranges::find_if(typed, [&](const auto& other) {
            return other.starts_with('-') && !other.starts_with("--") &&
                   other.ends_with(word.substr(1));
        });
        if (found != typed.end()) word = *found;
    }
    return unexpected;
}

/// "unknown option '--nam'", "unknown subcommand 'lst'", "unexpected argument 'x'"
std::string unexpected_text(const CLI::App& command, const std::vector<std::string>& words) {
    if (is_unknown_subcommand(command, words))
        return fmt::format("unknown subcommand '{}'", words.front());
    const auto is_option = [](const auto& word) { return word.starts_with('-'); };
    const auto option = std::ranges::find_if(words, is_option);
    if (option != words.end())
        return fmt::format("unknown option '{}'", option->substr(0, option->find('=')));
    return fmt::format("unexpected {} '{}'",
                       words.size() == 1 ? "argument" : "arguments",
                       fmt::join(words, "' '"));
}

std::string hint_by_example(const CLI::App& command) {
    if (auto hint = hint_for_missing_value(command); !hint.empty()) return hint;
    if (auto hint = hint_for_other_name(std::string(), words_of_command(command)); !hint.empty())
        return hint;
    const auto example = example_of(command);
    return example.empty() ? fmt::format("to see the options: {} --help", full_name(command))
                           : "for example: " + example;
}

/// The argument or option that is required and was not given, as help shows it.
std::string missing_part(const CLI::App& command) {
    for (const auto* option : command.get_options()) {
        if (!option->get_required() || option->count() > 0) continue;
        if (option->get_positional()) return "missing argument: " + value_name(*option);
        return "missing option: " + option->get_name();
    }
    return command.get_require_subcommand_min() > 0 ? "missing subcommand" : "missing argument";
}

/// "X excludes Y" as "X cannot be used with Y"; "" where `text` says something else.
std::string about_two_options(const std::string& text,
                              std::string_view verb,
                              std::string_view in_plain_words) {
    const auto at = text.find(verb);
    if (at == std::string::npos) return "";
    return fmt::format(
        "{} {} {}", text.substr(0, at), in_plain_words, text.substr(at + verb.size()));
}

bool is_repeated(const CLI::ParseError& problem) {
    return std::string_view(problem.what()).find(": At Most 1 required") != std::string_view::npos;
}

/// "--for" of a message about this option.
std::string option_of(const CLI::ParseError& problem) {
    const std::string text = problem.what();
    return text.substr(0, text.find(':'));
}

/// CLI11's message in gpkg's words.
std::string problem_text(const CLI::App& command, const CLI::ParseError& problem) {
    std::string text = problem.what();
    if (dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr) return missing_part(command);
    if (dynamic_cast<const CLI::ExcludesError*>(&problem) != nullptr)
        return about_two_options(text, " excludes ", "cannot be used with");
    if (dynamic_cast<const CLI::RequiresError*>(&problem) != nullptr)
        return about_two_options(text, " requires ", "needs");
    const auto option = option_of(problem);
    if (is_repeated(problem)) return fmt::format("{} can be used only once", option);
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&problem) != nullptr) {
        const auto* found = command.get_option_no_throw(option);
        const auto value = found == nullptr ? "" : value_name(*found);
        return fmt::format("{} needs a value{}", option, value.empty() ? "" : ": " + value);
    }
    // "Could not convert: --max-inodes = abc"
    constexpr std::string_view kConvert = "Could not convert: ";
    if (text.starts_with(kConvert)) {
        const auto equals = text.find(" = ");
        return fmt::format("{}: '{}' is not a valid value",
                           text.substr(kConvert.size(), equals - kConvert.size()),
                           equals == std::string::npos ? "" : text.substr(equals + 3));
    }
    return text;
}

/// Fixes of a request would leave out, or replace, the word that is no package.
void drop_fixes(Error& error) {
    error.fixes.clear();
    auto details = nlohmann::ordered_json::parse(error.details, nullptr, false);
    if (!details.is_object() || !details.contains("fixes")) return;
    details["fixes"] = nlohmann::ordered_json::array();
    error.details = json_text(details);
}

}  // namespace

std::vector<std::string> option_names(const CLI::App& command) {
    std::vector<std::string> flags;
    for (const auto* option : command.get_options()) {
        if (option->get_group().empty()) continue;
        for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
        if (option->get_lnames().empty())
            for (const auto& name : option->get_snames()) flags.push_back("-" + name);
    }
    for (const auto* group : option_groups_of(command)) {
        const auto more = option_names(*group);
        flags.insert(flags.end(), more.begin(), more.end());
    }
    return flags;
}

std::vector<std::string> subcommand_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const auto* sub : subcommands_of(command)) names.push_back(sub->get_name());
    return names;
}

Error unknown_command(const std::string& first,
                      std::span<const std::string> others,
                      const NearEnvironments& near_environments) {
    Error error{ErrorKind::Usage, {}, "to see the commands: gpkg --help", {}};
    if (first.starts_with('-')) {
        error.message = fmt::format("unknown option '{}' before the command", first);
        std::vector<std::string> known{"--help", "--help-commands", "--version"};
        const auto leading = leading_option_names();
        known.insert(known.end(), leading.begin(), leading.end());
        if (first.starts_with("--") && is_command(first.substr(2))) {
            error.hint = fmt::format("did you mean gpkg {}?", first.substr(2));
            return error;
        }
        error.hint = did_you_mean(near_names(first, known),
                                  "options follow the command: gpkg COMMAND " + first);
        return error;
    }
    error.message = fmt::format("unknown command '{}'", first);
    const auto is_environment = [&](const std::string& word) {
        return near_environments && names_one(near_environments, word);
    };
    if (auto hint = hint_for_other_name(std::string(), first, others, is_environment);
        !hint.empty()) {
        error.hint = std::move(hint);
        return error;
    }
    if (auto hint = hint_for_packed_environment(first); !hint.empty()) {
        error.hint = std::move(hint);
        return error;
    }
    std::vector<std::string> names{"help", "version"};
    for (const auto& command : commands()) {
        if (command.topic != Topic::Hidden) names.emplace_back(command.name);
    }
    for (const auto& alias : aliases()) {
        if (alias.is_listed) names.emplace_back(alias.name);
    }
    if (auto near = near_names(first, names); !near.empty())
        error.hint = did_you_mean_behind(std::move(near), "gpkg ");
    return error;
}

Error unknown_subcommand(std::span<CLI::App* const> path, const std::string& word) {
    return {ErrorKind::Usage,
            fmt::format("{}: {}", full_name(*path.back()), unexpected_text(*path.back(), {word})),
            hint_for_unexpected(
                {word}, path, {}, [](const auto&) { return std::vector<std::string>(); }),
            {}};
}

Error usage_error(CLI::App& app,
                  const CLI::ParseError& problem,
                  std::span<const std::string> typed,
                  const NearEnvironments& near_environments) {
    const auto path = named_commands(app);
    const auto first = typed.size() > 1 ? typed[1] : std::string();
    const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&problem) != nullptr;
    // A word further on may be a command by chance: "gpkg creat -n x list".
    const bool has_command = path.size() > 1 && path[1]->get_name() == first;
    if (!has_command && (is_extra || path.size() > 1))
        return unknown_command(
            first, typed.subspan(std::min<std::size_t>(typed.size(), 2)), near_environments);
    const auto unexpected = as_typed(app.remaining(true), typed);
    // Something required is missing because the words meant for it are unknown.
    const bool is_missing = dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr;
    const auto what = is_extra || (is_missing && !unexpected.empty())
                          ? unexpected_text(*path.back(), unexpected)
                          : problem_text(*path.back(), problem);
    auto hint = is_extra ? std::string() : hint_for_lacking_option(*path.back(), problem);
    if (hint.empty()) hint = hint_for_repeated(*path.back(), problem.what());
    if (hint.empty())
        hint = is_missing && unexpected.empty()
                   ? hint_by_example(*path.back())
                   : hint_for_unexpected(unexpected, path, typed, near_environments);
    return {ErrorKind::Usage,
            path.size() > 1 ? fmt::format("{}: {}", full_name(*path.back()), what) : what,
            std::move(hint),
            {}};
}

tl::unexpected<Error> missing_argument(const CLI::App& command, std::string_view argument) {
    return fail(ErrorKind::Usage,
                fmt::format("{}: missing argument: {}", full_name(command), argument),
                hint_by_example(command));
}

Error with_near_file(Error error) {
    if (!error.hint.empty() || error.missing_path.empty()) return error;
    const fs::path path(error.missing_path);
    std::error_code code;
    if (fs::exists(path, code) || code) return error;
    auto near = near_files(path);
    const bool is_here = path.parent_path() == fs::current_path(code);
    if (!is_here) {
        for (auto& name : near) name = (path.parent_path() / name).native();
    }
    error.hint = did_you_mean(near);
    return error;
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

Result<void> check_own_options_unused(const CLI::App& command, const CLI::App& subcommand) {
    const auto name = full_name(subcommand);
    for (const auto* option : command.get_options()) {
        if (option->count() == 0 || option->get_group() == kCommonOptions) continue;
        if (option->get_positional())
            return fail(
                ErrorKind::Usage,
                fmt::format("{}: unexpected argument '{}'", name, option->results().front()),
                fmt::format("to see the arguments: {} --help", name));
        const auto flag = option->get_name();
        if (subcommand.get_option_no_throw(flag) != nullptr)
            return fail(ErrorKind::Usage,
                        fmt::format("{}: {} must follow the subcommand", name, flag),
                        fmt::format("{} {} {}...",
                                    name,
                                    flag,
                                    option->get_expected_max() == 0
                                        ? ""
                                        : shell_word(option->results().front()) + " "));
        return fail(ErrorKind::Usage,
                    fmt::format("{}: unknown option '{}'", name, flag),
                    fmt::format("to see the options: {} --help", name));
    }
    return {};
}

Error with_near_subcommand(Error error,
                           const CLI::App& command,
                           const std::string& argument,
                           std::span<const std::string> typed) {
    if (error.kind == ErrorKind::Interrupted || error.kind == ErrorKind::Cancelled) return error;
    if (auto hint = hint_for_unknown_word(command, argument, typed); !hint.empty()) {
        drop_fixes(error);
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
        // "package 'describe' not found": that may have been meant as a subcommand.
        const auto subcommands = subcommand_names(command);
        const bool is_word =
            std::ranges::all_of(argument, [](char c) { return c >= 'a' && c <= 'z'; });
        if (is_word && !subcommands.empty() && error.fixes.empty() &&
            error.hint.find("did you mean") == std::string::npos &&
            error.message.find(fmt::format("'{}'", argument)) != std::string::npos)
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
