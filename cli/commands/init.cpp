// gpkg init: the shell hook in a shell's startup file, and out of it again.

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/shells.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/shell.hpp"
#include "libcore/env/startup_file.hpp"
#include "libcore/fs/own_program.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>
#include <utility>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InitOptions {
    std::vector<std::string> shells;
    bool all = false;
    bool undo = false;
    bool dry_run = false;
    bool user = true;
};

struct PlannedEdit {
    Shell shell;
    StartupChange change;
};

fs::path folder_of(const Context& context, std::string_view variable, const fs::path& otherwise) {
    const auto value = context.env(variable).value_or("");
    return value.empty() ? otherwise : fs::path(value);
}

/// The files that the shell may read when a person starts it, the one that it reads now first.
std::vector<fs::path> startup_files(const Context& context, Shell shell) {
    const auto& home = context.home;
    const auto config = folder_of(context, "XDG_CONFIG_HOME", home / ".config");
    switch (shell) {
    case Shell::Posix: return {home / ".profile"};
    case Shell::Bash: return {home / ".bashrc"};
    case Shell::Zsh: return {folder_of(context, "ZDOTDIR", home) / ".zshrc"};
    case Shell::Fish: return {config / "fish/config.fish"};
    case Shell::Tcsh: {
        // tcsh reads .cshrc only where there is no .tcshrc: a new one would hide it.
        std::error_code code;
        if (fs::exists(home / ".cshrc", code) && !fs::exists(home / ".tcshrc", code))
            return {home / ".cshrc", home / ".tcshrc"};
        return {home / ".tcshrc", home / ".cshrc"};
    }
    case Shell::PowerShell: return {config / "powershell/profile.ps1"};
    }
    return {};
}

/// Sets GPKG_ROOT_PREFIX where nothing else does; empty for the default root prefix.
std::string root_prefix_line(const Config& config, Shell shell) {
    const auto& root = config.root_prefix.value;
    if (root == config.home / ".local/share/gpkg") return {};
    const auto quoted = shell_quoted(root.native(), shell);
    switch (shell) {
    case Shell::Posix:
    case Shell::Bash:
    case Shell::Zsh: break;
    case Shell::Fish:
        return fmt::format("    set -q GPKG_ROOT_PREFIX; or set -gx GPKG_ROOT_PREFIX {}\n", quoted);
    case Shell::Tcsh:
        return fmt::format("    if ( ! $?GPKG_ROOT_PREFIX ) setenv GPKG_ROOT_PREFIX {}\n", quoted);
    case Shell::PowerShell:
        return fmt::format("    if (-not $env:GPKG_ROOT_PREFIX) {{ $env:GPKG_ROOT_PREFIX = {} }}\n",
                           quoted);
    }
    return fmt::format("    [ -n \"${{GPKG_ROOT_PREFIX-}}\" ] || export GPKG_ROOT_PREFIX={}\n",
                       quoted);
}

/// Loads the hook. A gpkg that does not exist any more costs nothing.
std::string block_lines(const Config& config, Shell shell, const fs::path& program) {
    const auto quoted = shell_quoted(program.native(), shell);
    const auto root = root_prefix_line(config, shell);
    switch (shell) {
    case Shell::Posix:
    case Shell::Bash:
    case Shell::Zsh: break;
    case Shell::Fish:
        return fmt::format(
            "if test -x {0}\n{1}    {0} shell-hook -s fish | source\nend\n", quoted, root);
    case Shell::Tcsh:
        // csh reads .cshrc as well, and cannot run the hook.
        return fmt::format(
            "if ( $?tcsh && -x {0} ) then\n{1}    eval \"`{0} shell-hook -s tcsh`\"\nendif\n",
            quoted,
            root);
    case Shell::PowerShell:
        return fmt::format(
            "if (Test-Path -LiteralPath {0}) {{\n{1}"
            "    & {0} shell-hook -s powershell | Out-String | Invoke-Expression\n}}\n",
            quoted,
            root);
    }
    return fmt::format("if [ -x {0} ]; then\n{1}    eval \"$({0} shell-hook -s {2})\"\nfi\n",
                       quoted,
                       root,
                       shell_name(shell));
}

/// The shells of this machine: those in a folder of PATH.
std::vector<Shell> shells_on_path(const Context& context) {
    constexpr std::pair<std::string_view, Shell> kPrograms[] = {{"bash", Shell::Bash},
                                                                {"zsh", Shell::Zsh},
                                                                {"fish", Shell::Fish},
                                                                {"tcsh", Shell::Tcsh},
                                                                {"pwsh", Shell::PowerShell}};
    const auto path = context.env("PATH").value_or("");
    const auto folders = split(path, ':');
    std::vector<Shell> shells;
    for (const auto& [program, shell] : kPrograms) {
        const auto has_it = [&program = program](std::string_view folder) {
            return folder.starts_with('/') &&
                   ::access((fs::path(folder) / program).c_str(), X_OK) == 0;
        };
        if (std::ranges::any_of(folders, has_it)) shells.push_back(shell);
    }
    return shells;
}

Result<std::vector<Shell>> meant_shells(const Context& context, const InitOptions& options) {
    std::vector<Shell> shells;
    for (const auto& name : options.shells) {
        auto parsed = parse_shell(name);
        if (!parsed) {
            // pixi's "init PROJECT"
            parsed.error().hint +=
                "; for a project: write environment.yml, then gpkg sync -f environment.yml";
            return pass(std::move(parsed).error());
        }
        const auto shell = *parsed;
        if (std::find(shells.begin(), shells.end(), shell) == shells.end()) shells.push_back(shell);
    }
    if (!shells.empty()) return shells;
    if (options.all && !options.undo) {
        shells = shells_on_path(context);
        if (!shells.empty()) return shells;
    }
    if (options.undo)
        return std::vector{
            Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Tcsh, Shell::Posix, Shell::PowerShell};
    if (const auto shell = guess_shell(context.env)) return std::vector{*shell};
    return fail(ErrorKind::Usage, "cannot detect your shell", "name it: gpkg init bash");
}

