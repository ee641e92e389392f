#include "cli/workflow/channel_rules.hpp"

#include "cli/workflow/settings.hpp"
#include "libcore/base/text.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace gpkg::cli {
namespace {

/// A rule of the configuration with its channels' URLs.
struct Rule {
    const ChannelRule* said;
    std::vector<Channel> channels;
};

Result<Rule> rule_of(const Context& context, const Config& config, const ChannelRule& said) {
    auto channels = parse_channels(said.channels, channel_context(config, context.home));
    if (!channels) return pass(std::move(channels).error().while_doing("reading " + said.source));
    return Rule{&said, *std::move(channels)};
}

/// Names in the system's files mean what they mean there.
Result<std::vector<Rule>> site_rules(const Context& context) {
    std::vector<Rule> rules;
    if (!context.config.site) return rules;
    for (const auto& said : context.config.site->channel_rules) {
        GPKG_TRY(rules.emplace_back(), rule_of(context, *context.config.site, said));
    }
    return rules;
}

bool is_of_site(const Config& config, const ChannelRule& said) {
    if (!config.site) return false;
    const auto& known = config.site->channel_rules;
    return std::any_of(known.begin(), known.end(), [&](const ChannelRule& one) {
        return one.source == said.source && one.allows == said.allows;
    });
}

Result<std::vector<Rule>> rules_of(const Context& context) {
    GPKG_TRY(auto rules, site_rules(context));
    for (const auto& said : context.config.channel_rules) {
        if (is_of_site(context.config, said)) continue;
        GPKG_TRY(rules.emplace_back(), rule_of(context, context.config, said));
    }
    return rules;
}

/// Whether a URL is that of a channel, or below it.
bool is_of(std::string_view url, const Channel& channel) {
    const auto& base = channel.base_url();
    return url.starts_with(base) && (url.size() == base.size() || url[base.size()] == '/');
}

/// Whether the rule lists the channel, or one that it is below.
bool lists(const Rule& rule, const Channel& channel) {
    return std::any_of(rule.channels.begin(), rule.channels.end(), [&](const Channel& one) {
        return is_of(channel.base_url(), one);
    });
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
        return fail_as(
            said->allows ? "ChannelNotAllowed" : "ChannelDenied",
            ErrorKind::Conflict,
            fmt::format("{}: {} ({})",
                        what,
                        said->allows ? "not in allowlist_channels" : "denied by denylist_channels",
                        said->source),
            said->allows ? "allowed channels: " + allowed_by(channels, *said)
                         : "use another channel: -c CHANNEL");
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

Result<std::vector<std::string>> channels_allowed_by_all(const Context& context) {
    GPKG_TRY(auto rules, rules_of(context));
    std::erase_if(rules, [](const Rule& rule) { return !rule.said->allows; });
    std::vector<std::string> urls;
    for (const auto& rule : rules) {
        for (const auto& channel : rule.channels) {
            const bool is_in_all = std::all_of(rules.begin(), rules.end(), [&](const Rule& other) {
                return lists(other, channel);
            });
            const auto& url = channel.base_url();
            if (is_in_all && std::find(urls.begin(), urls.end(), url) == urls.end())
                urls.push_back(url);
        }
    }
    return urls;
}

Result<void> check_mirrors(const Context& context) {
    GPKG_TRY(const auto rules, site_rules(context));
    if (rules.empty()) return {};
    const auto& by_site = context.config.site->mirrored_channels.value;
    const auto is_sites_own = [&](const std::string& name, const std::string& mirror) {
        return std::any_of(by_site.begin(), by_site.end(), [&](const auto& one) {
            const auto& known = one.second;
            return one.first == name &&
                   std::find(known.begin(), known.end(), mirror) != known.end();
        });
    };
    const auto& setting = context.config.mirrored_channels;
    for (const auto& [name, mirrors] : setting.value) {
        for (const auto& mirror : mirrors) {
            if (is_sites_own(name, mirror)) continue;
            GPKG_TRY(const auto channel, Channel::parse(mirror, channel_context(context)));
            GPKG_CHECK(check_url(rules,
                                 channel.base_url(),
                                 fmt::format("mirror {} of {} ({})",
                                             hide_secrets(channel.base_url()),
                                             name,
                                             setting.source)));
        }
    }
    return {};
}

}  // namespace gpkg::cli
