#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/workflow/inside.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/activation.hpp"
#include "libcore/fs/file.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
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

/// Whether the command is a Python script in this folder.
bool is_script(const std::string& program) {
    std::error_code code;
    return program.ends_with(".py") && fs::is_regular_file(program, code);
}

/// "CUDA_VISIBLE_DEVICES=0"
bool is_variable(const std::string& word) {
    const auto equals = word.find('=');
    return equals != std::string::npos && check_variable_name(word.substr(0, equals));
}

// Arguments of the command may be secrets, and errors are logged: hints do not repeat them.

/// Of a command line that names no environment, or names it behind the command.
Error without_environment(Error error, const std::vector<std::string>& command) {
    const auto name = std::ranges::find(command, "-n");
    const auto option = name != command.end() ? name : std::ranges::find(command, "-p");
    if (option != command.end() && option + 1 < command.end())
        error.hint = fmt::format("put {0} {1} before the command: gpkg run {0} {1} COMMAND",
                                 *option,
                                 shell_word(*(option + 1)));
    else if (is_script(command.front()))
        error.hint += fmt::format("; to run {0} without an environment: gpkg exec {0}",
                                  shell_word(command.front()));
    return error;
}

/// Of a command that is not found: it may be meant for a shell or for python.
std::string hint_for_unfound(const std::vector<std::string>& command, const std::string& target) {
    const auto& program = command.front();
    if (is_script(program))
        return fmt::format("to run it: gpkg run {} python {}", target, shell_word(program));
    if (is_variable(program))
        return fmt::format("to set a variable: gpkg run {} env NAME=VALUE COMMAND", target);
    if (command.size() == 1 && program.find(' ') != std::string::npos)
        return fmt::format("to run a command line: gpkg run {} sh -c 'COMMANDS'", target);
    return "to list installed packages: gpkg list " + target;
}

Result<int> run(Context& context, const CLI::App& app, const RunOptions& options) {
    const auto command = words_behind_options(app, context.arguments);
    auto found = existing_prefix(context, options.target);
    if (!found && found.error().kind == ErrorKind::Usage)
        return pass(without_environment(std::move(found).error(), command));
    GPKG_TRY(const auto prefix, std::move(found));
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
                          : hint_for_unfound(command, target_words(context, prefix)));
}

}  // namespace

Action bind_run(CLI::App& app) {
    const auto options = std::make_shared<RunOptions>();
    add_target_options(app, options->target);
    app.add_option("--cwd", options->folder, "folder to run the command in")->type_name("PATH");
    app.add_option("command", options->command, "command with its arguments")
        ->required()
        ->type_name("COMMAND");
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
