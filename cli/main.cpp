// gpkg: reads the command line, finds the command, reports how it went.

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/usage.hpp"
#include "cli/workflow/inside.hpp"
#include "cli/workflow/settings.hpp"
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
#include <exception>
#include <fcntl.h>
#include <memory>
#include <pthread.h>
#include <span>
#include <stop_token>
#include <thread>
#include <unistd.h>

namespace gpkg::cli {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
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
                "gpkg: ended at once; what is unfinished stays as it is until gpkg is used again\n";
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

/// As the history of environments keeps it.
std::string command_line(int argc, char** argv) {
    std::string line;
    for (int i = 0; i < argc; ++i) {
        // Channels may come with passwords and tokens: "--channel=https://user:secret@host/x".
        if (i > 0) line += ' ';
        line += hide_secrets(argv[i]);
    }
    return line;
}

struct CommonOptions {
    bool json = false;
    bool quiet = false;
    int verbose = 0;
};

void add_common_options(CLI::App& app, CommonOptions& options) {
    app.add_flag("--json", options.json, "print one JSON document on stdout");
    app.add_flag("-q,--quiet", options.quiet, "say only what was asked for");
    app.add_flag("-v,--verbose", options.verbose, "say more");
}

/// Of the command, or of the verb of it that was given.
const CLI::Option* option_of(const CLI::App& command, const std::string& flag) {
    if (const auto* option = command.get_option_no_throw(flag)) return option;
    for (const auto* verb : command.get_subcommands()) {
        if (const auto* option = option_of(*verb, flag)) return option;
    }
    return nullptr;
}

/// Whether the value of a flag is the next word: of "-f" and "-qf", not of "-ffile" or "--file=x".
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

/// The places of words that are neither flags of the command nor values of such.
std::vector<std::size_t> positionals(const CLI::App& command, std::span<char*> words) {
    std::vector<std::size_t> places;
    bool all = false;  // behind "--"
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string_view word(words[i]);
        if (all || !word.starts_with('-')) {
            places.push_back(i);
        } else if (word == "--") {
            all = true;
        } else if (awaits_value(command, word)) {
            ++i;
        }
    }
    return places;
}

int run(int argc, char** argv) {
    CLI::App app("gpkg: packages and environments that fit the machine", "gpkg");
    app.set_version_flag("--version,-V", "gpkg " GPKG_VERSION);
    app.require_subcommand(0, 1);
    app.set_help_all_flag("--help-all", "the help of every command");
    app.failure_message(
        [](const CLI::App*, const CLI::Error& error) { return std::string(error.what()); });
    CommonOptions common;
    std::vector<std::pair<CLI::App*, Action>> actions;
    const std::span words(argv, static_cast<std::size_t>(argc));
    const bool all =
        std::find(words.begin(), words.end(), std::string_view("--help-all")) != words.end();
    for (const auto& command : commands()) {
        auto* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
        if (command.summary.empty()) sub->group("");  // not shown
        // To make all flags of all commands takes longer than most commands do.
        if (!all && std::find(words.begin(), words.end(), command.name) == words.end()) continue;
        add_common_options(*sub, common);
        actions.emplace_back(sub, command.bind(*sub));
    }

    const bool no_color = !environment_variable("NO_COLOR").value_or("").empty() ||
                          environment_variable("TERM").value_or("") == "dumb";
    Output out(no_color);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& request) {
        return app.exit(request);
    } catch (const CLI::ParseError& problem) {
        // The flags may not have been read yet; scripts must get their document all the same.
        for (int i = 1; i < argc; ++i)
            common.json = common.json || std::string_view(argv[i]) == "--json";
        out.set({common.json, false, 0});
        out.error(usage_error(app, problem, argc > 1 ? argv[1] : ""));
        return kWrongUsage;
    }
    out.set({common.json, common.quiet, common.verbose});

    const auto chosen = std::find_if(
        actions.begin(), actions.end(), [](const auto& entry) { return entry.first->parsed(); });
    if (chosen == actions.end()) {
        std::fputs(app.help().c_str(), stdout);
        return 0;
    }

    const auto home = home_folder();
    ConfigSources sources{
        environment_variable, home, virtual_packages::this_machine().native_platform};
    auto config = load_config(sources);
    const auto verb = chosen->first->get_name();
    if (!config && (verb == "config" || verb == "deactivate")) {
        // The ways out: what is wrong with the configuration may be changed by the one, and leaving
        // an environment needs none.
        out.warn(config.error().to_string());
        sources.reads_conda_files = false;
        auto without = load_config(sources);
        if (without || verb == "config")
            config = std::move(without);
        else
            config = Config{};
    }
    if (!config) {
        out.error(config.error());
        return exit_status(config.error());
    }
    for (const auto& warning : config->warnings) out.warn(warning);
    static Signals signals;  // its thread outlives this function
    Context context{out,
                    *config,
                    environment_variable,
                    home,
                    signals.token(),
                    command_line(argc, argv),
                    {argv, argv + argc},
                    positionals(*chosen->first, words)};
    auto status = chosen->second(context);
    // Each time there is one such file less.
    for (int left = kMostDamaged;
         !status && status.error().kind == ErrorKind::DamagedCache && left > 0;
         --left) {
        out.warn(status.error().message);
        status = chosen->second(context);
    }
    if (!status) {
        auto error = std::move(status).error();
        // The first is the command's own name.
        const bool has_argument = context.positionals.size() > 1;
        if (has_argument && chosen->first->get_subcommands().empty())
            error = with_near_verb(
                std::move(error), *chosen->first, context.arguments[context.positionals[1]]);
        out.error(error);
        return exit_status(error);
    }
    if (!out.stdout_is_well()) {
        if (!Output::stdout_reader_left())
            std::fputs("error: stdout: could not be written\n", stderr);
        return kFailed;
    }
    return *status;
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
