#include "cli/usage.hpp"

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/help.hpp"
#include "cli/options.hpp"
#include "cli/other_names.hpp"
#include "cli/workflow/ask/unsatisfiable.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/file.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
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

/// hint_for_other_name() of a word that `command` does not know, which may also be one of its
/// subcommands written as an option (--check).
std::string hint_for_unknown_word(const CLI::App& command, std::string_view word) {
    if (word.starts_with('-')) word = word.substr(0, word.find('='));
    if (auto hint = hint_for_other_name(words_of_command(command), word); !hint.empty())
        return hint;
    const auto verbs = subcommand_names(command);
    if (word.starts_with("--") && std::ranges::find(verbs, word.substr(2)) != verbs.end())
        return fmt::format("use {} {}", full_name(command), word.substr(2));
    return "";
}

std::string did_you_mean_behind(std::vector<std::string> near, const std::string& before = {}) {
    for (auto& name : near) name.insert(0, before);
    return did_you_mean(near);
}

/// Those of the innermost command come first: what it does not know falls to those around it.
std::vector<std::string> near_flags(const std::string& word, std::span<CLI::App* const> path) {
    const auto flag = word.substr(0, word.find('='));
    for (std::size_t i = path.size() - 1; i > 0; --i) {
        auto near = near_names(flag, option_names(*path[i]));
        if (!near.empty()) return near;
    }
    return {};
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

/// The option by which a command takes an environment: "-n".
bool takes_environment(const CLI::App& command) {
    return command.get_option_no_throw("--name") != nullptr;
}

bool names_one(const NearEnvironments& near_environments, const std::string& word) {
    return near_environments(word) == std::vector{word};
}

/// "gpkg rename -n old new" for "gpkg rename old new"; empty where the first argument is not an
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
    if (command.get_name() != "remove") return "";
    return fmt::format("to remove the whole setting: gpkg config remove-key {}", shell_word(text));
}

