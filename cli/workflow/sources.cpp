#include "cli/workflow/sources.hpp"

#include "cli/workflow/settings.hpp"
#include "libcore/base/moment.hpp"
#include "libcore/base/parallel.hpp"
#include "libcore/base/percent.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace gpkg::cli {
namespace {

/// Unix milliseconds, the same during the whole command.
std::int64_t now() {
    static const auto started = now_milliseconds();
    return started;
}

Result<Sources> open(Context& context,
                     const SourceOptions& options,
                     std::span<const std::string> names,
                     Extent extent) {
    Sources sources;
    GPKG_TRY(sources.machine, machine_of(context, options));
    // A program gets the same of a machine as of its profile, whatever that is called.
    if (context.out.json_mode()) sources.machine.name = "the machine";
    sources.priority = channel_priority(context, options);
    GPKG_TRY(sources.exclude_newer, newest_of(options));
    // The machine is looked at meanwhile.
    Result<std::vector<PackageRecord>> seen;
    const auto look = [&] { seen = detected_packages(context, sources.machine); };
    Workers looking(1, look);
    GPKG_TRY(const auto channels, fetch_channels(context, options, extent));
    GPKG_TRY(sources.indexes, channels.reach(names));
    sources.channels = channels.list();
    if (looking.count() == 0) look();
    looking.join();
    GPKG_TRY(sources.virtual_packages, std::move(seen));
    return sources;
}

}  // namespace

Result<Sources> open_sources(Context& context,
                             Seen seen,
                             const std::vector<Channel>& channels,
                             const SourceOptions& options,
                             std::span<const std::string> names) {
    Sources sources;
    sources.machine = std::move(seen.machine);
    sources.virtual_packages = std::move(seen.virtual_packages);
    sources.priority = channel_priority(context, options);
    GPKG_TRY(sources.exclude_newer, newest_of(options));
    GPKG_TRY(const auto fetched,
             Channels::fetch(context,
                             channels,
                             subdirs_for(sources.machine.platform),
                             options.offline,
                             Extent::Named));
    GPKG_TRY(sources.indexes, fetched.reach(names));
    sources.channels = fetched.list();
    return sources;
}

void ask_channels_of(std::span<const MatchSpec> specs, SourceOptions& options) {
    for (const auto& spec : specs) {
        if (spec.has_one_channel()) options.channels_of_specs.push_back(*spec.channel);
    }
}

Result<std::vector<Channel>> wanted_channels(const Context& context, const SourceOptions& options) {
    auto texts = options.channels;
    if (options.override_channels && texts.empty() && options.channels_of_specs.empty())
        return fail(ErrorKind::Usage, "--override-channels needs at least one -c CHANNEL");
    if (!options.override_channels) {
        const auto& configured = context.config.channels.value;
        texts.insert(texts.end(), configured.begin(), configured.end());
    }
    const auto where = channel_context(context);
    GPKG_TRY(auto channels, parse_channels(texts, where));
    for (const auto& text : options.channels_of_specs) {
        const auto is_it = [&](const Channel& one) {
            return channel_matches(text, one.base_url());
        };
        if (std::ranges::any_of(channels, is_it)) continue;
        GPKG_TRY(const auto more, parse_channels(text, where));
        for (const auto& channel : more) {
            if (std::ranges::find(channels, channel) == channels.end()) channels.push_back(channel);
        }
    }
    return channels;
}

Error no_channels() {
    Error error{ErrorKind::Usage,
                "no channels to search: the setting 'channels' is empty",
                "use -c CHANNEL, or gpkg config append channels conda-forge",
                {}};
    error.exception_name = "NoChannelsConfiguredError";
    return error;
}

Result<void> remember_channels(const Context& context,
                               GpkgState& state,
                               const std::vector<Channel>& channels) {
    GPKG_TRY(const auto configured, wanted_channels(context, {}));
    if (state.channels.empty() && channels == configured) return {};
    std::vector<std::string> urls;
    urls.reserve(channels.size() + state.channels.size());
    for (const auto& channel : channels) urls.push_back(channel.base_url());
    for (auto& earlier : state.channels) {
        if (std::find(urls.begin(), urls.end(), earlier) == urls.end())
            urls.push_back(std::move(earlier));
    }
    state.channels = std::move(urls);
    return {};
}

ChannelPriority channel_priority(const Context& context, const SourceOptions& options) {
    if (options.channel_priority.empty()) return context.config.channel_priority.value;
    if (options.channel_priority == "flexible") return ChannelPriority::Flexible;
    if (options.channel_priority == "disabled") return ChannelPriority::Disabled;
    return ChannelPriority::Strict;
}

namespace {

/// Where a channel of the settings fails beside channels that a file or -c names: how to leave it
/// out.
Error with_hint_on_configured(Error error, const Context& context, const SourceOptions& options) {
    if (error.unread_channel.empty() || options.override_channels || options.channels.empty())
        return error;
    const auto where = channel_context(context);
    const auto failed = [&](const Channel& one) { return one.base_url() == error.unread_channel; };
    const auto given = parse_channels(options.channels, where);
    if (!given || std::ranges::any_of(*given, failed)) return error;
    const auto& configured = context.config.channels;
    const auto channels = parse_channels(configured.value, where);
    if (!channels) return error;
    const auto found = std::ranges::find_if(*channels, failed);
    if (found == channels->end()) return error;
    error.hint = fmt::format(
        "{} is searched because {}; to search only the given ones: --override-channels, or "
        "nodefaults among the channels of a file{}",
        path_or_url(found->name()),
        configured.source == "default" ? std::string("no channels are configured")
                                       : "it is set in " + configured.source,
        error.hint.empty() ? std::string() : "; otherwise: " + error.hint);
    return error;
}

}  // namespace

Result<Channels> fetch_channels(Context& context, const SourceOptions& options, Extent extent) {
    GPKG_TRY(const auto machine, machine_of(context, options));
    GPKG_TRY(const auto channels, wanted_channels(context, options));
    auto fetched =
        Channels::fetch(context, channels, subdirs_for(machine.platform), options.offline, extent);
    if (!fetched)
        return pass(with_hint_on_configured(std::move(fetched).error(), context, options));
    return fetched;
}

Result<Sources> open_sources(Context& context,
                             const SourceOptions& options,
                             std::span<const std::string> names) {
    return open(context, options, names, Extent::Named);
}

Result<Sources> open_whole_sources(Context& context, const SourceOptions& options) {
    return open(context, options, {}, Extent::Whole);
}

Result<std::optional<std::int64_t>> newest_of(const SourceOptions& options) {
    if (options.exclude_newer.empty() || options.exclude_newer == kNoMoment) return std::nullopt;
    const auto moment = parse_moment(options.exclude_newer, now());
    if (moment) return moment;
    return fail(ErrorKind::Usage,
                fmt::format("--exclude-newer {}: not a date", options.exclude_newer),
                "use a date (2026-11-01), a duration (7d, 3h, 2w), an RFC 3339 time "
                "(2026-11-01T12:00:00Z) or milliseconds since 1970");
}

std::string fixed_moment(const SourceOptions& options) {
    const auto ago = parse_duration(options.exclude_newer);
    if (!ago) return options.exclude_newer;
    return moment_text(now() - std::chrono::milliseconds(*ago).count());
}

}  // namespace gpkg::cli
