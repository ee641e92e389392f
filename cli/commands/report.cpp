// `info --report`: what a bug report needs, as text to paste. Secrets are hidden.

#include "cli/command_log.hpp"
#include "cli/commands/info.hpp"
#include "cli/version.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::cli {
namespace {

constexpr std::size_t kMostCommands = 10;

/// "Debian GNU/Linux 12 (bookworm)"
std::string distribution() {
    const auto text = read_file("/etc/os-release");
    if (!text) return "unknown";
    for (const auto line : split(*text, '\n')) {
        constexpr std::string_view kName = "PRETTY_NAME=";
        if (!line.starts_with(kName)) continue;
        auto name = std::string(line.substr(kName.size()));
        std::erase(name, '"');
        return name;
    }
    return "unknown";
}

void print_commands(Output& out, std::vector<LoggedCommand> entries) {
    if (entries.size() > kMostCommands)
        entries.erase(entries.begin(), entries.end() - kMostCommands);
    out.result("\nlast commands that changed something or failed:");
    for (const auto& entry : entries) {
        const auto outcome = outcome_of(entry);
        out.result(fmt::format("  {} ({}) {}",
                               entry.time,
                               outcome.empty() ? "exit status 0" : outcome,
                               entry.command));
        for (const auto line : split(entry.error, '\n'))
            if (!line.empty()) out.result(fmt::format("    {}", line));
    }
    if (entries.empty()) out.result("  none");
}

}  // namespace

void print_report(Context& context, const std::function<void()>& print_info) {
    auto& out = context.out;
    out.result(fmt::format("gpkg commit : {}", commit().empty() ? "unknown" : commit()));
    out.result(fmt::format("distribution: {}\n", distribution()));
    print_info();
    print_commands(out, logged_commands(context.config));
}

}  // namespace gpkg::cli
