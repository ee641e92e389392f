#include "libcore/env/shell.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

std::string fish_variable(const std::string& name, const std::string& value) {
    if (name != "PATH")
        return fmt::format("set -gx {} {}\n", name, shell_quoted(value, Shell::Fish));
    std::string out = "set -gx PATH";
    for (const auto entry : split(value, ':')) {
        out += ' ';
        out += shell_quoted(entry, Shell::Fish);
    }
    out += '\n';
    return out;
}

std::string variable_command(const std::string& name,
                             const std::optional<std::string>& value,
                             Shell shell) {
    if (shell == Shell::Fish)
        return value ? fish_variable(name, *value) : fmt::format("set -e {}\n", name);
    if (!value) return fmt::format("unset {}\n", name);
    return fmt::format("export {}={}\n", name, shell_quoted(*value, shell));
}

/// The posix prompt is a variable that only the shell itself sees: the old modifier is cut off its
/// front, the new one put there.
constexpr std::string_view kPromptBefore =
    "if [ -n \"${PS1+x}\" ]; then PS1=\"${PS1#\"${CONDA_PROMPT_MODIFIER-}\"}\"; fi\n";
constexpr std::string_view kPromptAfter =
    "if [ -n \"${PS1+x}\" ]; then PS1=\"${CONDA_PROMPT_MODIFIER-}${PS1}\"; fi\n";

// clang-format off
constexpr std::string_view kPosixHook = R"sh(gpkg() {
    case "${1-}" in
        activate|deactivate|reactivate)
            local __gpkg_verb="$1" __gpkg_commands
            shift
            __gpkg_commands="$(command @PROGRAM@ "$__gpkg_verb" --shell @SHELL@ "$@")" || return $?
            eval "$__gpkg_commands"
            ;;
        install|update|upgrade|remove|uninstall|rollback)
            command @PROGRAM@ "$@" || return $?
            if [ -n "${CONDA_PREFIX-}" ]; then
                local __gpkg_commands
                __gpkg_commands="$(command @PROGRAM@ reactivate --shell @SHELL@)" || return $?
                eval "$__gpkg_commands"
            fi
            ;;
        *)
            command @PROGRAM@ "$@"
            ;;
    esac
}
)sh";

constexpr std::string_view kFishHook = R"sh(function gpkg
    switch "$argv[1]"
        case activate deactivate reactivate
            set -l __gpkg_commands (command @PROGRAM@ $argv[1] --shell fish $argv[2..-1])
            or return
            string join \n -- $__gpkg_commands | source
        case install update upgrade remove uninstall rollback
            command @PROGRAM@ $argv
            or return
            if set -q CONDA_PREFIX
                set -l __gpkg_commands (command @PROGRAM@ reactivate --shell fish)
                or return
                string join \n -- $__gpkg_commands | source
            end
        case '*'
            command @PROGRAM@ $argv
    end
end
if not functions -q __gpkg_fish_prompt
    if functions -q fish_prompt
        functions -c fish_prompt __gpkg_fish_prompt
    else
        function __gpkg_fish_prompt
        end
    end
    function fish_prompt
        set -l __gpkg_status $status
        if set -q CONDA_PROMPT_MODIFIER
            printf '%s' $CONDA_PROMPT_MODIFIER
        end
        sh -c "exit $__gpkg_status"
        __gpkg_fish_prompt
    end
end
)sh";
// clang-format on

std::string filled_in(std::string_view pattern, const fs::path& program, Shell shell) {
    const std::string_view name = shell == Shell::Zsh    ? "zsh"
                                  : shell == Shell::Bash ? "bash"
                                                         : "posix";
    std::string out;
    while (!pattern.empty()) {
        if (pattern.starts_with("@PROGRAM@")) {
            out += shell_quoted(program.native(), shell);
            pattern.remove_prefix(9);
        } else if (pattern.starts_with("@SHELL@")) {
            out += name;
            pattern.remove_prefix(7);
        } else {
            out += pattern.front();
            pattern.remove_prefix(1);
        }
    }
    return out;
}

}  // namespace

std::string shell_quoted(std::string_view text, Shell shell) {
    std::string out = "'";
    for (const char c : text) {
        if (shell == Shell::Fish) {
            if (c == '\'' || c == '\\') out += '\\';
            out += c;
        } else if (c == '\'') {
            out += "'\\''";
        } else {
            out += c;
        }
    }
    out += '\'';
    return out;
}

std::string shell_commands(const Activation& activation, Shell shell) {
    std::string out;
    const auto source = [&](const std::vector<fs::path>& files) {
        const std::string_view verb = shell == Shell::Fish ? "source" : ".";
        for (const auto& file : files)
            out += fmt::format("{} {}\n", verb, shell_quoted(file.native(), shell));
    };
    const auto changes = [&](std::string_view name) {
        return std::any_of(activation.variables.begin(),
                           activation.variables.end(),
                           [&](const auto& variable) { return variable.first == name; });
    };
    const bool prompt = shell != Shell::Fish && changes("CONDA_PROMPT_MODIFIER");
    source(activation.deactivate_scripts);
    if (prompt) out += kPromptBefore;
    for (const auto& [name, value] : activation.variables)
        out += variable_command(name, value, shell);
    if (prompt) out += kPromptAfter;
    // Shells remember where they found programs.
    if (shell != Shell::Fish && changes("PATH")) out += "hash -r\n";
    source(activation.activate_scripts);
    return out;
}

std::string shell_hook(Shell shell, const fs::path& program) {
    return filled_in(shell == Shell::Fish ? kFishHook : kPosixHook, program, shell);
}

}  // namespace gpkg
