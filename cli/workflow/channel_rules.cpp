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

Result<std::vector<Rule>> rules_of(const Context& context) {
    std::vector<Rule> rules;
    for (const auto& said : context.config.channel_rules) {
        auto channels = parse_channels(said.channels, channel_context(context));
        if (!channels)
            return pass(std::move(channels).error().while_doing("reading " + said.source));
        rules.push_back({&said, *std::move(channels)});
    }
    return rules;
}

/// Whether a URL is that of a channel, or below it.
bool is_of(std::string_view url, const Channel& channel) {
    const auto& base = channel.base_url();
    return url.starts_with(base) && (url.size() == base.size() || url[base.size()] == '/');
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
        return fail(
            ErrorKind::Conflict,
            fmt::format(
                "{}: {} ({})",
                what,
                said->allows ? "is not among allowlist_channels" : "is among denylist_channels",
                said->source),
            said->allows ? "allowed are " + join_or(named_in(*said)) : "-c names another channel");
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

}  // namespace gpkg::cli
