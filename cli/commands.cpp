#include "cli/command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

namespace gpkg::cli {
namespace {

/// Effects that the table does not have.
struct OwnEffects {
    std::map<const CLI::App*, Effect> subcommands;
    std::map<const CLI::Option*, Effect> options;
};

OwnEffects& own_effects() {
    static OwnEffects effects;
    return effects;
}

}  // namespace

std::string_view heading(Topic topic) {
    switch (topic) {
    case Topic::Environments: return "Environments";
    case Topic::Packages: return "Packages and solving";
    case Topic::Hardware: return "Hardware";
    case Topic::Locks: return "Lock files";
    case Topic::Building: return "Building and channels";
    case Topic::Clusters: return "Clusters";
    case Topic::Setup: return "Setup";
    case Topic::Hidden: break;
    }
    return "";
}

std::span<const Command> commands() {
    using enum Topic;
    using enum Effect;
    static constexpr Command kCommands[] = {
        {Environments, "create", "create an environment", bind_create, ChangesAtomically},
        {Environments,
         "install",
         "add packages to an environment",
         bind_install,
         ChangesAtomically},
        {Environments,
         "update",
         "update packages of an environment",
         bind_update,
         ChangesAtomically},
        {Environments,
         "remove",
         "remove packages or a whole environment",
         bind_remove,
         ChangesAtomically},
        {Environments,
         "sync",
         "make an environment match a lock file or environment.yml",
         bind_sync,
         ChangesAtomically},
        {Environments, "list", "list the packages of an environment", bind_list},
        {Environments, "run", "run a command in an environment", bind_run, RunsProgram},
        {Environments,
         "shell",
         "start a shell with an environment activated",
         bind_shell,
         RunsProgram},
        {Environments, "exec", "run a tool in a temporary environment", bind_exec, RunsProgram},
        {Environments, "activate", "activate an environment in this shell", bind_activate},
        {Environments,
         "deactivate",
         "deactivate the active environment",
         bind_deactivate,
         Reads,
         true},
        {Environments, "env", "list, create, update, export and remove environments", bind_env},
        {Environments, "export", "same as `gpkg env export`", bind_env_export},
        {Environments, "rename", "rename or move an environment", bind_rename, Changes},
        {Environments, "history", "list the changes of an environment", bind_history},
        {Environments, "diff", "compare generations, environments or lock files", bind_diff},
        {Environments,
         "rollback",
         "return an environment to an earlier generation",
         bind_rollback,
         ChangesAtomically},
        {Environments, "pin", "keep a package at a version", bind_pin, Changes},
        {Environments, "unpin", "remove pins", bind_unpin, Changes},
        {Environments, "pins", "list pins", bind_pins},
        {Environments, "verify", "check installed files against their packages", bind_verify},
        {Environments, "repair", "restore damaged files of an environment", bind_repair, Changes},

        {Packages, "search", "search the channels for packages", bind_search},
        {Packages, "show", "show the details of a package", bind_show},
        {Packages, "solve", "show what a request would install", bind_solve},
        {Packages, "why", "show why a package is installed", bind_why},
        {Packages, "why-not", "show what prevents a package or version", bind_why_not},
        {Packages, "repoquery", "query dependencies and dependents", bind_repoquery},
        {Packages, "closure", "show disk usage and the packages that cause it", bind_closure},
        {Packages, "notices", "show announcements of the channels", bind_notices},

        {Hardware, "hardware", "show this machine, or export it as a profile", bind_hardware},
        {Hardware, "variants", "list the builds of a package and which fit", bind_variants},
        {Hardware, "doctor", "check that an environment runs on this machine", bind_doctor},

        {Locks, "lock", "write, check and update lock files", bind_lock, Changes},

        {Building, "build", "build packages from recipes", bind_build, Changes},
        {Building, "inspect", "show the contents and needs of a package or binary", bind_inspect},
        {Building, "lint", "find dependencies that a smaller package could replace", bind_lint},
        {Building,
         "redist",
         "import NVIDIA's redistributable archives as recipes",
         bind_redist,
         Changes},
        {Building, "index", "write the repodata of a channel folder", bind_index, Changes},
        {Building, "keys", "create and show keys that sign channels", bind_keys, Changes},
        {Building, "mirror", "copy packages and indexes for offline use", bind_mirror, Changes},

        {Clusters,
         "module",
         "write modulefiles for Lmod and Environment Modules",
         bind_module,
         Changes},
        {Clusters, "image", "build and run environments as a single file", bind_image, Changes},
        {Clusters, "pack", "pack an environment into an archive", bind_pack, Changes},
        {Clusters, "deploy", "run jobs from the local disks of their nodes", bind_deploy, Changes},

        {Setup, "config", "show and change settings", bind_config, Reads, true},
        {Setup, "info", "show settings, paths and virtual packages", bind_info, Reads, true},
        {Setup, "log", "list the last commands and their errors", bind_log, Reads, true},
        {Setup, "init", "let shells load the activation hook, or undo it", bind_init, Changes},
        {Setup, "shell-hook", "print the activation hook of a shell", bind_shell_hook},
        {Setup, "completion", "print a shell completion script", bind_completion},
        {Setup, "clean", "free disk space", bind_clean, Changes},

        {Hidden, "reactivate", "", bind_reactivate},
        {Hidden, "__complete", "", bind_complete},
        {Hidden, "__reference", "", bind_reference},
    };
    return kCommands;
}

const Command* find_command(std::string_view name) {
    const auto found = std::ranges::find(commands(), name, &Command::name);
    return found == commands().end() ? nullptr : &*found;
}

void set_effect(const CLI::App& subcommand, Effect effect) {
    own_effects().subcommands[&subcommand] = effect;
}

void set_effect(const CLI::Option& option, Effect effect) {
    own_effects().options[&option] = effect;
}

Effect effect_of(std::span<CLI::App* const> path) {
    for (const auto& [option, effect] : own_effects().options) {
        if (option->count() > 0) return effect;
    }
    for (auto i = path.size(); i-- > 1;) {
        const auto own = own_effects().subcommands.find(path[i]);
        if (own != own_effects().subcommands.end()) return own->second;
    }
    const auto* command = path.size() > 1 ? find_command(path[1]->get_name()) : nullptr;
    return command == nullptr ? Effect::Reads : command->effect;
}

std::span<const Alias> aliases() {
    static constexpr Alias kAliases[] = {
        {"add", "install"},
        {"uninstall", "remove"},
        {"upgrade", "update"},
        {"tree", "repoquery tree"},
        {"compare", "diff", false},
        {"ls", "list", false},
        {"plan-variants", "build plan-variants", false},
        {"why-closure", "closure why", false},
    };
    return kAliases;
}

}  // namespace gpkg::cli
