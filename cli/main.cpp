// gpkg: reads the command line, finds the command, reports how it went.

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/command_log.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/help.hpp"
#include "cli/options.hpp"
#include "cli/usage.hpp"
#include "cli/version.hpp"
#include "cli/workflow/generations.hpp"
#include "cli/workflow/inside.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/fs/system_user.hpp"
#include "libcore/net/url.hpp"
#include "virtual-packages/confine.hpp"
#include "virtual-packages/cuda.hpp"
#include "virtual-packages/host.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <memory>
#include <pthread.h>
#include <span>
#include <stop_token>
#include <thread>
#include <unistd.h>

namespace gpkg::cli {
namespace {

constexpr int kFailed = 1;
/// How many damaged cache files one command makes anew.
constexpr int kMostDamaged = 100;

int exit_status(const Error& error) {
    return error.kind == ErrorKind::Usage ? kWrongUsage : kFailed;
}

std::optional<std::string> environment_variable(std::string_view name) {
    const char* value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// By HOME, or where that is not set by the system's list of users.
fs::path home_folder() {
    if (auto home = environment_variable("HOME")) return *std::move(home);
    const auto user = system_user(::getuid());
    return user ? user->home : "/";
}

/// Turns Ctrl-C, SIGTERM and SIGHUP into a request to stop. A second one ends the program at once,
/// unless it is the first again: timeout(1) signals a program and then its whole group.
/// The signals are blocked in every thread and taken by one that waits for them, so that no code
/// runs inside a handler.
class Signals {
public:
    Signals() {
        remember_signals();
        std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a write error, told by the write
        sigemptyset(&set_);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, signal);
        pthread_sigmask(SIG_BLOCK, &set_, nullptr);
        std::thread([this] {
            int signal = 0;
            sigwait(&set_, &signal);
            first_signal = signal;
            source_.request_stop();
            const auto start = std::chrono::steady_clock::now();
            do {
                sigwait(&set_, &signal);
            } while (signal == first_signal &&
                     std::chrono::steady_clock::now() - start < kSameSignal);
            constexpr std::string_view kWords =
                "gpkg: killed; the next gpkg command repairs unfinished changes\n";
            static_cast<void>(::write(STDERR_FILENO, kWords.data(), kWords.size()));
            ::_exit(128 + signal);
        }).detach();
    }
    std::stop_token token() const { return source_.get_token(); }
    static int first() { return first_signal; }

private:
    static constexpr std::chrono::milliseconds kSameSignal{500};
    static inline std::atomic<int> first_signal = 0;
    sigset_t set_{};
    std::stop_source source_;
};

/// A standard descriptor that was closed would be given to the next file that is opened, and what
/// is printed would end up in that. Writing to this stand-in fails, as it should.
void occupy_standard_descriptors() {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(descriptor, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) < 0) return;
    }
}

struct CommonOptions {
    bool json = false;
    bool quiet = false;
    int verbose = 0;
    std::string color = "auto";
};

void add_common_options(CLI::App& app, CommonOptions& options) {
    const std::string group(kCommonOptions);
    app.add_flag("--json", options.json, "print one JSON document on stdout")->group(group);
    app.add_flag("-q,--quiet", options.quiet, "print results and errors only")->group(group);
    app.add_flag("-v,--verbose", options.verbose, "print more details; repeat for more")
        ->group(group);
    app.add_option("--color", options.color, "color the output: auto, always or never")
        ->type_name("WHEN")
        ->check(one_of({"auto", "always", "never"}))
        ->group(group);
    app.get_help_ptr()->group(group);
}

/// "gpkg 0.1.0 (d9d40ac12 2026-11-28)"
std::string version_line() {
    return commit().empty() ? "gpkg " GPKG_VERSION
                            : fmt::format("gpkg " GPKG_VERSION " ({})", commit());
}

/// The value of --color before the command line is parsed, for help and usage errors.
ColorChoice color_choice(const CommandLine& line) {
    constexpr std::string_view kOption = "--color";
    auto choice = ColorChoice::Auto;
    const auto read = [&](std::span<const std::string> words) {
        for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
            std::string_view word = words[i];
            if (word == kOption && i + 1 < words.size()) {
                choice = color_choice_of(words[i + 1]).value_or(choice);
            } else if (word.starts_with(kOption) && word.substr(kOption.size()).starts_with('=')) {
                choice = color_choice_of(word.substr(kOption.size() + 1)).value_or(choice);
            }
        }
    };
    read(line.before_command);
    read(line.words);
    return choice;
}

