#pragma once

// Activation as data (CEP 32): which variables a shell must set and unset, which scripts it must
// source, in which order. shell.hpp turns that into text for one shell.
//
// Compatible with conda: CONDA_PREFIX, CONDA_DEFAULT_ENV, CONDA_SHLVL, CONDA_PREFIX_<n>,
// CONDA_STACKED_<n>, CONDA_PROMPT_MODIFIER. A variable that the environment sets over an existing
// one is kept as __CONDA_SHLVL_<n>_<NAME>, n being the level it had before, where conda and mamba
// keep it too: either tool can undo what the other did. __GPKG_VARS_<n> names, with ":" between,
// the variables that the environment at level n set, so that leaving undoes exactly these even
// when the environment has changed since. Where CONDA_SHLVL and its like exist although nothing is
// active, they are kept and given back in the same way. What activate.d scripts do is undone by
// deactivate.d scripts alone.
//
// PATH is changed, not given back: of what a user did to it in between, only the place of the
// environment's own folder is touched.

#include "libcore/base/env_lookup.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/fs/file.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpkg {

enum class Shell { Posix, Bash, Zsh, Fish, Tcsh, PowerShell };

/// "bash", "zsh", "fish", "tcsh", "csh", "powershell", "pwsh", "sh", "posix", "dash", "ash", "ksh".
std::optional<Shell> shell_of(std::string_view name);

/// What a shell does, in the order of the members.
struct Activation {
    std::vector<fs::path> deactivate_scripts{};  ///< of the environment that is left
    /// In order; nothing: unset.
    std::vector<std::pair<std::string, std::optional<std::string>>> variables{};
    std::vector<fs::path> activate_scripts{};
    std::vector<std::string> warnings{};  ///< variables that no shell could set
    /// PATH was not there: the shell may have one that it does not export, which stays behind it.
    bool adds_to_path = false;
};

struct ActivateOptions {
    bool stack = false;            ///< keep the active environment's programs on PATH
    EnvironmentFolders folders{};  ///< where environments have their names
    bool change_prompt = true;
};

/// Enters `prefix`. Re-enters it when it is the active one, and puts it first on PATH. NotFound
/// when it is no environment.
Result<Activation> activate(const fs::path& prefix,
                            const EnvLookup& env,
                            Shell shell,
                            const ActivateOptions& options);

/// Leaves the active environment and returns to the one it was entered from. Nothing to do when
/// none is active.
Result<Activation> deactivate(const EnvLookup& env, Shell shell, const ActivateOptions& options);

/// Leaves and enters the active environment, to see packages that came or went.
Result<Activation> reactivate(const EnvLookup& env, Shell shell, const ActivateOptions& options);

/// How to run a command inside an environment without a shell of the user's: the variables to set
/// and unset, and the command itself, behind a shell that sources activate.d/*.sh when there are
/// such scripts.
struct RunEnvironment {
    std::vector<std::pair<std::string, std::optional<std::string>>> variables;
    std::vector<std::string> command;
    std::vector<std::string> warnings;
};
Result<RunEnvironment> run_environment(const fs::path& prefix,
                                       const EnvLookup& env,
                                       const std::vector<std::string>& command,
                                       const ActivateOptions& options);

/// Refuses names that no shell has variables of, and those that activation sets itself.
Result<void> check_variable_name(std::string_view name);

/// Variables of etc/conda/env_vars.d/*.json in code point order, then of conda-meta/state. Nothing
/// for a name: activation unsets it.
struct EnvironmentVariables {
    std::map<std::string, std::optional<std::string>> values;
    std::vector<std::string> warnings;
};
Result<EnvironmentVariables> environment_variables(const fs::path& prefix);

}  // namespace gpkg
