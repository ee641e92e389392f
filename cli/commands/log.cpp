// `log`: the last commands that changed something or failed, with their errors.

#include "cli/command.hpp"
#include "cli/command_log.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
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
    const auto outcome =
        entry.status == 0 ? std::string() : fmt::format("  (exit status {})", entry.status);
    out.result(fmt::format("{}  {}{}", entry.time, out.bold(entry.command), outcome));
    std::string indented = entry.error.empty() ? "" : "error: ";
    for (const char c : entry.error) {
        indented += c;
        if (c == '\n') indented += "    ";
    }
    if (!indented.empty()) out.result("    " + indented);
}

Result<int> show(Context& context, const LogOptions& options) {
    auto entries = logged_commands(context.config);
    if (options.failed) std::erase_if(entries, [](const auto& entry) { return entry.status == 0; });
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
                                {"status", entry.status},
                                {"seconds", entry.seconds},
                                {"error", entry.error.empty() ? Json() : Json(entry.error)}});
        context.out.json(document);
        return 0;
    }
    for (const auto& entry : entries) print(context, entry);
    if (entries.empty()) context.out.note("no commands are logged");
    return 0;
}

}  // namespace

Action bind_log(CLI::App& app) {
    const auto options = std::make_shared<LogOptions>();
    add_target_options(app, options->target);
    app.add_flag("--failed", options->failed, "only commands that failed");
    app.add_option("--last", options->most, "number of commands to list, the newest last")
        ->type_name("N")
        ->check(whole_number_from(1))
        ->capture_default_str();
    app.footer(
        "Lists your last commands that changed something or failed, with their errors. With -n or "
        "-p only those of one environment. `gpkg history` lists what each change did.\n"
        "  gpkg log --failed\n"
        "  gpkg log -n ml");
    return [options](Context& context) { return show(context, *options); };
}

}  // namespace gpkg::cli
