#include "cli/workflow/sources.hpp"

#include "cli/workflow/settings.hpp"
#include "libcore/base/number.hpp"
#include "libcore/base/parallel.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>

namespace gpkg::cli {
namespace {

// 2001-09-09; no channel is older than 2012.
constexpr std::int64_t kEarliestMilliseconds = 1'000'000'000'000;

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

Result<Channels> fetch_channels(Context& context, const SourceOptions& options, Extent extent) {
    GPKG_TRY(const auto machine, machine_of(context, options));
    GPKG_TRY(const auto channels, wanted_channels(context, options));
    return Channels::fetch(
        context, channels, subdirs_for(machine.platform), options.offline, extent);
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
    GPKG_TRY(const auto moment, parse_moment(options.exclude_newer));
    return moment;
}

Result<std::int64_t> parse_moment(std::string_view text) {
    const auto wrong = [&] {
        return fail(
            ErrorKind::Usage,
            fmt::format("--exclude-newer {}: is no moment", text),
            "a date (2024-05-01), an RFC 3339 moment (2024-05-01T12:00:00Z) or Unix milliseconds");
    };
    const auto number = [](std::string_view digits) -> std::optional<std::int64_t> {
        const auto value = whole_number<std::int64_t>(digits);
        return value && *value >= 0 ? value : std::nullopt;
    };
    if (const auto milliseconds = number(text)) {
        // 20240501 is a date with its dashes forgotten, not an hour of 1970.
        if (*milliseconds < kEarliestMilliseconds) return wrong();
        return *milliseconds;
    }

    std::tm moment{};
    const std::string copy(text);
    const char* rest = ::strptime(copy.c_str(), "%Y-%m-%d", &moment);
    if (rest == nullptr) return wrong();
    // strptime takes the 30th of any month.
    auto day = moment;
    if (::timegm(&day); day.tm_mday != moment.tm_mday) return wrong();
    std::int64_t offset = 0;
    std::int64_t milliseconds = 0;
    if (*rest == '\0') {
        // A date means that day and all before it.
        moment.tm_mday += 1;
        return static_cast<std::int64_t>(::timegm(&moment)) * 1000 - 1;
    }
    if (*rest != 'T' && *rest != 't' && *rest != ' ') return wrong();
    rest = ::strptime(rest + 1, "%H:%M:%S", &moment);
    if (rest == nullptr) return wrong();
    std::string_view zone(rest);
    if (zone.starts_with('.')) {
        const auto end = std::min(zone.find_first_not_of("0123456789", 1), zone.size());
        auto fraction = std::string(zone.substr(1, end - 1));
        if (fraction.empty()) return wrong();
        fraction.resize(3, '0');
        milliseconds = *number(fraction);
        zone.remove_prefix(end);
    }
    if (zone != "Z" && zone != "z") {
        if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':')
            return wrong();
        const auto hours = number(zone.substr(1, 2));
        const auto minutes = number(zone.substr(4, 2));
        if (!hours || !minutes || *hours > 23 || *minutes > 59) return wrong();
        offset = (*hours * 60 + *minutes) * 60 * (zone[0] == '+' ? 1 : -1);
    }
    return (static_cast<std::int64_t>(::timegm(&moment)) - offset) * 1000 + milliseconds;
}

}  // namespace gpkg::cli