/// What would be done to each file: nothing is written before all of it is known to be possible.
Result<std::vector<PlannedEdit>> plan(const Context& context, const InitOptions& options) {
    GPKG_TRY(const auto shells, meant_shells(context, options));
    GPKG_TRY(const auto program, own_program());
    std::vector<PlannedEdit> planned;
    for (const auto shell : shells) {
        const auto files = startup_files(context, shell);
        if (!options.undo) {
            GPKG_TRY(
                auto change,
                with_startup_block(files.front(), block_lines(context.config, shell, program)));
            planned.push_back({shell, std::move(change)});
            continue;
        }
        for (const auto& file : files) {
            GPKG_TRY(auto change, without_startup_block(file));
            if (!change.is_nothing() || !options.shells.empty())
                planned.push_back({shell, std::move(change)});
        }
    }
    for (const auto& [shell, change] : planned) {
        if (!change.is_nothing()) GPKG_CHECK(check_writable(change));
    }
    return planned;
}

std::string_view action(const StartupChange& change, bool undo) {
    if (change.is_nothing()) return "none";
    if (undo) return "remove";
    return change.renews ? "replace" : "add";
}

/// The folder of a configuration that only gpkg's file was in, such as ~/.config/fish, and
/// ~/.config if nothing else is in it.
void remove_empty_folder(const PlannedEdit& planned) {
    const bool has_folder = planned.shell == Shell::Fish || planned.shell == Shell::PowerShell;
    std::error_code ignored;
    if (!has_folder || planned.change.after) return;
    const auto folder = planned.change.target.parent_path();
    if (fs::remove(folder, ignored)) fs::remove(folder.parent_path(), ignored);
}

void tell(Output& out, const PlannedEdit& planned, const InitOptions& options) {
    const auto& change = planned.change;
    const auto name = change.file == change.target
                          ? change.file.native()
                          : fmt::format("{} ({})", change.file.native(), change.target.native());
    if (change.is_nothing()) {
        out.print(fmt::format(
            "{}: {}",
            name,
            options.undo ? "contains no gpkg block" : "already contains the gpkg block"));
    } else {
        const auto done = options.undo ? "removed" : "written";
        out.print(fmt::format("{}: block {}{}:", name, options.dry_run ? "would be " : "", done));
        for (const auto line : split(std::string_view(change.block), '\n')) {
            if (!line.empty()) out.print(fmt::format("  {} {}", options.undo ? '-' : '+', line));
        }
        if (!options.undo) {
            out.print(fmt::format("  to load it in an open shell: {}", hook_loader(planned.shell)));
            out.print("  to undo: gpkg init --undo");
        }
    }
    for (const auto& tool : change.others)
        out.note(fmt::format("note: {}: the block of {} is kept; to remove it: {} init --reverse",
                             change.file.native(),
                             tool,
                             tool));
}

Json json_of(const PlannedEdit& planned, bool undo) {
    const auto& change = planned.change;
    return {{"shell", shell_name(planned.shell)},
            {"path", change.file.native()},
            {"target", change.target.native()},
            {"action", action(change, undo)},
            {"block", change.block},
            {"other_blocks", change.others}};
}

Result<int> init(Context& context, const InitOptions& options) {
    GPKG_TRY(const auto planned, plan(context, options));
    auto files = Json::array();
    for (const auto& entry : planned) {
        if (!options.dry_run && !entry.change.is_nothing()) {
            GPKG_CHECK(carry_out(entry.change));
            remove_empty_folder(entry);
        }
        tell(context.out, entry, options);
        files.push_back(json_of(entry, options.undo));
    }
    if (context.out.json_mode()) {
        context.out.json(
            {{"success", true}, {"dry_run", options.dry_run}, {"files", std::move(files)}});
    } else if (planned.empty()) {
        context.out.print("no startup file contains a gpkg block");
    }
    return 0;
}

}  // namespace

Action bind_init(CLI::App& app) {
    const auto options = std::make_shared<InitOptions>();
    app.add_option("shells,-s,--shell",
                   options->shells,
                   "bash, zsh, fish, tcsh, posix or powershell (default: your shell)")
        ->type_name("SHELL");
    app.add_flag("--all", options->all, "change the startup files of all shells on this machine")
        ->excludes("shells");
    app.add_flag("--undo,--reverse", options->undo, "remove the block (default: for all shells)");
    app.add_flag("-d,--dry-run", options->dry_run, "show the changes without writing them");
    app.add_flag(
           "--user", options->user, "accepted for compatibility: only your own files are changed")
        ->group("");
    app.footer(
        "Adds a block to the startup file of your shell, so that `gpkg activate` and, in bash, "
        "zsh and fish, completion with Tab work in every new shell. The rest of the file is not "
        "changed; --undo removes the block. A "
        "GPKG_ROOT_PREFIX "
        "other than the default is kept in the block. `gpkg run` and `gpkg shell` work without "
        "it.\n"
        "\n"
        "  gpkg init --dry-run\n"
        "  gpkg init\n"
        "  gpkg init bash fish\n"
        "  gpkg init --all\n"
        "  gpkg init --undo\n");

    return [options](Context& context) { return init(context, *options); };
}

}  // namespace gpkg::cli
