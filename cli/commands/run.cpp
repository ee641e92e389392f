#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "libcore/env/activation.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <pthread.h>
#include <unistd.h>

namespace gpkg::cli {
namespace {

// What shells and env(1) answer with when the command itself cannot be started.
constexpr int kCannotExecute = 126;
constexpr int kNotFound = 127;

struct Options {
    TargetOptions target;
    std::string folder;
    std::vector<std::string> command;  ///< for --help alone: CLI11 takes brackets apart
    bool uncaptured = true;
};

bool takes_value(const CLI::Option* option) {
    return option != nullptr && option->get_items_expected_max() > 0;
}

/// How many words the option at the front of a command line is: itself, perhaps its value.
std::size_t option_length(const CLI::App& app, const std::string& word) {
    if (word.starts_with("--")) {
        if (word.find('=') != std::string::npos) return 1;
        return takes_value(app.get_option_no_throw(word)) ? 2 : 1;
    }
    for (std::size_t i = 1; i < word.size(); ++i) {
        if (takes_value(app.get_option_no_throw(fmt::format("-{}", word[i]))))
            return i + 1 == word.size() ? 2 : 1;
    }
    return 1;
}

/// The words behind the options of `run`, exactly as they were typed.
std::vector<std::string> child_command(const CLI::App& app, const std::vector<std::string>& words) {
    auto at = static_cast<std::size_t>(std::find(words.begin(), words.end(), app.get_name()) -
                                       words.begin());
    for (++at; at < words.size(); at += option_length(app, words[at])) {
        const auto& word = words[at];
        if (word == "--") {
            ++at;
            break;
        }
        if (!word.starts_with('-') || word == "-") break;
    }
    if (at >= words.size()) return {};
    return {words.begin() + static_cast<std::ptrdiff_t>(at), words.end()};
}

Result<void> apply(const RunEnvironment& environment) {
    for (const auto& [name, value] : environment.variables) {
        const int code =
            value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
        if (code != 0)
            return fail(ErrorKind::Io,
                        fmt::format("{}: cannot be set: {}", name, std::strerror(errno)));
    }
    return {};
}

/// This process becomes the command: signals, exit status and terminal are the command's own.
/// Returns only when that fails, with the reason.
int become(const std::vector<std::string>& command) {
    std::vector<char*> words;
    words.reserve(command.size() + 1);
    for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    std::signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    ::execvp(words.front(), words.data());
    return errno;
}

Result<int> run(Context& context, const CLI::App& app, const Options& options) {
    const auto command = child_command(app, context.arguments);
    if (command.empty())
        return fail(ErrorKind::Usage, "no command to run was given", "gpkg run -n NAME python");
    GPKG_TRY(const auto prefix, existing_prefix(context, options.target));
    GPKG_CHECK(recover_for_use(context, prefix));
    ActivateOptions how;
    how.root_prefix = context.config.root_prefix.value;
    how.change_prompt = false;
    GPKG_TRY(const auto environment, run_environment(prefix, context.env, command, how));
    for (const auto& warning : environment.warnings) context.out.warn(warning);
    if (!options.folder.empty()) {
        const auto folder = absolute_path(options.folder, context.home);
        if (::chdir(folder.c_str()) != 0)
            return fail(ErrorKind::Io,
                        fmt::format("{}: cannot enter: {}", folder.native(), std::strerror(errno)));
    }
    GPKG_CHECK(apply(environment));
    GPKG_CHECK(check_stop(context));
    const int code = become(environment.command);
    const auto file = fs::path(environment.command.front());
    std::error_code ignored;
    if (code == ENOENT && file.has_parent_path() && fs::exists(file, ignored)) {
        context.out.error({ErrorKind::Io,
                           fmt::format("{}: the interpreter that its first line names, or its "
                                       "loader, does not exist",
                                       file.native()),
                           {},
                           {}});
        return kCannotExecute;
    }
    const bool absent = code == ENOENT;
    context.out.error(
        {absent ? ErrorKind::NotFound : ErrorKind::Io,
         fmt::format("{}: {}", command.front(), absent ? "command not found" : std::strerror(code)),
         absent ? fmt::format("is its package installed? gpkg list -p {}", prefix.native()) : "",
         {}});
    return absent ? kNotFound : kCannotExecute;
}

}  // namespace

Action bind_run(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_target_options(app, options->target);
    app.add_option("--cwd", options->folder, "the folder to run it in")->type_name("PATH");
    app.add_option("command", options->command, "the command and its own options")
        ->type_name("COMMAND");
    // Everything behind the command's name is the command's, also what looks like our options.
    app.positionals_at_end();
    app.add_flag("--no-capture-output,--live-stream",
                 options->uncaptured,
                 "accepted: output is never captured")
        ->group("");
    app.footer(
        "Runs a command inside an environment, without a shell. Input, output, signals and the "
        "exit status are the command's.\n"
        "  gpkg run -n ml python -c 'import torch'\n"
        "  gpkg run -n ml -- nvcc --version");

    return [options, &app](Context& context) { return run(context, app, *options); };
}

}  // namespace gpkg::cli
