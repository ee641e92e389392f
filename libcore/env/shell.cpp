#include "libcore/env/shell.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

/// What stands in a quoted word for the character that `rest` begins with, and for PowerShell
/// before it; nothing for most.
std::string_view replacement(std::string_view rest, Shell shell) {
    const char c = rest.front();
    switch (shell) {
    case Shell::Posix:
    case Shell::Bash:
    case Shell::Zsh:
        if (c == '\'') return "'\\''";
        break;
    case Shell::Fish:
        if (c == '\'') return "\\'";
        if (c == '\\') return "\\\\";
        break;
    case Shell::Tcsh:
        // Inside quotes history and, with backslash_quote, backslashes still count: these stand
        // outside. Line breaks are lost on the way through backquotes: a variable has one.
        if (c == '\'') return "'\\''";
        if (c == '!') return "'\\!'";
        if (c == '\\') return "'\\\\'";
        if (c == '\n') return "'$__gpkg_nl:q'";
        break;
    case Shell::PowerShell:
        if (c == '\'') return "'";
        // U+2018 to U+201B are quotes to it as well.
        for (const std::string_view quote :
             {"\xE2\x80\x98", "\xE2\x80\x99", "\xE2\x80\x9A", "\xE2\x80\x9B"}) {
            if (rest.starts_with(quote)) return quote;
        }
        return {};
    }
    return {};
}

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

std::string set_command(const std::string& name, const std::string& value, Shell shell) {
    const auto quoted = shell_quoted(value, shell);
    switch (shell) {
    case Shell::Posix:
    case Shell::Bash:
    case Shell::Zsh: break;
    case Shell::Fish: return fish_variable(name, value);
    case Shell::Tcsh: return fmt::format("setenv {} {};\n", name, quoted);
    case Shell::PowerShell: return fmt::format("$Env:{} = {}\n", name, quoted);
    }
    return fmt::format("export {}={}\n", name, quoted);
}

/// Other shells export PATH in any case.
std::string add_to_path_command(const std::string& entries, Shell shell) {
    if (shell != Shell::Posix && shell != Shell::Bash && shell != Shell::Zsh)
        return set_command("PATH", entries, shell);
    return fmt::format("export PATH={}\"${{PATH:+:${{PATH}}}}\"\n", shell_quoted(entries, shell));
}

std::string unset_command(const std::string& name, Shell shell) {
    switch (shell) {
    case Shell::Posix:
    case Shell::Bash:
    case Shell::Zsh: break;
    // A universal variable is the user's for ever: it is not ours to erase.
    case Shell::Fish: return fmt::format("set -eg {}\n", name);
    case Shell::Tcsh: return fmt::format("unsetenv {};\n", name);
    case Shell::PowerShell:
        return fmt::format("Remove-Item -LiteralPath Env:{} -ErrorAction SilentlyContinue\n", name);
    }
    return fmt::format("unset {}\n", name);
}

std::string source_command(const fs::path& file, Shell shell) {
    const auto quoted = shell_quoted(file.native(), shell);
    if (shell == Shell::Fish) return fmt::format("source {}\n", quoted);
    if (shell == Shell::Tcsh) return fmt::format("source {};\n", quoted);
    return fmt::format("{}. {}\n", shell == Shell::Posix ? kSurvives : "", quoted);
}

/// Scripts of packages are written for shells without errexit and nounset: these are off meanwhile.
std::string source_commands(const std::vector<fs::path>& files, Shell shell) {
    std::string out;
    for (const auto& file : files) out += source_command(file, shell);
    const bool has_options = shell == Shell::Posix || shell == Shell::Bash || shell == Shell::Zsh;
    if (out.empty() || !has_options) return out;
    return "__gpkg_options=$-\nset +eu\n" + out +
           "case ${__gpkg_options-} in *u*) set -u;; esac\n"
           "case ${__gpkg_options-} in *e*) set -e;; esac\n"
           "unset __gpkg_options\n";
}

/// What the shell does about its prompt before and after the variables change. The posix prompt is
/// a variable that only the shell itself sees: the old modifier is cut off its front, the new one
/// put there. tcsh cannot cut: it keeps the prompt that was there. fish and PowerShell have a
/// function that the hook puts around the user's.
struct PromptCommands {
    std::string_view before;
    std::string_view after;
};

PromptCommands prompt_commands(Shell shell) {
    switch (shell) {
    case Shell::Posix:
    case Shell::Bash:
    case Shell::Zsh:
        return {"if [ -n \"${PS1+x}\" ]; then PS1=\"${PS1#\"${CONDA_PROMPT_MODIFIER-}\"}\"; fi\n",
                "if [ -n \"${PS1+x}\" ]; then PS1=\"${CONDA_PROMPT_MODIFIER-}${PS1}\"; fi\n"};
    case Shell::Tcsh:
        // A variable is looked up even where a condition is false, but for what eval gets.
        return {"if ( $?prompt && ! $?__gpkg_prompt ) eval 'set __gpkg_prompt = $prompt:q';\n",
                "if ( $?__gpkg_prompt ) eval 'set prompt = $__gpkg_prompt:q';\n"
                "if ( $?__gpkg_prompt && $?CONDA_PROMPT_MODIFIER ) "
                "eval 'set prompt = $CONDA_PROMPT_MODIFIER:q$__gpkg_prompt:q';\n"
                "if ( ! $?CONDA_PROMPT_MODIFIER ) unset __gpkg_prompt;\n"};
    case Shell::Fish:
    case Shell::PowerShell: return {};
    }
    return {};
}

/// Shells remember where they found programs.
std::string_view forget_programs(Shell shell) {
    switch (shell) {
    case Shell::Posix:
    case Shell::Bash:
    case Shell::Zsh: return "hash -r 2>/dev/null || :\n";
    case Shell::Tcsh: return "rehash;\n";
    case Shell::Fish:
    case Shell::PowerShell: return {};
    }
    return {};
}

}  // namespace

std::string shell_quoted(std::string_view text, Shell shell) {
    std::string out = "'";
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto instead = replacement(text.substr(i), shell);
        out += instead;
        if (instead.empty() || shell == Shell::PowerShell) out += text[i];
    }
    out += '\'';
    return out;
}

std::string shell_commands(const Activation& activation, Shell shell) {
    std::string out;
    const auto changes = [&](std::string_view name) {
        return std::any_of(activation.variables.begin(),
                           activation.variables.end(),
                           [&](const auto& variable) { return variable.first == name; });
    };
    const auto prompt =
        changes("CONDA_PROMPT_MODIFIER") ? prompt_commands(shell) : PromptCommands{};
    out += source_commands(activation.deactivate_scripts, shell);
    out += prompt.before;
    for (const auto& [name, value] : activation.variables) {
        if (!value)
            out += unset_command(name, shell);
        else if (name == "PATH" && activation.adds_to_path)
            out += add_to_path_command(*value, shell);
        else
            out += set_command(name, *value, shell);
    }
    out += prompt.after;
    if (changes("PATH")) out += forget_programs(shell);
    out += source_commands(activation.activate_scripts, shell);
    // The hook has it; a file of these commands that is sourced brings its own.
    if (shell == Shell::Tcsh && out.find("$__gpkg_nl") != std::string::npos)
        out.insert(0, "if ( ! $?__gpkg_nl ) set __gpkg_nl = '\\\n';\n");
    return out;
}

}  // namespace gpkg
