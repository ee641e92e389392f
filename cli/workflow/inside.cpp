#include "cli/workflow/inside.hpp"

#include "cli/environments.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/activation.hpp"
#include "libcore/env/prefix.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

namespace gpkg::cli {
namespace {

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

/// Reports why the system cannot start the command.
int tell_why(Context& context,
             int code,
             const fs::path& prefix,
             const fs::path& file,
             const std::string& name,
             const std::string& hint) {
    std::error_code ignored;
    if (code == ENOENT && file.has_parent_path() && fs::exists(file, ignored)) {
        context.out.error(
            {ErrorKind::Io,
             fmt::format("{}: its interpreter (#! line) or loader does not exist", file.native()),
             {},
             {}});
        return kCannotExecute;
    }
    const bool absent = code == ENOENT;
    const bool is_path = name.find('/') != std::string::npos;
    const bool is_word = !is_path && name.find_first_of(" =") == std::string::npos;
    const auto near = is_word ? near_files(prefix / "bin" / name) : std::vector<std::string>();
    context.out.error(
        {absent ? ErrorKind::NotFound : ErrorKind::Io,
         fmt::format("{}: {}", name, absent ? "command not found" : std::strerror(code)),
         absent ? did_you_mean(near, hint) : "",
         {}});
    return absent ? kNotFound : kCannotExecute;
}

}  // namespace

std::vector<std::string> words_behind_options(const CLI::App& app,
                                              const std::vector<std::string>& words) {
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

Result<void> change_environment(
    const std::vector<std::pair<std::string, std::optional<std::string>>>& variables) {
    for (const auto& [name, value] : variables) {
        const int code =
            value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
        if (code != 0)
            return fail(
                ErrorKind::Io,
                fmt::format("cannot set environment variable {}: {}", name, std::strerror(errno)));
    }
    return {};
}

namespace {

sigset_t blocked_at_start{};
bool ignored_pipes_at_start = false;

}  // namespace

void remember_signals() {
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked_at_start);
    struct sigaction pipes {};
    ::sigaction(SIGPIPE, nullptr, &pipes);
    ignored_pipes_at_start = pipes.sa_handler == SIG_IGN;
}

int become(const std::vector<std::string>& command) { return become(command.front(), command); }

int become(const fs::path& program, const std::vector<std::string>& command) {
    std::vector<char*> words;
    words.reserve(command.size() + 1);
    for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    if (!ignored_pipes_at_start) std::signal(SIGPIPE, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &blocked_at_start, nullptr);
    ::execvp(program.c_str(), words.data());
    return errno;
}

Result<int> run_inside(Context& context,
                       const fs::path& prefix,
                       const std::vector<std::string>& command,
                       const std::string& folder,
                       const std::string& hint) {
    ActivateOptions how;
    how.folders = environment_folders(context.config);
    how.change_prompt = false;
    GPKG_TRY(const auto environment, run_environment(prefix, context.env, command, how));
    for (const auto& warning : environment.warnings) context.out.warn(warning);
    if (!folder.empty()) {
        const auto path = absolute_path(folder, context.home);
        if (::chdir(path.c_str()) != 0)
            return fail(
                ErrorKind::Io,
                fmt::format(
                    "{}: cannot change to this folder: {}", path.native(), std::strerror(errno)));
    }
    GPKG_CHECK(change_environment(environment.variables));
    GPKG_CHECK(check_stop(context));
    context.out.show_deferred();
    // A search of PATH goes on to other folders where the environment's program has no interpreter.
    const bool is_name = command.front().find('/') == std::string::npos;
    const auto own = prefix / "bin" / command.front();
    std::error_code code_of_link;
    const bool is_file =
        is_name && !command.front().empty() && fs::is_regular_file(own, code_of_link);
    const bool has_own = is_file && ::access(own.c_str(), X_OK) == 0;
    // PATH would have another program of this name.
    if (is_file && !has_own) {
        context.out.error(
            {ErrorKind::Io,
             fmt::format("{}: the file is not executable", own.native()),
             fmt::format("to restore it: gpkg repair {}", target_words(context, prefix)),
             {}});
        return kCannotExecute;
    }
    if (is_name && fs::is_symlink(own, code_of_link) && !fs::exists(own, code_of_link))
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: its target {} does not exist",
                                own.native(),
                                fs::read_symlink(own, code_of_link).native()),
                    fmt::format("to restore it: gpkg repair {}", target_words(context, prefix)));
    if (is_name && !has_own && context.out.verbose())
        context.out.note(
            fmt::format("{} is not in the environment; looking it up in PATH", command.front()));
    const bool starts_shell = environment.command.front() != command.front();
    const auto program = has_own && !starts_shell ? own : fs::path(environment.command.front());
    const int code = become(program, environment.command);
    return tell_why(context, code, prefix, has_own ? own : program, command.front(), hint);
}

}  // namespace gpkg::cli
