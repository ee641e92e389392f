#include "cli/command.hpp"

namespace gpkg::cli {

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
    static constexpr Command kCommands[] = {
        {Environments, "create", "create an environment", bind_create},
        {Environments, "install", "add packages to an environment", bind_install},
        {Environments, "update", "update packages of an environment", bind_update},
        {Environments, "remove", "remove packages or a whole environment", bind_remove},
        {Environments,
         "sync",
         "make an environment match a lock file or environment.yml",
         bind_sync},
        {Environments, "list", "list the packages of an environment", bind_list},
        {Environments, "run", "run a command in an environment", bind_run},
        {Environments, "shell", "start a shell with an environment activated", bind_shell},
        {Environments, "exec", "run a tool in a temporary environment", bind_exec},
        {Environments, "activate", "activate an environment in this shell", bind_activate},
        {Environments, "deactivate", "deactivate the active environment", bind_deactivate},
        {Environments, "env", "list, create, update, export and remove environments", bind_env},
        {Environments, "export", "same as `gpkg env export`", bind_env_export},
        {Environments, "rename", "rename or move an environment", bind_rename},
        {Environments, "history", "list the changes of an environment", bind_history},
        {Environments, "diff", "compare generations, environments or lock files", bind_diff},
        {Environments, "rollback", "return an environment to an earlier generation", bind_rollback},
        {Environments, "pin", "keep a package at a version", bind_pin},
        {Environments, "unpin", "remove pins", bind_unpin},
        {Environments, "pins", "list pins", bind_pins},
        {Environments, "verify", "check installed files against their packages", bind_verify},
        {Environments, "repair", "restore damaged files of an environment", bind_repair},

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

        {Locks, "lock", "write, check and update lock files", bind_lock},

        {Building, "build", "build packages from recipes", bind_build},
        {Building, "inspect", "show the contents and needs of a package or binary", bind_inspect},
        {Building, "lint", "find dependencies that a smaller package could replace", bind_lint},
        {Building, "redist", "import NVIDIA's redistributable archives as recipes", bind_redist},
        {Building, "index", "write the repodata of a channel folder", bind_index},
        {Building, "keys", "create and show keys that sign channels", bind_keys},
        {Building, "mirror", "copy packages and indexes for offline use", bind_mirror},

        {Clusters, "module", "write modulefiles for Lmod and Environment Modules", bind_module},
        {Clusters, "image", "build and run environments as a single file", bind_image},
        {Clusters, "pack", "pack an environment into an archive", bind_pack},
        {Clusters, "deploy", "run jobs from the local disks of their nodes", bind_deploy},

        {Setup, "config", "show and change settings", bind_config},
        {Setup, "info", "show settings, paths and virtual packages", bind_info},
        {Setup, "log", "list the last commands and their errors", bind_log},
        {Setup, "init", "let shells load the activation hook, or undo it", bind_init},
        {Setup, "shell-hook", "print the activation hook of a shell", bind_shell_hook},
        {Setup, "completion", "print a shell completion script", bind_completion},
        {Setup, "clean", "free disk space", bind_clean},

        {Hidden, "reactivate", "", bind_reactivate},
        {Hidden, "__complete", "", bind_complete},
        {Hidden, "__reference", "", bind_reference},
    };
    return kCommands;
}

std::span<const Alias> aliases() {
    static constexpr Alias kAliases[] = {
        {"add", "install"},
        {"uninstall", "remove"},
        {"upgrade", "update"},
        {"tree", "repoquery tree"},
        {"plan-variants", "build plan-variants", false},
        {"why-closure", "closure why", false},
    };
    return kAliases;
}

}  // namespace gpkg::cli
