#include "cli/shells.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/shell.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/fs/own_program.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <system_error>
#include <unistd.h>

namespace gpkg::cli {
namespace {

constexpr std::string_view kBash = R"(_gpkg_complete() {
    local IFS=$'\n' lines
    lines=($(command @PROGRAM@ __complete -- "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null))
    if [ "${lines[0]-}" = "@files" ]; then
        compopt -o filenames 2>/dev/null
        COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
    else
        COMPREPLY=($(compgen -W "${lines[*]}" -- "${COMP_WORDS[COMP_CWORD]}"))
    fi
}
complete -F _gpkg_complete gpkg)";

constexpr std::string_view kZsh = R"(#compdef gpkg
_gpkg() {
    local -a lines
    lines=("${(@f)$(command @PROGRAM@ __complete -- "${(@)words[1,CURRENT]}" 2>/dev/null)}")
    if [[ "${lines[1]}" == "@files" ]]; then
        _files
    else
        compadd -- "${(@)lines:#}"
    fi
}
if [[ "${funcstack[1]}" == "_gpkg" ]]; then
    _gpkg "$@"
elif (( $+functions[compdef] )); then
    compdef _gpkg gpkg
fi)";

constexpr std::string_view kFish = R"(function __gpkg_complete
    command -q @PROGRAM@; or return
    set -l words (commandline -opc) (commandline -ct)
    set -l lines (command @PROGRAM@ __complete -- $words 2>/dev/null)
    if test "$lines[1]" = "@files"
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $lines
    end
end
complete -c gpkg -f -a '(__gpkg_complete)')";

}  // namespace

Result<Shell> parse_shell(std::string_view name) {
    if (const auto shell = shell_of(name)) return *shell;
    return fail(ErrorKind::Usage,
                fmt::format("unknown shell '{}'", name),
                "use bash, zsh, fish, tcsh, powershell or posix");
}

std::optional<Shell> guess_shell(const EnvLookup& env) {
    // A login shell calls itself "-bash".
    const auto of = [](std::string_view name) {
        name = name.substr(name.rfind('/') + 1);
        if (name.starts_with('-')) name.remove_prefix(1);
        return shell_of(trim(name));
    };
    if (const auto parent = read_file(fmt::format("/proc/{}/comm", ::getppid()))) {
        if (const auto shell = of(*parent)) return shell;
    }
    return of(env("SHELL").value_or(""));
}

std::string_view startup_file(Shell shell) {
    switch (shell) {
    case Shell::Posix: return "~/.profile";
    case Shell::Bash: return "~/.bashrc";
    case Shell::Zsh: return "~/.zshrc";
    case Shell::Fish: return "~/.config/fish/config.fish";
    case Shell::Tcsh: return "~/.tcshrc";
    case Shell::PowerShell: return "the file in $PROFILE";
    }
    return "~/.profile";
}

std::string_view hook_loader(Shell shell) {
    switch (shell) {
    case Shell::Posix: return "eval \"$(gpkg shell-hook -s posix)\"";
    case Shell::Bash: return "eval \"$(gpkg shell-hook -s bash)\"";
    case Shell::Zsh: return "eval \"$(gpkg shell-hook -s zsh)\"";
    case Shell::Fish: return "gpkg shell-hook -s fish | source";
    case Shell::Tcsh: return "eval \"`gpkg shell-hook -s tcsh`\"";
    case Shell::PowerShell: return "gpkg shell-hook -s powershell | Out-String | Invoke-Expression";
    }
    return "";
}

std::string completion_script(Shell shell, std::string_view program) {
    std::string_view script;
    switch (shell) {
    case Shell::Bash: script = kBash; break;
    case Shell::Zsh: script = kZsh; break;
    case Shell::Fish: script = kFish; break;
    case Shell::Tcsh:
    case Shell::PowerShell:
    case Shell::Posix: break;
    }
    return replace_all(script, "@PROGRAM@", program);
}

Result<std::string> hook_code(const Config& config, Shell shell) {
    GPKG_TRY(const auto program, own_program());
    auto code = shell_hook(shell, program);
    code += completion_script(shell, shell_quoted(program.native(), shell)) + "\n";
    if (shell != Shell::Tcsh) return code;
    // Of each gpkg its own: several may share the folder.
    const auto file =
        config.own_dir / "shell" / (hex_digest(DigestKind::Sha256, code).substr(0, 16) + ".csh");
    if (const auto there = read_file(file); !there || *there != code)
        GPKG_CHECK(write_file_atomically(file, code));
    return tcsh_alias(file);
}

void print_shell_code(Output& out, std::string_view code) {
    if (out.json_mode()) {
        out.json({{"success", true}, {"code", code}});
        return;
    }
    while (code.ends_with('\n')) code.remove_suffix(1);
    if (!code.empty()) out.verbatim(code);
}

}  // namespace gpkg::cli
