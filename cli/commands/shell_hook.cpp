#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/shells.hpp"
#include "libcore/env/activation.hpp"
#include "libcore/env/shell.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace gpkg::cli {
namespace {

struct ShellHookOptions {
    TargetOptions target;
    std::string shell;
};

Result<int> print_hook(Context& context, const ShellHookOptions& options) {
    Shell shell = Shell::Bash;
    if (!options.shell.empty()) {
        GPKG_TRY(shell, parse_shell(options.shell));
    } else if (const auto guess = guess_shell(context.env)) {
        shell = *guess;
    }
    if (options.target.name.empty() && options.target.prefix.empty()) {
        GPKG_TRY(const auto code, hook_code(context.config, shell));
        print_shell_code(context.out, code);
        return 0;
    }
    GPKG_TRY(const auto prefix, existing_prefix(context, options.target));
    GPKG_CHECK(recover_for_use(context, prefix));
    ActivateOptions how;
    how.folders = environment_folders(context.config);
    how.change_prompt = context.config.changeps1.value;
    GPKG_TRY(const auto activation, activate(prefix, context.env, shell, how));
    for (const auto& warning : activation.warnings) context.out.warn(warning);
    print_shell_code(context.out, shell_commands(activation, shell));
    return 0;
}

}  // namespace

Action bind_shell_hook(CLI::App& app) {
    const auto options = std::make_shared<ShellHookOptions>();
    add_target_options(app, options->target);
    app.add_option("shell,-s,--shell",
                   options->shell,
                   "bash, zsh, fish, tcsh, powershell or posix (default: your shell)")
        ->type_name("SHELL");
    app.footer(
        "Prints shell code to evaluate: the function that makes `gpkg activate` work or, with -n "
        "or -p, the activation of that environment.\n"
        "\n"
        "  eval \"$(gpkg shell-hook -s bash)\"\n"
        "  eval \"$(gpkg shell-hook -s bash -n ml)\"\n");

    return [options](Context& context) { return print_hook(context, *options); };
}

}  // namespace gpkg::cli
