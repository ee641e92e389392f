#include "cli/workflow/channel_rules.hpp"

#include "cli/workflow/settings.hpp"
#include "libcore/base/text.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <string_view>

namespace gpkg::cli {
namespace {

/// A rule of the configuration with its channels' URLs.
struct Rule {
    const ChannelRule* said;
    std::vector<Channel> channels;
};

Result<void> add_rules(const Context& context,
                       const Config& config,
                       const std::function<bool(const ChannelRule&)>& counts,
                       std::vector<Rule>& rules) {
    for (const auto& said : config.channel_rules) {
        if (!counts(said)) continue;
        auto channels = parse_channels(said.channels, channel_context(config, context.home));
        if (!channels)
            return pass(std::move(channels).error().while_doing("reading " + said.source));
        rules.push_back({&said, *std::move(channels)});
    }
    return {};
}

/// Names in the system's files mean what they mean there.
Result<std::vector<Rule>> site_rules(const Context& context) {
    std::vector<Rule> rules;
    const auto all = [](const ChannelRule&) { return true; };
    if (context.config.site) GPKG_CHECK(add_rules(context, *context.config.site, all, rules));
    return rules;
}

Result<std::vector<Rule>> rules_of(const Context& context) {
    GPKG_TRY(auto rules, site_rules(context));
    const auto of_site = rules.size();
    const auto is_others = [&](const ChannelRule& said) {
        return std::none_of(rules.begin(),
                            rules.begin() + static_cast<std::ptrdiff_t>(of_site),
                            [&](const Rule& rule) {
                                return rule.said->source == said.source &&
                                       rule.said->allows == said.allows;
                            });
    };
    GPKG_CHECK(add_rules(context, context.config, is_others, rules));
    return rules;
}

/// Whether a URL is that of a channel, or below it.
bool is_of(std::string_view url, const Channel& channel) {
    const auto& base = channel.base_url();
    return url.starts_with(base) && (url.size() == base.size() || url[base.size()] == '/');
}

/// Names as people may see them, and for what of channels of the same name.
std::string allowed_by(const std::vector<Channel>& channels, const ChannelRule& said) {
    auto texts = named_in(said);
    for (std::size_t i = 0; i < texts.size() && texts.size() == channels.size(); ++i) {
        if (!has_scheme(texts[i])) texts[i] += fmt::format(" ({})", channels[i].base_url());
    }
    return join_or(texts);
}

/// `what` begins the error.
Result<void> check_url(const std::vector<Rule>& rules,
                       std::string_view url,
                       std::string_view what) {
    for (const auto& [said, channels] : rules) {
        const bool is_named = std::any_of(
            channels.begin(), channels.end(), [&](const auto& one) { return is_of(url, one); });
        if (is_named == said->allows) continue;
        if (said->allows && url.starts_with("file:")) continue;
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: {} ({})",
                                what,
                                said->allows ? "is not among allowlist_channels"
                                             : "is among denylist_channels",
                                said->source),
                    said->allows ? "allowed are " + allowed_by(channels, *said)
                                 : "-c names another channel");
    }
    return {};
}

}  // namespace

std::vector<std::string> named_in(const ChannelRule& rule) {
    std::vector<std::string> names;
    names.reserve(rule.channels.size());
    for (const auto& text : rule.channels) names.push_back(hide_secrets(text));
    return names;
}

Result<void> check_allowed(const Context& context, std::span<const Channel> channels) {
    GPKG_TRY(const auto rules, rules_of(context));
    for (const auto& channel : channels)
        GPKG_CHECK(check_url(rules, channel.base_url(), "the channel " + channel.base_url()));
    return {};
}

Result<void> check_allowed(const Context& context, const std::vector<PackageRecord>& packages) {
    GPKG_TRY(const auto rules, rules_of(context));
    for (const auto& package : packages)
        GPKG_CHECK(check_url(rules, package.url, "the channel of " + without_secrets(package.url)));
    return {};
}

Result<void> check_mirrors(const Context& context) {
    GPKG_TRY(const auto rules, site_rules(context));
    if (rules.empty()) return {};
    const auto& by_site = context.config.site->mirrored_channels.value;
    const auto& setting = context.config.mirrored_channels;
    for (const auto& mirrored : setting.value) {
        const auto& name = mirrored.first;
        const auto known = std::find_if(
            by_site.begin(), by_site.end(), [&](const auto& one) { return one.first == name; });
        for (const auto& mirror : mirrored.second) {
            if (known != by_site.end() &&
                std::find(known->second.begin(), known->second.end(), mirror) !=
                    known->second.end())
                continue;
            GPKG_TRY(const auto channel, Channel::parse(mirror, channel_context(context)));
            GPKG_CHECK(check_url(rules,
                                 channel.base_url(),
                                 fmt::format("the mirror {} of {} ({})",
                                             hide_secrets(channel.base_url()),
                                             name,
                                             setting.source)));
        }
    }
    return {};
}

}  // namespace gpkg::cli
