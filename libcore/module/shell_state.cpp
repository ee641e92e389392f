#include "libcore/base/text.hpp"
#include "libcore/module/shell_state_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace gpkg {

// What comes before "||" is not subject to "set -e" and has no trap on ERR. The variables are those
// that shells heed themselves.
const std::string_view kWriteState = R"({
    \builtin declare -F
    \builtin alias -p
    \builtin printf 'folder '
    \builtin pwd -P
    \builtin umask -p
    \builtin ulimit -Sa
    \builtin ulimit -Ha
    \builtin set +o
    \builtin shopt -p
    \builtin complete -p
    \builtin trap -p
    \builtin declare -p HOME USER SHELL ENV BASH_ENV IFS PS0 PS1 PS2 PS4 PROMPT_COMMAND POSIXLY_CORRECT
} 2> /dev/null || \builtin :)";

namespace {

using Lines = std::vector<std::string_view>;

std::string_view last_word(std::string_view line) {
    const auto space = line.rfind(' ');
    return space == std::string_view::npos ? line : line.substr(space + 1);
}

/// "declare -fx NAME"; or "declare -x NAME="value"", which may go on in further lines.
std::string declared(std::string_view line) {
    const auto flags = line.substr(0, line.find(' '));
    auto name = line.substr(std::min(flags.size() + 1, line.size()));
    name = name.substr(0, name.find('='));
    if (flags.find('f') == std::string_view::npos)
        return fmt::format("the variable {}: {}", printable(name), kHeeded);
    // Helpers of the scripts themselves have names with "_" first; what is exported is for others.
    const bool is_exported = flags.find('x') != std::string_view::npos;
    if (name.starts_with('_') && !is_exported) return {};
    return fmt::format("the shell function {}", printable(name));
}

/// "trap -- 'commands' EXIT". Commands in several lines hide what it is on.
std::string trapped(std::string_view line) {
    const auto signal = line.rfind("' ");
    if (signal == std::string_view::npos) return "a trap";
    return fmt::format("the trap on {}", printable(line.substr(signal + 2)));
}

/// "stack size                  (kbytes, -s) 8192": "ulimit -s". Nothing for other lines.
std::string limited(std::string_view line) {
    const auto end = line.find(") ");
    if (end == std::string_view::npos || end < 3 || line[end - 2] != '-') return {};
    const auto before = line[end - 3];
    if (before != ' ' && before != '(') return {};
    return fmt::format("ulimit -{}", line[end - 1]);
}

/// Nothing for what goes on from the line before, and for what nobody needs to know.
std::string described(std::string_view line) {
    constexpr std::string_view kDeclaration = "declare -";
    if (line.starts_with(kDeclaration)) return declared(line.substr(kDeclaration.size()));
    constexpr std::string_view kAlias = "alias ";
    if (line.starts_with(kAlias)) {
        const auto name = line.substr(kAlias.size());
        return fmt::format("the alias {}", printable(name.substr(0, name.find('='))));
    }
    if (line.starts_with("folder ")) return "a change of the current folder";
    if (line.starts_with("umask ")) return "umask";
    if (line.starts_with("complete "))
        return fmt::format("the completion of {}", printable(last_word(line)));
    if (line.starts_with("trap -- ")) return trapped(line);
    if (line.starts_with("set ") || line.starts_with("shopt ")) return printable(line);
    return limited(line);
}

/// The lines that `some` has and `others` has not. Hard and soft limits may be lines that are the
/// same, so that it matters how often one is there.
Lines without(const Lines& some, const Lines& others) {
    Lines rest;
    std::set_difference(
        some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(rest));
    return rest;
}

}  // namespace

std::vector<std::string> changes_of_state(std::string_view before, std::string_view after) {
    auto then = split(before, '\n');
    auto now = split(after, '\n');
    std::sort(then.begin(), then.end());
    std::sort(now.begin(), now.end());
    std::vector<std::string> changes;
    const auto tell = [&](std::string change) {
        if (!change.empty() && std::find(changes.begin(), changes.end(), change) == changes.end())
            changes.push_back(std::move(change));
    };
    for (const auto line : without(now, then)) tell(described(line));
    // What has another value was told; this is for what has none any more.
    for (const auto line : without(then, now)) {
        if (line.starts_with("declare -")) tell(described(line));
    }
    return changes;
}

}  // namespace gpkg
