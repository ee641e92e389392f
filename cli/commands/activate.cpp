// activate, deactivate and reactivate. A program cannot change the shell that started it: the hook
// that `gpkg shell-hook` prints calls these with --shell and evaluates what they answer.

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/shells.hpp"
#include "cli/workflow/change.hpp"
#include "libcore/env/activation.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/env/shell.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace gpkg::cli {
namespace {

enum class Verb { Activate, Deactivate, Reactivate };

struct ActivateVerbOptions {
    TargetOptions target;
    std::string environment;
    std::string shell;
    bool stack = false;
};

/// `environment` is as in "-n ml"; empty where none is to be activated.
tl::unexpected<Error> needs_hook(const Context& context,
                                 std::string_view verb,
                                 const std::string& environment) {
    const auto shell = guess_shell(context.env).value_or(Shell::Bash);
    auto hint = fmt::format(
        "load it in this shell:\n    {}\n  load it in every new shell (writes {}):\n    gpkg init "
        "{}",
        hook_loader(shell),
        startup_file(shell),
        shell_name(shell));
    if (!environment.empty())
        hint += fmt::format("\n  or use no hook:\n    gpkg shell {}", environment);
    return fail(ErrorKind::Usage,
                fmt::format("gpkg {} needs the shell hook, which is not loaded", verb),
                std::move(hint));
}

/// The words that conda takes: a name, or a path where there is a slash.
Result<fs::path> meant(const Context& context, const ActivateVerbOptions& options) {
    auto target = options.target;
    if (!options.environment.empty()) {
        if (!target.name.empty() || !target.prefix.empty())
            return fail(ErrorKind::Usage, "the environment is given twice");
        const bool is_path = options.environment.find('/') != std::string::npos;
        (is_path ? target.prefix : target.name) = options.environment;
    }
    if (target.name.empty() && target.prefix.empty()) {
        const auto& root = context.config.root_prefix.value;
        if (Prefix::is_environment(root)) return root;
        return fail(
            ErrorKind::Usage,
            "gpkg activate: missing argument: ENV",
            "name an environment: gpkg activate NAME; gpkg env list lists all environments");
    }
    return existing_prefix(context, target);
}

Result<int> change_shell(Context& context, const ActivateVerbOptions& options, Verb verb) {
    if (options.shell.empty()) {
        if (verb == Verb::Deactivate) return needs_hook(context, "deactivate", "");
        const bool is_named = !options.environment.empty() || !options.target.name.empty() ||
                              !options.target.prefix.empty();
        if (!is_named) return needs_hook(context, "activate", "-n NAME");
        GPKG_TRY(const auto prefix, meant(context, options));
        return needs_hook(context, "activate", target_words(context, prefix));
    }
    GPKG_TRY(const auto shell, parse_shell(options.shell));
    ActivateOptions how;
    how.stack = options.stack;
    how.folders = environment_folders(context.config);
    how.change_prompt = context.config.changeps1.value;
    Activation activation;
    if (verb == Verb::Activate) {
        GPKG_TRY(const auto prefix, meant(context, options));
        warn_if_moved(context, prefix);
        GPKG_TRY(activation, activate(prefix, context.env, shell, how));
    } else if (verb == Verb::Deactivate) {
        GPKG_TRY(activation, deactivate(context.env, shell, how));
    } else {
        GPKG_TRY(activation, reactivate(context.env, shell, how));
    }
    for (const auto& warning : activation.warnings) context.out.warn(warning);
    print_shell_code(context.out, shell_commands(activation, shell));
    return 0;
}

Action bind(CLI::App& app, Verb verb) {
    const auto options = std::make_shared<ActivateVerbOptions>();
    if (verb == Verb::Activate) {
        add_target_options(app, options->target);
        app.add_option("environment", options->environment, "name or path of the environment")
            ->type_name("NAME|PATH");
        app.add_flag("--stack", options->stack, "keep the active environment on PATH");
    }
    app.add_option("--shell",
                   options->shell,
                   "print commands for bash, zsh, fish, tcsh, powershell or posix")
        ->type_name("SHELL");
    return [options, verb](Context& context) { return change_shell(context, *options, verb); };
}

}  // namespace

Action bind_activate(CLI::App& app) {
    app.footer(
        "Activates an environment in the current shell. The shell must load the shell hook once: "
        "`gpkg init` does this for every new shell.\n"
        "\n"
        "  eval \"$(gpkg shell-hook -s bash)\"  # load the hook in this shell\n"
        "  gpkg activate ml\n");
    return bind(app, Verb::Activate);
}

Action bind_deactivate(CLI::App& app) {
    app.footer(
        "Deactivates the active environment and returns to the previously active one. Needs the "
        "shell hook.\n"
        "\n"
        "  gpkg deactivate\n");
    return bind(app, Verb::Deactivate);
}

Action bind_reactivate(CLI::App& app) { return bind(app, Verb::Reactivate); }

}  // namespace gpkg::cli
