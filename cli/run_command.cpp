#include "cli/run_command.hpp"

#include "cli/command_line.hpp"
#include "cli/command_log.hpp"
#include "cli/environments.hpp"
#include "cli/given_words.hpp"
#include "cli/options.hpp"
#include "cli/usage.hpp"
#include "cli/workflow/generations.hpp"
#include "cli/workflow/settings.hpp"
#include "cli/workflow/wishes/wishes.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/fs/file_system.hpp"
#include "libcore/net/url.hpp"
#include "libcore/spec/match_spec.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <utility>

namespace gpkg::cli {
namespace {

/// How often a command begins again: each time a damaged cache file is gone, or another command has
/// changed the environment and ended.
constexpr int kMostRepetitions = 100;

Result<int> run_action(Context& context, const CLI::App& command, const Action& action) {
    auto status = action(context);
    for (int left = kMostRepetitions; !status && left > 0; --left) {
        const auto& error = status.error();
        if (error.kind == ErrorKind::Overtaken)
            context.out.note(fmt::format("note: {}; planning again", error.message));
        else if (error.kind == ErrorKind::DamagedCache)
            context.out.warn(error.message);
        else
            break;
        status = action(context);
    }
    if (status) return status;
    // The first is the command's own name.
    const bool has_argument = context.positionals.size() > 1;
    if (has_argument && command.get_subcommands().empty())
        return pass(with_near_subcommand(std::move(status).error(),
                                         command,
                                         context.arguments[context.positionals[1]],
                                         context.arguments));
    return status;
}

/// What the command does as it was given: with --dry-run and --check it changes nothing.
Effect given_effect(std::span<CLI::App* const> path) {
    const auto effect = effect_of(path);
    const bool is_dry =
        given_option(path, "--dry-run") != nullptr || given_option(path, "--check") != nullptr;
    return changes_something(effect) && is_dry ? Effect::Reads : effect;
}

/// The environment that -n or -p names.
fs::path given_prefix(const Context& context, std::span<CLI::App* const> path) {
    TargetOptions target;
    if (const auto* name = given_option(path, "--name")) target.name = name->results().front();
    if (const auto* prefix = given_option(path, "--prefix"))
        target.prefix = prefix->results().front();
    if (target.name.empty() && target.prefix.empty()) return {};
    return target_prefix(context, target).value_or(fs::path());
}

/// Names the environment of the hint as the user would: "-n ml" for "-p /path/envs/ml".
void name_environment(const Context& context, Error& error) {
    if (error.environment.empty()) return;
    error.hint = replace_all(error.hint,
                             environment_argument(error.environment),
                             target_words(context, error.environment));
}

/// "to make your own copy: ...", with the command that was meant for it: "then: gpkg install -n
/// my-ml scipy".
void continue_in_copy(const Context& context, std::span<CLI::App* const> path, Error& error) {
    if (path.size() != 2 || error.hint != hint_on_own_copy(context.prefix)) return;
    const auto& verb = path.back()->get_name();
    if (verb != "install" && verb != "update" && verb != "remove") return;
    const auto copy = "-n " + shell_word("my-" + context.prefix.filename().native());
    error.hint = replace_all(error.hint, "-n NAME", copy);
    error.hint += fmt::format("; then: gpkg {} {}", verb, copy);
    if (given_option(path, "--all") != nullptr) error.hint += " --all";
    for (std::size_t i = 1; i < context.positionals.size(); ++i)
        error.hint += " " + shell_word(context.arguments[context.positionals[i]]);
    error.hint += given_sources(context.arguments);
}

/// One sentence for Ctrl-C, whatever it stopped.
void shorten_interruption(const Context& context, Effect effect, Error& error) {
    if (error.kind != ErrorKind::Interrupted || error.tells_progress ||
        !context.stop.stop_requested())
        return;
    error.message =
        effect == Effect::ChangesAtomically ? "interrupted; nothing was changed" : "interrupted";
}

/// Whether a package of this name is installed in the environment.
bool has_package(const fs::path& prefix, const std::string& name) {
    const auto files = record_files(prefix);
    return files && std::ranges::any_of(*files, [&](const fs::path& file) {
               // <name>-<version>-<build>.json
               const auto stem = file.stem().native();
               const auto version = stem.rfind('-', stem.rfind('-') - 1);
               return stem.substr(0, version) == name;
           });
}

/// "png is installed in one: gpkg why -n one png", of a command line that names an installed
/// package and no environment; empty for others.
std::string hint_at_package(const Context& context,
                            std::span<CLI::App* const> path,
                            std::size_t argument) {
    const std::span<const std::string> words(context.arguments);
    const auto names = words.subspan(1, path.size() - 1);
    const bool has_option =
        std::ranges::any_of(names, [](const auto& word) { return word.starts_with('-'); });
    const auto spec = MatchSpec::parse(words[argument]);
    if (has_option || !spec || names.front() == "install") return "";
    // It is named behind the program: the command's own hint tells of that.
    const bool runs_program = effect_of(path) == Effect::RunsProgram;
    const auto behind = words.subspan(argument + 1);
    if (runs_program &&
        std::ranges::any_of(behind, [](const auto& word) { return word == "-n" || word == "-p"; }))
        return "";
    auto environments = list_environments(environment_folders(context.config), context.home);
    std::erase_if(environments,
                  [&](const auto& prefix) { return !has_package(prefix, spec->name); });
    if (environments.empty()) return "";
    std::vector<std::string> called;
    called.reserve(environments.size());
    for (const auto& prefix : environments) called.push_back(environment_name(context, prefix));
    // Arguments of a program may be secrets.
    const auto rest = runs_program ? words.subspan(argument, 1) : words.subspan(path.size());
    const auto other = names.front() == "why"
                           ? "; for a new request: gpkg why-not " + shell_word(words[argument])
                           : std::string();
    return fmt::format("{} is installed in {}: gpkg {} {} {}{}",
                       spec->name,
                       join_some(called, "and"),
                       shell_words(names),
                       target_words(context, environments.front()),
                       shell_words(rest),
                       other);
}

/// Where the folder of the default root prefix cannot be written to, as for users without a home.
std::string hint_at_root_prefix(const Config& config) {
    const auto& root = config.root_prefix;
    if (root.source != "default" || check_writable_folder(root.value)) return {};
    return fmt::format(
        "the root prefix is {}, by the home folder {}; to use a folder of yours: "
        "export GPKG_ROOT_PREFIX=FOLDER",
        root.value.native(),
        config.home.native());
}

/// An error in the words of the command line that it is about.
Error in_users_words(const Context& context, std::span<CLI::App* const> path, Error error) {
    name_environment(context, error);
    continue_in_copy(context, path, error);
    error = with_near_file(std::move(error));
    // Names of commands are no arguments.
    const auto first = path.size() - 1;
    if (first < context.positionals.size()) {
        // Its hint names the environment of an environment.yml in this folder.
        if (error.message == kNoEnvironmentActive && name_in_environment_yml(context).empty()) {
            auto hint = hint_at_package(context, path, context.positionals[first]);
            if (!hint.empty()) error.hint = std::move(hint);
        }
        const auto& argument = context.arguments[context.positionals[first]];
        if (is_environment_name(context.config, argument))
            error = with_environment_option(std::move(error), *path.back(), argument);
    }
    if (error.kind == ErrorKind::Io && error.hint.empty())
        error.hint = hint_at_root_prefix(context.config);
    shorten_interruption(context, effect_of(path), error);
    const auto& offline = context.config.offline;
    if (error.is_offline && offline.value)
        error.hint = fmt::format("run the command with GPKG_OFFLINE=0; offline is set by {}",
                                 offline.source);
    return error;
}

}  // namespace

int exit_status(const Error& error, int failed) {
    return error.kind == ErrorKind::Usage ? kWrongUsage : failed;
}

CLI::Option* given_option(std::span<CLI::App* const> path, const std::string& flag) {
    for (auto i = path.size(); i-- > 0;) {
        auto* option = path[i]->get_option_no_throw(flag);
        if (option != nullptr && option->count() > 0) return option;
    }
    return nullptr;
}

void apply_offline(std::span<CLI::App* const> path) {
    // Options of a command do not count for its subcommands.
    auto* option = path.back()->get_option_no_throw("--offline");
    if (option == nullptr || option->count() > 0) return;
    option->add_result("true");
    option->run_callback();
}

Result<int> run_command(Context& context,
                        std::span<CLI::App* const> path,
                        const CLI::App& command,
                        const Action& action) {
    const auto started = std::chrono::steady_clock::now();
    const auto effect = given_effect(path);
    const bool changes = changes_something(effect);
    LoggedCommand entry;
    entry.id = own_log_id();
    entry.time = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    entry.command = typed_command(context.command_line);
    entry.changes = changes;
    std::error_code code;
    entry.folder = fs::current_path(code).native();
    if (changes) {
        entry.prefix = given_prefix(context, path).native();
        log_command(context.config, entry);
    }
    if (given_option(path, "--check") != nullptr) context.failure_status = kCannotCheck;
    auto status = run_action(context, command, action);
    if (!status) status = pass(in_users_words(context, path, std::move(status).error()));
    const auto is_error = [&](ErrorKind kind) { return !status && status.error().kind == kind; };
    const bool is_cancelled = is_error(ErrorKind::Cancelled);
    const bool has_failed = status ? *status != 0 && effect != Effect::RunsProgram
                                   : !is_cancelled && !is_error(ErrorKind::Interrupted);
    if (!changes && !has_failed) return status;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
    if (!context.prefix.empty()) entry.prefix = context.prefix.native();
    entry.status = status ? *status : exit_status(status.error(), context.failure_status);
    entry.seconds = seconds.count();
    entry.is_cancelled = is_cancelled;
    if (!is_cancelled)
        entry.error = without_program_arguments(
            status ? context.out.last_error() : hide_secrets(status.error().to_string()),
            context.arguments,
            context.positionals,
            path);
    log_command(context.config, entry);
    return status;
}

}  // namespace gpkg::cli
