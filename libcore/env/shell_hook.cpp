// The hook of each shell: a function `gpkg` around the program.

#include "libcore/env/shell.hpp"

#include <fmt/format.h>

namespace gpkg {
namespace {

// clang-format off
constexpr std::string_view kPosix = R"sh(gpkg() {
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

constexpr std::string_view kFish = R"sh(function gpkg
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
function __gpkg_status
    return $argv[1]
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
        __gpkg_status $__gpkg_status
        __gpkg_fish_prompt
    end
end
)sh";

// The alias passes a word of its own first: a script that is sourced without any has those of
// whoever sources it. What stands in backquotes is read as text once its variables are filled in:
// @ASK@ is a command in a variable, so that only then its own variables are seen. breaksw and endif end with status 0, so that the last line gives the status.
constexpr std::string_view kTcsh = R"sh(set __gpkg_nl = '\
'
if ( $#argv == 1 ) then
    @PROGRAM@
    set __gpkg_status = $status
else
    switch ( $argv[2]:q )
        case activate:
        case deactivate:
        case reactivate:
            set __gpkg_code = @ASK@
            set __gpkg_code = "`$__gpkg_code`"
            set __gpkg_status = $status
            if ( $__gpkg_status == 0 ) eval $__gpkg_code:q
            breaksw
        case install:
        case update:
        case upgrade:
        case remove:
        case uninstall:
        case rollback:
            @PROGRAM@ $argv[2-]:q
            set __gpkg_status = $status
            if ( $__gpkg_status == 0 && $?CONDA_PREFIX ) then
                gpkg reactivate
                set __gpkg_status = $status
            endif
            breaksw
        default:
            @PROGRAM@ $argv[2-]:q
            set __gpkg_status = $status
            breaksw
    endsw
endif
eval "unset __gpkg_code __gpkg_nl __gpkg_status; set status = $__gpkg_status"
)sh";

constexpr std::string_view kPowerShell = R"sh(function global:gpkg {
    $verb = ''
    if ($args.Count -gt 0) { $verb = [string]$args[0] }
    $rest = @($args | Select-Object -Skip 1)
    $code = ''
    if ($verb -in 'activate', 'deactivate', 'reactivate') {
        $code = & @PROGRAM@ $verb --shell powershell @rest | Out-String
    } else {
        & @PROGRAM@ @args
        $changes = $verb -in 'install', 'update', 'upgrade', 'remove', 'uninstall', 'rollback'
        if ($LASTEXITCODE -eq 0 -and $changes -and $Env:CONDA_PREFIX) {
            $code = & @PROGRAM@ reactivate --shell powershell | Out-String
        }
    }
    if ($LASTEXITCODE -eq 0 -and $code) { Invoke-Expression -Command $code }
}
if (-not (Test-Path Function:__gpkg_prompt)) {
    Copy-Item Function:prompt Function:global:__gpkg_prompt
    function global:prompt { "$Env:CONDA_PROMPT_MODIFIER$(__gpkg_prompt)" }
}
)sh";
// clang-format on

std::string_view pattern(Shell shell) {
    switch (shell) {
    case Shell::Posix:
    case Shell::Bash:
    case Shell::Zsh: break;
    case Shell::Fish: return kFish;
    case Shell::Tcsh: return kTcsh;
    case Shell::PowerShell: return kPowerShell;
    }
    return kPosix;
}

}  // namespace

std::string_view shell_name(Shell shell) {
    switch (shell) {
    case Shell::Posix: return "posix";
    case Shell::Bash: return "bash";
    case Shell::Zsh: return "zsh";
    case Shell::Fish: return "fish";
    case Shell::Tcsh: return "tcsh";
    case Shell::PowerShell: return "powershell";
    }
    return "posix";
}

std::string shell_hook(Shell shell, const fs::path& program) {
    std::string out;
    for (auto rest = pattern(shell); !rest.empty();) {
        if (rest.starts_with("@PROGRAM@")) {
            out += shell_quoted(program.native(), shell);
            rest.remove_prefix(9);
        } else if (rest.starts_with("@SHELL@")) {
            out += shell_name(shell);
            rest.remove_prefix(7);
        } else if (rest.starts_with("@ASK@")) {
            out += shell_quoted(
                shell_quoted(program.native(), shell) + " $argv[2]:q --shell tcsh $argv[3-]:q",
                shell);
            rest.remove_prefix(5);
        } else {
            out += rest.front();
            rest.remove_prefix(1);
        }
    }
    return out;
}

std::string tcsh_alias(const fs::path& script) {
    // Quoted for the alias, and once more for when the alias is used.
    const auto command = fmt::format("source {} gpkg ", shell_quoted(script.native(), Shell::Tcsh));
    auto quoted = shell_quoted(command, Shell::Tcsh);
    quoted.insert(quoted.size() - 1, "\\!*");
    return fmt::format("alias gpkg {};\n", quoted);
}

}  // namespace gpkg