HelpStyle terminal_style(int descriptor, const CommandLine& line) {
    return help_style(terminal_width(descriptor),
                      uses_color(color_choice(line), descriptor, environment_variable));
}

/// Where the documentation begins: beside the installed program, or in the sources it was built in.
std::string documentation_page() {
    std::error_code code;
    const auto program = fs::read_symlink("/proc/self/exe", code).parent_path();
    for (const auto* page : {"../share/doc/gpkg/index.md", "../../docs/index.md"}) {
        const auto path = (program / page).lexically_normal();
        if (fs::exists(path, code)) return path.native();
    }
    return "";
}

void print_help(CLI::App& program, const CommandLine& line) {
    const auto style = terminal_style(STDOUT_FILENO, line);
    const auto& command = *named_commands(program).back();
    std::string text;
    if (line.has("--help-all")) {
        for (const auto* sub : program.get_subcommands(nullptr))
            if (!sub->get_group().empty())
                text += (text.empty() ? "" : "\n") + help_of(*sub, style);
    } else if (line.has("--help-commands")) {
        text = all_commands(style);
    } else {
        text =
            &command == &program ? overview(style, documentation_page()) : help_of(command, style);
    }
    std::fputs(text.c_str(), stdout);
}

/// "gpkg help nosuch"
bool names_unknown_command(CLI::App& program, const CommandLine& line) {
    return named_commands(program).size() == 1 && line.words.size() > 1 &&
           !line.words[1].starts_with('-');
}

/// A command that only its subcommands make useful was named alone: what there is to choose from.
bool lacks_subcommand(CLI::App& program, const CLI::ParseError& problem) {
    const auto& command = *named_commands(program).back();
    return &command != &program && program.remaining_size(true) == 0 &&
           command.get_require_subcommand_min() > 0 &&
           dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr;
}

/// Declares all commands, and the options of those that the command line names: to declare all of
/// them takes longer than most commands do.
std::vector<std::pair<CLI::App*, Action>> bind_commands(CLI::App& app,
                                                        const CommandLine& line,
                                                        CommonOptions& common) {
    const bool all = line.has("--help-all") || line.has("__reference");
    std::vector<std::pair<CLI::App*, Action>> actions;
    for (const auto& command : commands()) {
        auto* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
        if (command.topic == Topic::Hidden) sub->group("");
        if (!all && !line.has(command.name)) continue;
        add_common_options(*sub, common);
        actions.emplace_back(sub, command.bind(*sub));
    }
    return actions;
}

Result<int> run_action(Context& context, const CLI::App& command, const Action& action) {
    auto status = action(context);
    // Each time there is one such file less.
    for (int left = kMostDamaged;
         !status && status.error().kind == ErrorKind::DamagedCache && left > 0;
         --left) {
        context.out.warn(status.error().message);
        status = action(context);
    }
    if (status) return status;
    // The first is the command's own name.
    const bool has_argument = context.positionals.size() > 1;
    if (has_argument && command.get_subcommands().empty())
        return pass(with_near_subcommand(
            std::move(status).error(), command, context.arguments[context.positionals[1]]));
    return status;
}

/// The option of the innermost command that has it and was given it; null if none was.
CLI::Option* given_option(std::span<CLI::App* const> path, const std::string& flag) {
    for (auto i = path.size(); i-- > 0;) {
        auto* option = path[i]->get_option_no_throw(flag);
        if (option != nullptr && option->count() > 0) return option;
    }
    return nullptr;
}

