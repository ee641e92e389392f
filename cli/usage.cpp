#include "cli/usage.hpp"

#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/workflow/ask/unsatisfiable.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

/// What an edit or two can add to a word.
constexpr std::size_t kFewLetters = 2;

std::vector<const CLI::App*> all_below(const CLI::App& command) {
    return command.get_subcommands([](const CLI::App*) { return true; });
}

/// The program, the command and the verbs that were said, outermost first.
std::vector<const CLI::App*> said(const CLI::App& app) {
    std::vector<const CLI::App*> path{&app};
    for (;;) {
        const auto below = path.back()->get_subcommands();
        if (below.empty()) return path;
        path.push_back(below.front());
    }
}

std::string words_of(const std::vector<const CLI::App*>& path) {
    std::vector<std::string> names(path.size());
    std::transform(path.begin(), path.end(), names.begin(), [](const CLI::App* command) {
        return command->get_name();
    });
    return fmt::format("{}", fmt::join(names, " "));
}

/// What other tools call a subcommand, or an option that another command of gpkg has.
struct MeantCommand {
    std::string_view command;
    std::string_view word;
    std::string_view meant;  ///< the whole command
};

constexpr MeantCommand kMeantCommands[] = {
    {"env", "delete", "gpkg env remove"},
    {"env", "rm", "gpkg env remove"},
    {"env", "ls", "gpkg env list"},
    {"install", "--lock", "gpkg sync -n NAME --lock FILE"},
    {"lock", "upgrade", "gpkg lock update"},
    {"lock", "diff", "gpkg lock check"},
    {"lock", "status", "gpkg lock check"},
    {"lock", "verify", "gpkg lock check"},
    {"lock", "--locked", "gpkg lock check"},
    {"lock", "--upgrade", "gpkg lock update"},
    {"update", "--lock", "gpkg sync -n NAME --lock FILE"},
};

/// What to type for a word that `command` does not know: a name of another tool, a subcommand
/// written as an option (--check), a command of its own (gpkg env sync). Often empty.
std::string meant_command(const CLI::App& command, std::string_view word) {
    for (const auto& other : kMeantCommands) {
        if (command.get_name() == other.command && word == other.word)
            return std::string(other.meant);
    }
    const auto verbs = verbs_of(command);
    if (word.starts_with("--")) {
        const auto bare = word.substr(2);
        return std::ranges::find(verbs, bare) == verbs.end()
                   ? ""
                   : fmt::format("{} {}", full_name(command), bare);
    }
    const bool is_command =
        !verbs.empty() && std::ranges::any_of(commands(), [&](const Command& one) {
            return one.topic != Topic::Hidden && one.name == word;
        });
    return is_command && command.get_require_subcommand_min() > 0 ? fmt::format("gpkg {}", word)
                                                                  : "";
}

std::string did_you_mean_behind(std::vector<std::string> near, const std::string& before = {}) {
    for (auto& name : near) name.insert(0, before);
    return did_you_mean(near);
}

/// Those of the innermost command come first: what it does not know falls to those around it.
std::vector<std::string> near_flags(const std::string& word,
                                    const std::vector<const CLI::App*>& path) {
    const auto flag = word.substr(0, word.find('='));
    for (std::size_t i = path.size() - 1; i > 0; --i) {
        auto near = near_names(flag, flags_of(*path[i]));
        if (!near.empty()) return near;
    }
    return {};
}

std::string hint_at(const std::vector<std::string>& unexpected,
                    const std::vector<const CLI::App*>& path) {
    for (const auto& word : unexpected) {
        const bool is_flag = word.starts_with('-');
        auto near = is_flag ? near_flags(word, path) : near_names(word, verbs_of(*path.back()));
        if (!near.empty())
            return did_you_mean_behind(std::move(near), is_flag ? "" : words_of(path) + " ");
    }
    return words_of(path) + " --help shows the options";
}

