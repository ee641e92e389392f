// gpkg: reads the command line, finds the command, reports how it went.

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/help.hpp"
#include "cli/options.hpp"
#include "cli/run_command.hpp"
#include "cli/signals.hpp"
#include "cli/usage.hpp"
#include "cli/version.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/fs/system_user.hpp"
#include "virtual-packages/confine.hpp"
#include "virtual-packages/cuda.hpp"
#include "virtual-packages/host.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <unistd.h>

namespace gpkg::cli {
namespace {

std::optional<std::string> environment_variable(std::string_view name) {
    const char* value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// By HOME, or where that is no path by the system's list of users.
fs::path home_folder() {
    if (auto home = environment_variable("HOME"); home && home->starts_with('/'))
        return *std::move(home);
    const auto user = system_user(::getuid());
    return user ? user->home : "/";
}

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

HelpStyle terminal_style(int descriptor, const CommandLine& line) {
    return help_style(terminal_width(descriptor),
                      uses_color(line.color, descriptor, environment_variable));
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
        text = &command == &program ? overview(style, documentation_page("index.md"))
                                    : help_of(command, style);
    }
    std::fputs(text.c_str(), stdout);
}

/// Of the word that names no command in "gpkg help nosuch", "gpkg nosuch --help", "gpkg help env
/// nosuch" and "gpkg help all nosuch".
std::optional<Error> unknown_help_topic(CLI::App& program, const CommandLine& line) {
    const bool is_all = line.is_help && line.has("--help-commands");
    const auto path = named_commands(program);
    // Arguments may stand between a command and --help.
    if (path.size() > 1 && !line.is_help) return std::nullopt;
    const auto index = is_all ? 2 : path.size();
    if (line.words.size() <= index || line.words[index].starts_with('-')) return std::nullopt;
    const auto& word = line.words[index];
    if (is_all)
        return Error{ErrorKind::Usage,
                     fmt::format("unexpected argument '{}'", word),
                     "to see all commands: gpkg help all",
                     {}};
    return path.size() == 1 ? unknown_command(word) : unknown_subcommand(path, word);
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

Result<Config> load_settings(bool skips_invalid = false) {
    ConfigSources sources{
        environment_variable, home_folder(), virtual_packages::this_machine().native_platform};
    sources.skips_invalid = skips_invalid;
    return load_config(sources);
}

std::vector<std::string> near_environments(const std::string& name) {
    const auto config = load_settings();
    if (!config) return {};
    if (is_environment_name(*config, name)) return {name};
    const auto folders = environment_folders(*config);
    std::vector<std::string> names;
    for (const auto& path : list_environments(folders, home_folder())) {
        if (folders.has(path)) names.push_back(folders.name_of(path));
    }
    return near_names(name, names);
}

/// commit() is "d9d40ac12 2026-11-28".
void print_version_json(Output& out) {
    const auto hash = commit().substr(0, commit().find(' '));
    const auto date = commit().substr(std::min(hash.size() + 1, commit().size()));
    out.json({{"success", true},
              {"version", GPKG_VERSION},
              {"commit", std::string(hash)},
              {"date", std::string(date)}});
}

/// Lets CLI11 read the command line. The exit status where nothing is left to run: after help, the
/// version or a usage error.
std::optional<int> parse(CLI::App& app, const CommandLine& line, Output& out) {
    try {
        // CLI11 takes the words in reverse.
        app.parse(std::vector<std::string>(line.words.rbegin(), std::prev(line.words.rend())));
    } catch (const CLI::Success& asked) {  // for help or the version
        if (const auto unknown = unknown_help_topic(app, line)) {
            out.set({line.json, false, 0, line.color});
            out.error(*unknown);
            return kWrongUsage;
        }
        const bool is_version = dynamic_cast<const CLI::CallForVersion*>(&asked) != nullptr;
        if (is_version && line.json)
            print_version_json(out);
        else if (is_version)
            std::printf("%s\n", version_line().c_str());
        else
            print_help(app, line);
        return 0;
    } catch (const CLI::ParseError& problem) {
        // The flags may not have been read yet; scripts must get their document all the same.
        out.set({line.json, false, 0, line.color});
        if (lacks_subcommand(app, problem) && !out.json_mode()) {
            const auto style = terminal_style(STDERR_FILENO, line);
            std::fputs(help_of(*named_commands(app).back(), style).c_str(), stderr);
            return kWrongUsage;
        }
        // Options before an unknown command are still there.
        auto typed = line.words;
        typed.insert(typed.end(), line.before_command.begin(), line.before_command.end());
        out.error(usage_error(app, problem, typed, near_environments));
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
    out.set({line.json, false, 0, line.color});
    const auto problem =
        line.lacks_value.empty() ? "missing command" : line.lacks_value + " needs a value";
    out.error({ErrorKind::Usage, problem, "to see the commands: gpkg --help", {}});
    return kWrongUsage;
}

/// Reports how the command went. Returns the exit status of the program.
int report(const Result<int>& status, const Context& context) {
    auto& out = context.out;
    out.show_deferred();
    for (const auto& error : context.config.errors)
        if (status || status.error().message != error.message) out.warn(error.to_string());
    if (!status) {
        out.error(status.error());
        return exit_status(status.error(), context.failure_status);
    }
    if (!out.stdout_works()) {
        if (!Output::stdout_reader_left()) std::fputs("error: cannot write to stdout\n", stderr);
        return context.failure_status;
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
    if (const auto status = parse(app, line, out)) return *status;
    const auto chosen = std::find_if(
        actions.begin(), actions.end(), [](const auto& entry) { return entry.first->parsed(); });
    OutputOptions how{common.json,
                      common.quiet,
                      common.verbose,
                      color_choice_of(common.color).value_or(ColorChoice::Auto)};
    out.set(how);
    if (chosen == actions.end()) return run_without_command(app, line, out);

    if (const auto error = option_as_value(*named_commands(app).back())) {
        out.error(*error);
        return kWrongUsage;
    }
    const auto& [command, action] = *chosen;
    const auto* entry = find_command(command->get_name());
    auto config = load_settings(entry != nullptr && entry->works_without_settings);
    if (!config) {
        out.error(config.error());
        return exit_status(config.error());
    }
    const auto path = named_commands(app);
    if (config->offline.value) apply_offline(path);
    if (given_option(path, "--insecure") != nullptr) config->ssl_verify = {"false", "--insecure"};
    how.yes = config->always_yes.value || given_option(path, "--yes") != nullptr;
    out.set(how);
    for (const auto& warning : config->warnings) out.warn(warning);
    const auto stops = catch_signals();
    Context context{out,
                    *config,
                    environment_variable,
                    home_folder(),
                    stops.stop,
                    "",
                    line.words,
                    argument_indices(*command, line.words)};
    context.stop_or_unread = stops.stop_or_unread;
    context.command_line = recorded_command_line(
        {argv, static_cast<std::size_t>(argc)}, line.words, context.positionals, path);
    const auto status = run_command(context, path, *command, action);
    return report(status, context);
}

}  // namespace

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
