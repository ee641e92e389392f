// `log`: the last commands that changed something or failed, with their errors.

#include "cli/command.hpp"
#include "cli/command_log.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "libcore/base/moment.hpp"
#include "libcore/base/number.hpp"
#include "libcore/env/prefix.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct LogOptions {
    TargetOptions target;
    bool failed = false;
    std::size_t most = 20;
};

void print(Context& context, const LoggedCommand& entry) {
    auto& out = context.out;
    const auto outcome = outcome_of(entry);
    out.result(fmt::format("{}  {}{}",
                           local_time_text(entry.time),
                           out.bold(entry.command),
                           outcome.empty() ? "" : fmt::format("  ({})", outcome)));
    std::string indented = entry.error.empty() ? "" : "error: ";
    for (const char c : entry.error) {
        indented += c;
        if (c == '\n') indented += "    ";
    }
    if (!indented.empty()) out.result("    " + indented);
}

Result<int> show(Context& context, const LogOptions& options) {
    auto entries = logged_commands(context.config);
    if (options.failed)
        std::erase_if(entries, [](const auto& entry) { return !entry.has_failed(); });
    if (!options.target.name.empty() || !options.target.prefix.empty()) {
        GPKG_TRY(const auto prefix, target_prefix(context, options.target));
        std::erase_if(entries, [&](const auto& entry) { return entry.prefix != prefix.native(); });
    }
    if (entries.size() > options.most)
        entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(options.most));
    if (context.out.json_mode()) {
        auto document = Json::array();
        for (const auto& entry : entries)
            document.push_back({{"time", entry.time},
                                {"command", entry.command},
                                {"prefix", entry.prefix.empty() ? Json() : Json(entry.prefix)},
                                {"status", entry.status ? Json(*entry.status) : Json()},
                                {"outcome", outcome_of(entry)},
                                {"seconds", entry.seconds},
                                {"error", entry.error.empty() ? Json() : Json(entry.error)}});
        context.out.json(document);
        return 0;
    }
    for (const auto& entry : entries) print(context, entry);
    const bool is_of_one = !options.target.name.empty() || !options.target.prefix.empty();
    if (is_of_one && !options.failed && !entries.empty()) {
        GPKG_TRY(const auto prefix, target_prefix(context, options.target));
        if (Prefix::is_environment(prefix))
            context.out.note(
                fmt::format("to see the changes: gpkg history {}", target_words(context, prefix)));
    }
    if (entries.empty()) {
        const auto& name = options.target.name;
        const bool is_number = whole_number<std::uint64_t>(name).has_value();
        context.out.note(
            name.empty() ? "no commands are logged"
                         : fmt::format("no commands of the environment '{}' are logged{}",
                                       name,
                                       is_number ? "; for the last commands: --last " + name : ""));
    }
    return 0;
}

}  // namespace

Action bind_log(CLI::App& app) {
    const auto options = std::make_shared<LogOptions>();
    add_target_options(app, options->target);
    app.add_flag("--failed", options->failed, "only commands that failed or did not finish");
    app.add_option(
           "--last", options->most, "number of commands to list, the newest last; default: 20")
        ->type_name("N")
        ->check(whole_number_from(1));
    app.footer(
        "Lists your last commands that changed something, failed or were killed, with their "
        "errors. With -n or -p only those of one environment. `gpkg history` lists what each "
        "change did. Times are local; --json prints UTC.\n\n"
        "  gpkg log --failed\n"
        "  gpkg log -n ml");
    return [options](Context& context) { return show(context, *options); };
}

}  // namespace gpkg::cli
