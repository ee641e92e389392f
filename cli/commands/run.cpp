#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/workflow/inside.hpp"
#include "libcore/base/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace gpkg::cli {
namespace {

struct RunOptions {
    TargetOptions target;
    std::string folder;
    std::vector<std::string> command;  ///< for --help alone: CLI11 takes brackets apart
    bool uncaptured = true;
};

Result<int> run(Context& context, const CLI::App& app, const RunOptions& options) {
    const auto command = words_behind_options(app, context.arguments);
    if (command.empty())
        return fail(ErrorKind::Usage, "no command was given", "gpkg run -n NAME python");
    GPKG_TRY(const auto prefix, existing_prefix(context, options.target));
    GPKG_CHECK(recover_for_use(context, prefix));
    const auto& target = options.target;
    const bool names_environment = target.name.empty() && target.prefix.empty() &&
                                   is_environment_name(context.config, command.front());
    return run_inside(context,
                      prefix,
                      command,
                      options.folder,
                      names_environment
                          ? fmt::format("did you mean -n {}?", shell_word(command.front()))
                          : fmt::format("to list installed packages: gpkg list {}",
                                        target_words(context, prefix)));
}

}  // namespace

Action bind_run(CLI::App& app) {
    const auto options = std::make_shared<RunOptions>();
    add_target_options(app, options->target);
    app.add_option("--cwd", options->folder, "folder to run the command in")->type_name("PATH");
    app.add_option("command", options->command, "command with its arguments")->type_name("COMMAND");
    // Everything behind the command's name is the command's, also what looks like our options.
    app.positionals_at_end();
    app.add_flag("--no-capture-output,--live-stream",
                 options->uncaptured,
                 "accepted for compatibility: output is never captured")
        ->group("");
    app.footer(
        "Runs a command in an environment, without activating it in a shell. Input, output, "
        "signals and the exit status are passed through. A program that the environment does not "
        "have is looked up in PATH; -v says so.\n"
        "\n"
        "  gpkg run -n ml python train.py\n"
        "  gpkg run -n ml python -c 'import torch'\n"
        "  gpkg run -n ml --cwd /data python train.py\n");

    return [options, &app](Context& context) { return run(context, app, *options); };
}

}  // namespace gpkg::cli
