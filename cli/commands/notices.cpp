#include "cli/workflow/notices.hpp"

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/workflow/settings.hpp"
#include "cli/workflow/sources.hpp"

#include <CLI/CLI.hpp>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

Json time_json(std::int64_t seconds) {
    if (seconds == 0) return {};
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

Json json_of(const Channel& channel, const Notice& notice) {
    return {{"channel", channel.base_url()},
            {"id", notice.id},
            {"level", notice.level},
            {"message", notice.message},
            {"created_at", time_json(notice.created_at)},
            {"expires_at", time_json(notice.expires_at)}};
}

/// Asks those that are elsewhere. What is kept of those that give no answer is shown all the same.
Result<void> ask(Context& context, std::span<const Channel> channels, std::int64_t now) {
    std::vector<Channel> remote(channels.begin(), channels.end());
    std::erase_if(remote, [](const Channel& channel) { return channel.is_local(); });
    if (remote.empty()) return {};
    GPKG_TRY(const auto transport, open_transport(context));
    TransferOptions how;
    how.stop = context.stop;
    for (auto& error :
         ask_for_notices(*transport, remote, context.config.index_cache(), now, how)) {
        if (error.kind == ErrorKind::Interrupted) return pass(std::move(error));
        context.out.warn(error.message);
    }
    return {};
}

Result<int> show(Context& context, const SourceOptions& options) {
    auto wanted = options;
    wanted.override_channels = wanted.override_channels || !wanted.channels.empty();
    GPKG_TRY(const auto channels, wanted_channels(context, wanted));
    const auto now = std::int64_t{std::time(nullptr)};
    if (!options.offline) GPKG_CHECK(ask(context, channels, now));
    SeenNotices seen(context.config.index_cache(), now);
    auto document = Json::array();
    for (const auto& channel : channels) {
        const auto notices = kept_notices(channel, context.config.index_cache(), now);
        if (!notices) {
            context.out.warn(notices.error().message);
            continue;
        }
        for (const auto& notice : *notices) {
            document.push_back(json_of(channel, notice));
            context.out.result(notice_text(channel, notice));
            if (!context.out.json_mode()) seen.add(channel, notice);
        }
    }
    (void)seen.save();
    if (context.out.json_mode())
        context.out.json({{"success", true}, {"notices", std::move(document)}});
    else if (document.empty())
        context.out.note("no notices");
    return 0;
}

}  // namespace

Action bind_notices(CLI::App& app) {
    const auto options = std::make_shared<SourceOptions>();
    app.add_option(
           "-c,--channel", options->channels, "show notices of this channel only; may be repeated")
        ->type_name("CHANNEL")
        ->expected(1)
        ->take_all();
    app.add_flag("--offline", options->offline, "show downloaded notices only");
    app.footer(
        "Shows the notices that channel owners publish. Other commands show each notice once, at "
        "most number_channel_notices per command (a setting; 0 for none).\n\n"
        "  gpkg notices\n"
        "  gpkg notices -c conda-forge --json");
    return [options](Context& context) { return show(context, *options); };
}

}  // namespace gpkg::cli
