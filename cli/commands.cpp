#include "cli/command.hpp"

namespace gpkg::cli {

std::span<const Command> commands() {
    static constexpr Command kCommands[] = {
        {"create", "make a new environment with the packages asked for", bind_create},
        {"install", "add packages to an environment", bind_install},
        {"update", "bring packages of an environment to their newest fitting builds", bind_update},
        {"remove", "take packages, or a whole environment, away", bind_remove},
        {"rename", "give an environment another name or place", bind_rename},
        {"history", "show what an environment was after each change", bind_history},
        {"diff", "show what differs between two generations of an environment", bind_diff},
        {"rollback", "bring an environment back to what it was", bind_rollback},
        {"verify", "tell which files are not what their packages promised", bind_verify},
        {"repair", "bring an environment, or the store, in order again", bind_repair},
        {"list", "show what is installed in an environment", bind_list},
        {"solve", "show what would be installed, without an environment", bind_solve},
        {"lock", "write down exact packages for one or more kinds of machines", bind_lock},
        {"why", "show what brought an installed package", bind_why},
        {"why-not", "show what keeps a package or a version out", bind_why_not},
        {"closure",
         "show what an environment or a request weighs, and what brings it",
         bind_closure},
        {"why-closure",
         "show by which ways a package is there, and what each costs",
         bind_why_closure},
        {"search", "look for packages in the channels", bind_search},
        {"variants", "show the builds of a package, and which of them fit", bind_variants},
        {"repoquery", "ask channels or an environment who needs whom", bind_repoquery},
        {"info", "show settings, places and the machine as the solver sees it", bind_info},
        {"hardware", "show what this machine is", bind_hardware},
        {"doctor", "tell whether an environment runs on this machine", bind_doctor},
        {"env", "environments as a whole: list, create, update, export", bind_env},
        {"export", "the same as env export", bind_env_export},
        {"config", "read and change settings", bind_config},
        {"clean", "free disk space", bind_clean},
        {"run", "run a command inside an environment", bind_run},
        {"shell", "start a shell with an environment active in it", bind_shell},
        {"exec", "run a tool that no environment needs to have", bind_exec},
        {"activate", "enter an environment in this shell", bind_activate},
        {"deactivate", "leave the active environment", bind_deactivate},
        {"init", "make a shell's startup file load the hook, or undo that", bind_init},
        {"shell-hook", "print code that lets a shell activate environments", bind_shell_hook},
        {"completion", "print a script that completes gpkg's words in a shell", bind_completion},
        {"build", "build packages from recipes into a channel", bind_build},
        {"plan-variants", "find the fewest builds that serve given GPUs", bind_plan_variants},
        {"keys", "make and show the keys that sign channels", bind_keys},
        {"inspect", "show what a package, a program or a library holds and needs", bind_inspect},
        {"lint", "find dependencies of packages that fewer bytes would do for", bind_lint},
        {"redist", "recipes for NVIDIA's redistributable archives", bind_redist},
        {"index", "write the index of a channel's folder", bind_index},
        {"reactivate", "", bind_reactivate},
        {"__complete", "", bind_complete},
    };
    return kCommands;
}

}  // namespace gpkg::cli
