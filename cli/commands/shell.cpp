// gpkg shell: the user's shell with an environment active in it. What the shell does at its start
// is done first, as ever; then it loads the hook and activates, so that nothing of the user's comes
// in the way, and leaving and entering work inside.

#include "libcore/env/shell.hpp"

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/shells.hpp"
#include "cli/workflow/inside.hpp"
#include "libcore/env/activation.hpp"

#include <CLI/CLI.hpp>
#include <cstring>
#include <fmt/format.h>
#include <memory>

namespace gpkg::cli {
namespace {

struct ShellOptions {
    TargetOptions target;
    std::string shell;
};

struct Start {
    std::vector<std::string> command;
    std::vector<std::pair<std::string, std::optional<std::string>>> variables{};
};

/// What the shell is to do when it is up.
struct Errand {
    Shell shell;
    std::string program;  ///< of the shell
    std::string code;     ///< the hook, and the activation
};

/// A folder of startup files, which the last of them takes away.
Result<TemporaryFolder> startup_folder() {
    std::error_code code;
    auto temporary = fs::temp_directory_path(code);
    if (code) temporary = "/tmp";
    return TemporaryFolder::make(temporary, "gpkg-shell-");
}

std::string remove_folder(const fs::path& folder) {
    return fmt::format("command rm -rf -- {}\n", shell_quoted(folder.native(), Shell::Posix));
}

Result<Start> start_bash(const Errand& errand) {
    GPKG_TRY(auto folder, startup_folder());
    const auto file = folder.path() / "rc";
    GPKG_CHECK(write_file_atomically(file,
                                     "if [ -r ~/.bashrc ]; then . ~/.bashrc; fi\n" +
                                         remove_folder(folder.path()) + errand.code));
    folder.release();
    return Start{{errand.program, "--rcfile", file.native(), "-i"}};
}

/// zsh takes its files from one folder, $ZDOTDIR; ours names the user's in turn.
Result<Start> start_zsh(const Context& context, const Errand& errand) {
    GPKG_TRY(auto folder, startup_folder());
    const auto users = context.env("ZDOTDIR");
    const auto ours = shell_quoted(folder.path().native(), Shell::Zsh);
    const std::string restored =
        users ? fmt::format("export ZDOTDIR={}\n", shell_quoted(*users, Shell::Zsh))
              : "unset ZDOTDIR\n";
    constexpr std::string_view kRead =
        "if [[ -r \"${{ZDOTDIR:-$HOME}}/{0}\" ]]; then . \"${{ZDOTDIR:-$HOME}}/{0}\"; fi\n";
    GPKG_CHECK(
        write_file_atomically(folder.path() / ".zshenv",
                              restored + fmt::format(kRead, ".zshenv") +
                                  fmt::format("__gpkg_zdotdir=${{ZDOTDIR-}}\nZDOTDIR={}\n", ours)));
    GPKG_CHECK(write_file_atomically(
        folder.path() / ".zshrc",
        restored + "if [[ -n $__gpkg_zdotdir ]]; then ZDOTDIR=$__gpkg_zdotdir; fi\n" +
            "unset __gpkg_zdotdir\n" + fmt::format(kRead, ".zshrc") + remove_folder(folder.path()) +
            errand.code));
    const auto path = folder.release();
    return Start{{errand.program, "-i"}, {{"ZDOTDIR", path.native()}}};
}

Result<Start> start_posix(const Context& context, const Errand& errand) {
    GPKG_TRY(auto folder, startup_folder());
    const auto users = context.env("ENV");
    const auto file = folder.path() / "rc";
    std::string restored = "unset ENV\n";
    if (users)
        restored = fmt::format("export ENV={}\nif [ -r \"$ENV\" ]; then . \"$ENV\"; fi\n",
                               shell_quoted(*users, Shell::Posix));
    GPKG_CHECK(write_file_atomically(file, restored + remove_folder(folder.path()) + errand.code));
    folder.release();
    return Start{{errand.program, "-i"}, {{"ENV", file.native()}}};
}

/// tcsh cannot be told to read more than its own file: one that activates becomes the user's.
Result<Start> start_tcsh(const Errand& errand) {
    GPKG_TRY(auto folder, startup_folder());
    const auto file = folder.path() / "start.csh";
    GPKG_CHECK(write_file_atomically(file,
                                     fmt::format("{}\\rm -rf {}\nexec {} -i\n",
                                                 errand.code,
                                                 shell_quoted(folder.path().native(), Shell::Tcsh),
                                                 shell_quoted(errand.program, Shell::Tcsh))));
    folder.release();
    return Start{{errand.program,
                  "-f",
                  "-c",
                  fmt::format("source {}", shell_quoted(file.native(), Shell::Tcsh))}};
}

Result<Start> start(const Context& context, const Errand& errand) {
    switch (errand.shell) {
    case Shell::Posix: return start_posix(context, errand);
    case Shell::Bash: return start_bash(errand);
    case Shell::Zsh: return start_zsh(context, errand);
    case Shell::Fish: return Start{{errand.program, "-i", "-C", errand.code}};
    case Shell::Tcsh: return start_tcsh(errand);
    case Shell::PowerShell: return Start{{errand.program, "-NoExit", "-Command", errand.code}};
    }
    return start_posix(context, errand);
}

/// $SHELL where it is this one; else what PATH has.
std::string program_of(const Context& context, Shell shell, const std::string& named) {
    auto users = context.env("SHELL").value_or("");
    const auto base = users.substr(users.rfind('/') + 1);
    if (shell_of(base) == shell && (named.empty() || named == base)) return users;
    if (shell == Shell::PowerShell) return "pwsh";
    if (shell == Shell::Posix) return named.empty() || named == "posix" ? "sh" : named;
    return std::string(shell_name(shell));
}

Result<int> enter(Context& context, const ShellOptions& options) {
    GPKG_TRY(const auto prefix, existing_prefix(context, options.target));
    GPKG_CHECK(recover_for_use(context, prefix));
    Errand errand;
    errand.shell = guess_shell(context.env).value_or(Shell::Posix);
    if (!options.shell.empty()) {
        GPKG_TRY(errand.shell, parse_shell(options.shell));
    }
    errand.program = program_of(context, errand.shell, options.shell);
    // What cannot be entered is better told before a shell is started.
    ActivateOptions how;
    how.folders = environment_folders(context.config);
    how.change_prompt = context.config.changeps1.value;
    if (auto tried = activate(prefix, context.env, errand.shell, how); !tried)
        return pass(tried.error());
    GPKG_TRY(errand.code, hook_code(context.config, errand.shell));
    errand.code +=
        fmt::format("gpkg activate -p {}\n", shell_quoted(prefix.native(), errand.shell));
    GPKG_TRY(const auto started, start(context, errand));
    GPKG_CHECK(change_environment(started.variables));
    const int code = become(started.command);
    return fail(ErrorKind::NotFound,
                fmt::format("cannot start {}: {}", errand.program, std::strerror(code)),
                "to use another shell: gpkg shell --shell NAME");
}

}  // namespace

Action bind_shell(CLI::App& app) {
    const auto options = std::make_shared<ShellOptions>();
    add_target_options(app, options->target);
    app.add_option("--shell",
                   options->shell,
                   "bash, zsh, fish, tcsh, powershell or sh (default: your shell)")
        ->type_name("SHELL");
    app.footer(
        "Starts your shell with an environment activated; `exit` leaves it. Neither the shell hook "
        "nor `gpkg init` is needed.\n"
        "\n"
        "  gpkg shell -n ml\n"
        "  gpkg shell -n ml --shell zsh\n");

    return [options](Context& context) { return enter(context, *options); };
}

}  // namespace gpkg::cli
