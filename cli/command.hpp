#pragma once

// A command is a file in commands/: it declares its options to CLI11 and returns the action that
// uses them. The table in commands.cpp lists all commands by topic, in the order of --help.

#include "libcore/base/error.hpp"

#include <functional>
#include <span>
#include <string_view>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gpkg::cli {

struct Context;

/// Runs the command. The value is the exit status: 0 done, 1 a "no" from a checking verb; `run`
/// passes on its child's.
using Action = std::function<Result<int>(Context&)>;

/// Exit status of a command line that makes no sense.
inline constexpr int kWrongUsage = 2;
/// Of errors with --check, where 1 means a difference.
inline constexpr int kCannotCheck = 2;

/// The headings of `gpkg --help`.
enum class Topic { Environments, Packages, Hardware, Locks, Building, Clusters, Setup, Hidden };

/// "environments"; nothing for hidden commands.
std::string_view heading(Topic topic);

/// What a command does to environments, channels and settings. Successful commands that change
/// something are logged.
enum class Effect {
    Reads,
    Changes,
    ChangesAtomically,  ///< interrupted, it leaves everything unchanged
    RunsProgram,        ///< its exit status is the program's
};

struct Command {
    Topic topic;
    std::string_view name;
    std::string_view summary;  ///< one line for the list of commands
    Action (*bind)(CLI::App& app);
    Effect effect = Effect::Reads;        ///< of its subcommands too, unless they have their own
    bool works_without_settings = false;  ///< with invalid configuration files, the others count
};

/// All commands, those of one topic together.
std::span<const Command> commands();
/// The row of a command, or null.
const Command* find_command(std::string_view name);

/// Declares that a subcommand, or a command line with this option, has another effect than its
/// command in the table.
void set_effect(const CLI::App& subcommand, Effect effect);
void set_effect(const CLI::Option& option, Effect effect);
/// The effect of the parsed command line: of a given option with an effect, else of the innermost
/// subcommand with one, else of the command. `path` is the program and the named commands.
Effect effect_of(std::span<CLI::App* const> path);
inline bool changes_something(Effect effect) {
    return effect == Effect::Changes || effect == Effect::ChangesAtomically;
}

/// Another spelling of a command: the name that other tools use, or the one that gpkg used.
struct Alias {
    std::string_view name;
    std::string_view stands_for;  ///< one or more words: "closure why"
    bool is_listed = true;        ///< in help and suggestions
};

std::span<const Alias> aliases();

// One file each in commands/.
Action bind_build(CLI::App& app);
Action bind_build_plan_variants(CLI::App& app);
Action bind_create(CLI::App& app);
Action bind_index(CLI::App& app);
Action bind_inspect(CLI::App& app);
Action bind_keys(CLI::App& app);
Action bind_image(CLI::App& app);
Action bind_pack(CLI::App& app);
Action bind_deploy(CLI::App& app);
Action bind_mirror(CLI::App& app);
Action bind_module(CLI::App& app);
Action bind_notices(CLI::App& app);
Action bind_lint(CLI::App& app);
Action bind_redist(CLI::App& app);
Action bind_install(CLI::App& app);
Action bind_update(CLI::App& app);
Action bind_sync(CLI::App& app);
Action bind_remove(CLI::App& app);
Action bind_history(CLI::App& app);
Action bind_diff(CLI::App& app);
Action bind_rename(CLI::App& app);
Action bind_rollback(CLI::App& app);
Action bind_verify(CLI::App& app);
Action bind_repair(CLI::App& app);
Action bind_list(CLI::App& app);
Action bind_search(CLI::App& app);
Action bind_variants(CLI::App& app);
Action bind_solve(CLI::App& app);
Action bind_lock(CLI::App& app);
Action bind_reference(CLI::App& app);
Action bind_log(CLI::App& app);
Action bind_show(CLI::App& app);
Action bind_pin(CLI::App& app);
Action bind_unpin(CLI::App& app);
Action bind_pins(CLI::App& app);
Action bind_why(CLI::App& app);
Action bind_repoquery(CLI::App& app);
Action bind_why_not(CLI::App& app);
Action bind_closure(CLI::App& app);
Action bind_closure_why(CLI::App& app);
Action bind_info(CLI::App& app);
Action bind_hardware(CLI::App& app);
Action bind_doctor(CLI::App& app);
Action bind_env(CLI::App& app);
Action bind_env_create(CLI::App& app);
Action bind_env_remove(CLI::App& app);
Action bind_env_update(CLI::App& app);
Action bind_env_export(CLI::App& app);
Action bind_env_config(CLI::App& app);
Action bind_config(CLI::App& app);
Action bind_clean(CLI::App& app);
Action bind_run(CLI::App& app);
Action bind_shell(CLI::App& app);
Action bind_exec(CLI::App& app);
Action bind_init(CLI::App& app);
Action bind_activate(CLI::App& app);
Action bind_deactivate(CLI::App& app);
Action bind_reactivate(CLI::App& app);
Action bind_shell_hook(CLI::App& app);
Action bind_completion(CLI::App& app);
Action bind_complete(CLI::App& app);

}  // namespace gpkg::cli
