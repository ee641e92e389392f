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

Result<std::string> hook_code(const Config& config, Shell shell) {
    GPKG_TRY(const auto program, own_program());
    auto code = shell_hook(shell, program);
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