/// What the command does as it was given: with --dry-run it changes nothing.
Effect given_effect(std::span<CLI::App* const> path) {
    const auto effect = effect_of(path);
    const bool is_dry = given_option(path, "--dry-run") != nullptr;
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

/// The setting offline is the default of every --offline.
void apply_offline(std::span<CLI::App* const> path) {
    // Options of a command do not count for its subcommands.
    auto* option = path.back()->get_option_no_throw("--offline");
    if (option == nullptr || option->count() > 0) return;
    option->add_result("true");
    option->run_callback();
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

/// Names the environment of the hint as the user would: "-n ml" for "-p /path/envs/ml".
void name_environment(const Context& context, Error& error) {
    if (error.environment.empty()) return;
    replace_all(error.hint,
                environment_argument(error.environment),
                target_words(context, error.environment));
}

/// One sentence for Ctrl-C, whatever it stopped.
void shorten_interruption(const Context& context, Effect effect, Error& error) {
    if (error.kind != ErrorKind::Interrupted || !context.stop.stop_requested()) return;
    const auto& text = error.message;
    if (text != "interrupted" && !text.ends_with(": interrupted") &&
        !text.ends_with(" was interrupted"))
        return;
    error.message =
        effect == Effect::ChangesAtomically ? "interrupted; nothing was changed" : "interrupted";
}

/// An error in the words of the command line that it is about.
Error in_users_words(const Context& context, std::span<CLI::App* const> path, Error error) {
    name_environment(context, error);
    error = with_near_file(std::move(error));
    // Names of commands are no arguments.
    const auto first = path.size() - 1;
    if (first < context.positionals.size()) {
        const auto& argument = context.arguments[context.positionals[first]];
        if (is_environment_name(context.config, argument))
            error = with_environment_option(std::move(error), *path.back(), argument);
    }
    shorten_interruption(context, effect_of(path), error);
    const auto& offline = context.config.offline;
    if (offline.value && given_option(path, "--offline") != nullptr &&
        error.hint.find("without --offline") != std::string::npos) {
        replace_all(error.hint, "without --offline", "with GPKG_OFFLINE=0");
        error.hint += fmt::format("; offline is set by {}", offline.source);
    }
    return error;
}

/// Runs the command, and keeps it in the log if it changes something or fails.
Result<int> run_logged(Context& context,
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
    if (changes) {
        entry.prefix = given_prefix(context, path).native();
        log_command(context.config, entry);
    }
    auto status = run_action(context, command, action);
    if (!status) status = pass(in_users_words(context, path, std::move(status).error()));
    const auto is_error = [&](ErrorKind kind) { return !status && status.error().kind == kind; };
    const bool is_cancelled = is_error(ErrorKind::Cancelled);
    const bool has_failed = status ? *status != 0 && effect != Effect::RunsProgram
                                   : !is_cancelled && !is_error(ErrorKind::Interrupted);
    if (!changes && !has_failed) return status;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
    if (!context.prefix.empty()) entry.prefix = context.prefix.native();
    entry.status = status ? *status : exit_status(status.error());
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

Result<Config> load_settings(bool skips_invalid = false) {
    ConfigSources sources{
        environment_variable, home_folder(), virtual_packages::this_machine().native_platform};
    sources.skips_invalid = skips_invalid;
    return load_config(sources);
}

bool names_environment(const std::string& name) {
    const auto config = load_settings();
    return config && is_environment_name(*config, name);
}

/// Lets CLI11 read the command line. The exit status where nothing is left to run: after help, the
/// version or a usage error.
std::optional<int> parse(CLI::App& app,
                         const CommandLine& line,
                         const CommonOptions& common,
                         Output& out) {
    try {
        // CLI11 takes the words in reverse.
        app.parse(std::vector<std::string>(line.words.rbegin(), std::prev(line.words.rend())));
    } catch (const CLI::Success& asked) {  // for help or the version
        if (names_unknown_command(app, line)) {
            out.set({line.has("--json"), false, 0, color_choice(line)});
            out.error(unknown_command(line.words[1]));
            return kWrongUsage;
        }
        if (dynamic_cast<const CLI::CallForVersion*>(&asked) != nullptr)
            std::printf("%s\n", version_line().c_str());
        else
            print_help(app, line);
        return 0;
    } catch (const CLI::ParseError& problem) {
        // The flags may not have been read yet; scripts must get their document all the same.
        out.set({common.json || line.has("--json"), false, 0, color_choice(line)});
        if (lacks_subcommand(app, problem) && !out.json_mode()) {
            const auto style = terminal_style(STDERR_FILENO, line);
            std::fputs(help_of(*named_commands(app).back(), style).c_str(), stderr);
            return kWrongUsage;
        }
        out.error(usage_error(
            app, problem, line.words.size() > 1 ? line.words[1] : "", names_environment));
        return kWrongUsage;
    }
    return std::nullopt;
}

/// `gpkg` alone prints the help; options without a command are an error.
int run_without_command(CLI::App& app, const CommandLine& line, Output& out) {
    if (line.before_command.empty()) {
        print_help(app, line);
        return 0;
    }
    out.set({line.has("--json"), false, 0, color_choice(line)});
    out.error({ErrorKind::Usage, "missing command", "to see the commands: gpkg --help", {}});
    return kWrongUsage;
}

/// Reports how the command went. Returns the exit status of the program.
int report(const Result<int>& status, const Config& config, Output& out) {
    out.show_deferred();
    for (const auto& error : config.errors)
        if (status || status.error().message != error.message) out.warn(error.to_string());
    if (!status) {
        out.error(status.error());
        return exit_status(status.error());
    }
    if (!out.stdout_works()) {
        if (!Output::stdout_reader_left()) std::fputs("error: cannot write to stdout\n", stderr);
        return kFailed;
    }
    return *status;
}

int run(int argc, char** argv) {
    auto line = read_command_line({argv, static_cast<std::size_t>(argc)});
    CLI::App app("packages and environments that fit your hardware", "gpkg");
    app.set_help_flag("-h,--help", "show help");
    app.set_version_flag("--version,-V", version_line());
    app.require_subcommand(0, 1);
    CommonOptions common;
    const auto actions = bind_commands(app, line, common);
    // Last, or every command would have it.
    app.set_help_all_flag("--help-all,--help-commands", "show the help of every command");
    move_options_behind_command(line, app);

    Output out(environment_variable);
    if (const auto status = parse(app, line, common, out)) return *status;
    const auto chosen = std::find_if(
        actions.begin(), actions.end(), [](const auto& entry) { return entry.first->parsed(); });
    OutputOptions how{common.json,
                      common.quiet,
                      common.verbose,
                      color_choice_of(common.color).value_or(ColorChoice::Auto)};
    out.set(how);
    if (chosen == actions.end()) return run_without_command(app, line, out);

    const auto& [command, action] = *chosen;
    const auto* entry = find_command(command->get_name());
    const auto config = load_settings(entry != nullptr && entry->works_without_settings);
    if (!config) {
        out.error(config.error());
        return exit_status(config.error());
    }
    const auto path = named_commands(app);
    if (config->offline.value) apply_offline(path);
    how.yes = config->always_yes.value || given_option(path, "--yes") != nullptr;
    out.set(how);
    for (const auto& warning : config->warnings) out.warn(warning);
    static Signals signals;  // its thread outlives this function
    Context context{out,
                    *config,
                    environment_variable,
                    home_folder(),
                    signals.token(),
                    "",
                    line.words,
                    argument_indices(*command, line.words)};
    context.command_line = recorded_command_line(
        {argv, static_cast<std::size_t>(argc)}, line.words, context.positionals, path);
    return report(run_logged(context, path, *command, action), *config, out);
}

}  // namespace

int stop_signal() { return Signals::first(); }

Result<void> check_stop(const Context& context) {
    if (context.stop.stop_requested()) return fail(ErrorKind::Interrupted, "interrupted");
    return {};
}

}  // namespace gpkg::cli

int main(int argc, char** argv) {
    try {
        gpkg::cli::occupy_standard_descriptors();
        // gpkg starts itself for what must not happen in its own process.
        const std::span<char* const> words(argv, static_cast<std::size_t>(argc));
        const std::string_view verb = argc > 1 ? argv[1] : "";
        if (verb == gpkg::virtual_packages::kCudaProbeVerb)
            gpkg::virtual_packages::cuda_probe_main(words.subspan(2));
        if (verb == gpkg::virtual_packages::kConfineVerb)
            gpkg::virtual_packages::confine_main(words.subspan(2));
        return gpkg::cli::run(argc, argv);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "internal error: %s\n", problem.what());
        return 1;
    }
}
