#include "cli/usage.hpp"

#include "cli/command.hpp"
#include "libcore/base/text.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

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
    return words_of(path) + " --help";
}

Error no_such_command(const std::string& first) {
    Error error{ErrorKind::Usage, {}, "gpkg --help and gpkg COMMAND --help explain", {}};
    if (first.starts_with('-')) {
        error.message = fmt::format("{}: no command stands before it", first);
        error.hint = "gpkg COMMAND " + first + " ...; gpkg --help lists the commands";
        return error;
    }
    std::vector<std::string> names;
    for (const auto& command : commands()) names.emplace_back(command.name);
    error.message = fmt::format("{}: no such command", first);
    // What conda, mamba and pixi call it.
    constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
        {"uninstall", "remove"}, {"upgrade", "update"}, {"add", "install"}};
    for (const auto& [name, own] : kElsewhere) {
        if (first != name) continue;
        error.hint = fmt::format("gpkg {} does that", own);
        return error;
    }
    if (auto near = near_names(first, names); !near.empty())
        error.hint = did_you_mean_behind(std::move(near));
    return error;
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
    if (!has_command && (is_extra || path.size() > 1)) return no_such_command(first);
    const auto unexpected = app.remaining(true);
    Error error{ErrorKind::Usage, problem.what(), hint_at(unexpected, path), {}};
    // "--for: At Most 1 required but received 2"
    if (const auto end = error.message.find(": At Most 1 required"); end != std::string::npos)
        error.message = error.message.substr(0, end) + " may be given once";
    // What is lacking is lacking because the words that were to say it are not known.
    const bool is_lacking = dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr;
    if (is_extra || (is_lacking && !unexpected.empty()))
        // CLI11's own message has them in reverse.
        error.message =
            fmt::format("{}: not expected: {}", words_of(path), fmt::join(unexpected, " "));
    return error;
}

Error with_near_verb(Error error, const CLI::App& command, const std::string& argument) {
    auto near = near_names(argument, verbs_of(command));
    // Names of packages may have a verb in them: pytest-check.
    std::erase_if(near, [&](const auto& verb) {
        return std::max(verb.size(), argument.size()) - std::min(verb.size(), argument.size()) >
               kFewLetters;
    });
    if (near.empty() || error.kind == ErrorKind::Interrupted) return error;
    const auto hint =
        did_you_mean_behind(std::move(near), fmt::format("gpkg {} ", command.get_name()));
    error.hint = error.hint.empty() ? hint : fmt::format("{} Or: {}", hint, error.hint);
    return error;
}

}  // namespace gpkg::cli
