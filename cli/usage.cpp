#include "cli/usage.hpp"

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/help.hpp"
#include "cli/other_names.hpp"
#include "cli/word_hints.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/file.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>

namespace gpkg::cli {
namespace {

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

/// Of an option that was given twice, for which the command has another way.
std::string hint_for_repeated(const CLI::App& command, const CLI::ParseError& problem) {
    return is_repeated(problem) ? hint_for_unknown_word(command, option_of(problem)) : "";
}

}  // namespace

Error unknown_command(const std::string& first,
                      std::span<const std::string> others,
                      const NearEnvironments& near_environments) {
    Error error{ErrorKind::Usage, {}, "to see the commands: gpkg --help", {}};
    if (first.starts_with('-')) {
        error.hint.clear();
        error.message = fmt::format("unknown option '{}' before the command", first);
        std::vector<std::string> known{"--help", "--help-commands", "--version"};
        const auto leading = leading_option_names();
        known.insert(known.end(), leading.begin(), leading.end());
        if (first.starts_with("--") && is_command(first.substr(2))) {
            error.hint = fmt::format("did you mean gpkg {}?", first.substr(2));
            return error;
        }
        // One letter is near every other.
        if (first.starts_with("--")) error.hint = did_you_mean(near_names(first, known));
        if (error.hint.empty()) error.hint = "options follow the command: gpkg COMMAND " + first;
        return error;
    }
    error.message = fmt::format("unknown command '{}'", first);
    const auto is_environment = [&](const std::string& word) {
        return names_environment(near_environments, word);
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
            hint_for({path, {word}, {}, {}}),
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
    if (hint.empty()) hint = hint_for_repeated(*path.back(), problem);
    if (hint.empty())
        hint = is_missing && unexpected.empty()
                   ? hint_by_example(*path.back())
                   : hint_for({path, unexpected, typed, near_environments});
    return {ErrorKind::Usage,
            path.size() > 1 ? fmt::format("{}: {}", full_name(*path.back()), what) : what,
            std::move(hint),
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

Result<void> check_own_options_unused(const CLI::App& command, const CLI::App& subcommand) {
    const auto name = full_name(subcommand);
    for (const auto* option : command.get_options()) {
        if (option->count() == 0 || option->get_group() == kCommonOptions) continue;
        if (option->get_positional()) {
            const auto& word = option->results().front();
            const auto hint = hint_for_unknown_word(subcommand, word);
            return fail(ErrorKind::Usage,
                        fmt::format("{}: unexpected argument '{}'", name, word),
                        hint.empty() ? fmt::format("to see the arguments: {} --help", name) : hint);
        }
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

}  // namespace gpkg::cli