std::string hint_for_unexpected(const std::vector<std::string>& unexpected,
                                std::span<CLI::App* const> path,
                                const NearEnvironments& near_environments) {
    const auto& command = *path.back();
    for (const auto& word : unexpected) {
        if (path.size() > 1) {
            if (auto hint = hint_for_unknown_word(command, word); !hint.empty()) return hint;
        }
        const bool is_flag = word.starts_with('-');
        auto near = is_flag ? near_flags(word, path) : near_names(word, subcommand_names(command));
        if (!near.empty())
            return did_you_mean_behind(std::move(near), is_flag ? "" : full_name(command) + " ");
        if (is_flag) continue;
        if (word.ends_with(".sqfs") && is_unknown_subcommand(command, unexpected))
            return fmt::format("to run a command in it: gpkg image run {} -- python",
                               shell_word(word));
        if (is_unknown_subcommand(command, unexpected))
            return fmt::format("subcommands: {}", fmt::join(subcommand_names(command), ", "));
        if (takes_environment(command)) {
            auto hint = with_named_environment(unexpected, command, near_environments);
            if (!hint.empty()) return hint;
        }
        auto environments =
            takes_environment(command) ? near_environments(word) : std::vector<std::string>();
        for (auto& name : environments) name = "-n " + shell_word(name);
        if (!environments.empty()) return did_you_mean(environments);
        if (path.size() == 2 && command.get_name() == "verify")
            return "name an environment: -n NAME; for a mirror: gpkg mirror verify DIR; for a "
                   "package file: gpkg inspect FILE";
        const auto* argument = single_argument(command);
        if (argument != nullptr && argument->count() > 0)
            return fmt::format(
                "{} takes one {} at a time", full_name(command), value_name(*argument));
    }
    if (auto hint = hint_for_missing_value(command); !hint.empty()) return hint;
    if (unexpected.empty() && path.size() > 1) {
        if (auto hint = hint_for_other_name(std::string(), words_of_command(command));
            !hint.empty())
            return hint;
    }
    return fmt::format("to see the options: {} --help", full_name(command));
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

/// CLI11's message in gpkg's words.
std::string problem_text(const CLI::App& command, const CLI::ParseError& problem) {
    std::string text = problem.what();
    if (dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr) return missing_part(command);
    if (dynamic_cast<const CLI::ExcludesError*>(&problem) != nullptr)
        return about_two_options(text, " excludes ", "cannot be used with");
    if (dynamic_cast<const CLI::RequiresError*>(&problem) != nullptr)
        return about_two_options(text, " requires ", "needs");
    const auto option = text.substr(0, text.find(':'));
    if (text.find(": At Most 1 required") != std::string::npos)
        return fmt::format("{} can be used only once", option);
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

/// Of an option that was given twice and that the command has another way for; else empty.
std::string hint_for_repeated(const CLI::App& command, const CLI::ParseError& problem) {
    const std::string text = problem.what();
    if (text.find(": At Most 1 required") == std::string::npos) return {};
    return hint_for_other_name(words_of_command(command), text.substr(0, text.find(':')));
}

}  // namespace

void drop_fixes(Error& error) {
    error.message = error.message.substr(0, error.message.find(kFixesHeading));
    auto details = nlohmann::ordered_json::parse(error.details, nullptr, false);
    if (!details.is_object() || !details.contains("fixes")) return;
    details["fixes"] = nlohmann::ordered_json::array();
    error.details = json_text(details);
}

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

Error unknown_command(const std::string& first) {
    Error error{ErrorKind::Usage, {}, "to see the commands: gpkg --help", {}};
    if (first.starts_with('-')) {
        error.message = fmt::format("unknown option '{}' before the command", first);
        std::vector<std::string> known{"--help", "--help-commands", "--version"};
        const auto leading = leading_option_names();
        known.insert(known.end(), leading.begin(), leading.end());
        error.hint = did_you_mean(near_names(first, known),
                                  "options follow the command: gpkg COMMAND " + first);
        return error;
    }
    error.message = fmt::format("unknown command '{}'", first);
    if (auto hint = hint_for_other_name(std::string(), first); !hint.empty()) {
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
    return {
        ErrorKind::Usage,
        fmt::format("{}: {}", full_name(*path.back()), unexpected_text(*path.back(), {word})),
        hint_for_unexpected({word}, path, [](const auto&) { return std::vector<std::string>(); }),
        {}};
}

Error usage_error(CLI::App& app,
                  const CLI::ParseError& problem,
                  const std::string& first,
                  const NearEnvironments& near_environments) {
    const auto path = named_commands(app);
    const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&problem) != nullptr;
    // A word further on may be a command by chance: "gpkg creat -n x list".
    const bool has_command = path.size() > 1 && path[1]->get_name() == first;
    if (!has_command && (is_extra || path.size() > 1)) return unknown_command(first);
    const auto unexpected = app.remaining(true);
    const auto repeated = hint_for_repeated(*path.back(), problem);
    // Something required is missing because the words meant for it are unknown.
    const bool is_missing = dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr;
    const auto what = is_extra || (is_missing && !unexpected.empty())
                          ? unexpected_text(*path.back(), unexpected)
                          : problem_text(*path.back(), problem);
    return {ErrorKind::Usage,
            path.size() > 1 ? fmt::format("{}: {}", full_name(*path.back()), what) : what,
            !repeated.empty() ? repeated
            : is_missing && unexpected.empty()
                ? hint_by_example(*path.back())
                : hint_for_unexpected(unexpected, path, near_environments),
            {}};
}

std::optional<Error> option_as_value(const CLI::App& command) {
    for (const auto* option : command.get_options()) {
        if (option->get_positional() || option->get_items_expected_max() == 0) continue;
        const auto is_option = [&](const std::string& value) {
            return value.size() > 1 && value.starts_with('-') &&
                   command.get_option_no_throw(value) != nullptr;
        };
        if (std::ranges::none_of(option->results(), is_option)) continue;
        const auto value = value_name(*option);
        return Error{ErrorKind::Usage,
                     fmt::format("{}: {} needs a value{}",
                                 full_name(command),
                                 option->get_name(),
                                 value.empty() ? "" : ": " + value),
                     {},
                     {}};
    }
    return std::nullopt;
}

tl::unexpected<Error> missing_argument(const CLI::App& command, std::string_view argument) {
    return fail(ErrorKind::Usage,
                fmt::format("{}: missing argument: {}", full_name(command), argument),
                hint_by_example(command));
}

Error with_near_file(Error error) {
    constexpr std::string_view kMissing[] = {
        "No such file or directory", "no such file", "no such folder", "not a folder"};
    const auto says_missing = [&](std::string_view text) {
        return error.message.find(text) != std::string::npos;
    };
    if (!error.hint.empty() || std::ranges::none_of(kMissing, says_missing)) return error;
    constexpr std::string_view kProfile = "--for ";
    auto text = error.message.substr(0, error.message.find(": "));
    if (text.starts_with(kProfile)) text.erase(0, kProfile.size());
    const fs::path path(text);
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
    const auto is_given = [&](const char* flag) {
        const auto* option = command.get_option_no_throw(flag);
        return option == nullptr || option->count() > 0;
    };
    if (is_given("--name") || is_given("--prefix")) return error;
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
        const auto hint = hint_for_unknown_word(subcommand, flag);
        return fail(ErrorKind::Usage,
                    fmt::format("{}: unknown option '{}'", name, flag),
                    hint.empty() ? fmt::format("to see the options: {} --help", name) : hint);
    }
    return {};
}

Error with_near_subcommand(Error error, const CLI::App& command, const std::string& argument) {
    if (error.kind == ErrorKind::Interrupted || error.kind == ErrorKind::Cancelled) return error;
    if (auto hint = hint_for_unknown_word(command, argument); !hint.empty()) {
        drop_fixes(error);
        if (error.message.find(fmt::format("'{}' not found", argument)) != std::string::npos)
            error.message =
                fmt::format("{}: unknown subcommand '{}'", full_name(command), argument);
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
        if (is_word && !subcommands.empty() &&
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