Error unknown_command(const std::string& first) {
    Error error{ErrorKind::Usage, {}, "gpkg --help lists the commands", {}};
    if (first.starts_with('-')) {
        error.message = fmt::format("unknown option '{}' before the command", first);
        error.hint = "options follow the command: gpkg COMMAND " + first;
        return error;
    }
    error.message = fmt::format("unknown command '{}'", first);
    std::vector<std::string> names;
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

/// "unknown option '--nam'", "unknown subcommand 'lst'", "unexpected argument 'x'"
std::string unexpected_words(const CLI::App& command, const std::vector<std::string>& words) {
    if (command.get_require_subcommand_min() > 0 && !words.front().starts_with('-'))
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
std::string missing_argument(const CLI::App& command) {
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
std::string explained(const CLI::App& command, const CLI::ParseError& problem) {
    const std::string text = problem.what();
    if (dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr)
        return missing_argument(command);
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

/// Fixes of a request would leave out, or replace, the word that is no package.
void drop_fixes(Error& error) {
    error.message = error.message.substr(0, error.message.find(kFixesHeading));
    auto details = nlohmann::ordered_json::parse(error.details, nullptr, false);
    if (!details.is_object() || !details.contains("fixes")) return;
    details["fixes"] = nlohmann::ordered_json::array();
    error.details = json_text(details);
}

}  // namespace

std::vector<std::string> flags_of(const CLI::App& command) {
    std::vector<std::string> flags;
    for (const auto* option : command.get_options()) {
        if (option->get_group().empty()) continue;
        for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
        if (option->get_lnames().empty())
            for (const auto& name : option->get_snames()) flags.push_back("-" + name);
    }
    for (const auto* group : all_below(command)) {
        if (!group->get_name().empty()) continue;  // a verb, not a group of options
        const auto more = flags_of(*group);
        flags.insert(flags.end(), more.begin(), more.end());
    }
    return flags;
}

std::vector<std::string> verbs_of(const CLI::App& command) {
    std::vector<std::string> names;
    for (const auto* sub : all_below(command)) {
        if (!sub->get_name().empty() && !sub->get_group().empty()) names.push_back(sub->get_name());
    }
    return names;
}

Error usage_error(const CLI::App& app, const CLI::ParseError& problem, const std::string& first) {
    const auto path = said(app);
    const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&problem) != nullptr;
    // A word further on may be a command by chance: "gpkg creat -n x list".
    const bool has_command = path.size() > 1 && path[1]->get_name() == first;
    if (!has_command && (is_extra || path.size() > 1)) return unknown_command(first);
    const auto unexpected = app.remaining(true);
    // Something required is missing because the words meant for it are unknown.
    const bool is_missing = dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr;
    const auto what = is_extra || (is_missing && !unexpected.empty())
                          ? unexpected_words(*path.back(), unexpected)
                          : explained(*path.back(), problem);
    for (const auto& word : unexpected) {
        const auto meant = meant_command(*path.back(), word.substr(0, word.find('=')));
        if (!meant.empty())
            return {ErrorKind::Usage,
                    fmt::format("{}: {}", words_of(path), what),
                    did_you_mean(std::vector{meant}),
                    {}};
    }
    return {ErrorKind::Usage,
            path.size() > 1 ? fmt::format("{}: {}", words_of(path), what) : what,
            hint_at(unexpected, path),
            {}};
}

Result<void> check_own_options_unused(const CLI::App& command, const CLI::App& subcommand) {
    const auto name = full_name(subcommand);
    for (const auto* option : command.get_options()) {
        if (option->count() == 0 || option->get_group() == kCommonOptions) continue;
        if (option->get_positional())
            return fail(
                ErrorKind::Usage,
                fmt::format("{}: unexpected argument '{}'", name, option->results().front()),
                name + " --help shows the arguments");
        const auto flag = option->get_name();
        if (subcommand.get_option_no_throw(flag) != nullptr)
            return fail(ErrorKind::Usage,
                        fmt::format("{}: {} must follow the subcommand", name, flag),
                        fmt::format("{} {} ...", name, flag));
        return fail(ErrorKind::Usage,
                    fmt::format("{}: unknown option '{}'", name, flag),
                    name + " --help shows the options");
    }
    return {};
}

Error with_near_verb(Error error, const CLI::App& command, const std::string& argument) {
    if (error.kind == ErrorKind::Interrupted) return error;
    if (auto other = meant_command(command, argument); !other.empty()) {
        drop_fixes(error);
        error.hint = did_you_mean(std::vector{std::move(other)});
        return error;
    }
    auto near = near_names(argument, verbs_of(command));
    // Names of packages may have a verb in them: pytest-check.
    std::erase_if(near, [&](const auto& verb) {
        return std::max(verb.size(), argument.size()) - std::min(verb.size(), argument.size()) >
               kFewLetters;
    });
    if (near.empty()) return error;
    drop_fixes(error);
    const auto hint =
        did_you_mean_behind(std::move(near), fmt::format("gpkg {} ", command.get_name()));
    error.hint = error.hint.empty() ? hint : fmt::format("{} Or: {}", hint, error.hint);
    return error;
}

}  // namespace gpkg::cli
