#include "cli/workflow/lock/locked_sources.hpp"

#include "libcore/base/text.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::cli {
namespace {}  // namespace

Result<std::vector<Channel>> with_credentials(const Context& context,
                                              const std::vector<std::string>& urls,
                                              const SourceOptions& sources) {
    GPKG_TRY(const auto configured, wanted_channels(context, sources));
    ChannelContext where;
    where.home = context.home;
    std::vector<Channel> channels;
    for (const auto& url : urls) {
        GPKG_TRY(const auto channel, Channel::parse(url, where));
        if (std::find(channels.begin(), channels.end(), channel) != channels.end()) continue;
        const auto known = std::find(configured.begin(), configured.end(), channel);
        channels.push_back(known == configured.end() ? channel : *known);
    }
    return channels;
}

Result<std::vector<Channel>> channels_of(const Context& context,
                                         const LockFile& lock,
                                         const SourceOptions& sources) {
    std::vector<std::string> urls;
    for (const auto& channel : lock.channels) urls.push_back(channel.url);
    for (const auto& [name, environment] : lock.environments) {
        if (!environment.channels) continue;
        for (const auto& channel : *environment.channels) urls.push_back(channel.url);
    }
    return with_credentials(context, urls, sources);
}

Seen seen_of(const LockedClass& locked) {
    Seen seen;
    seen.machine.platform = locked.platform;
    seen.machine.name = locked.name;
    seen.virtual_packages = as_virtual_packages(locked.made_for);
    return seen;
}

std::vector<std::string> names_in(const std::vector<MatchSpec>& specs,
                                  const std::vector<PackageRecord>& packages) {
    std::vector<std::string> names;
    for (const auto& spec : specs) {
        if (spec.has_one_name()) names.push_back(spec.name);
    }
    for (const auto& package : packages) names.push_back(package.name);
    return names;
}

Result<OfChannel> of_channel(const PackageRecord& locked, const std::vector<SharedIndex>& indexes) {
    std::string why = "no longer in its channel";
    for (const auto& index : indexes) {
        if (index->source().subdir != locked.subdir) continue;
        GPKG_TRY(const auto found, index->find(locked.name));
        for (const auto& row : found.rows()) {
            if (found.fn(row) != locked.fn) continue;
            GPKG_TRY(auto there, index->record(found, row));
            if (there.url != locked.url) continue;
            const bool is_other =
                !locked.sha256.empty() && !there.sha256.empty()
                    ? locked.sha256 != there.sha256
                    : locked.md5 != there.md5 && !there.md5.empty() && !locked.md5.empty();
            if (!is_other) return OfChannel{std::move(there), {}};
            why = "its channel has another file of this name, with a different checksum";
        }
    }
    return OfChannel{std::nullopt, std::move(why)};
}

SourceOptions as_locked(const LockFile& lock, SourceOptions sources) {
    if (sources.channel_priority.empty()) sources.channel_priority = lock.request.channel_priority;
    if (sources.exclude_newer.empty()) sources.exclude_newer = lock.request.exclude_newer;
    if (sources.exclude_newer == kNoMoment) sources.exclude_newer.clear();
    return sources;
}

bool are_naming(const std::set<std::string>& names, const std::string& name) {
    return names.contains(name) || (name == "python_abi" && names.contains("python"));
}

Result<void> check_has(const LockFile& lock, const std::set<std::string>& names) {
    std::set<std::string> known;
    for (const auto& one : lock.packages) known.insert(one.record.name);
    for (const auto& name : names) {
        if (known.contains(name)) continue;
        const std::vector<std::string> sorted(known.begin(), known.end());
        const auto near = near_names(name, sorted);
        return fail(
            ErrorKind::NotFound,
            fmt::format("package '{}' is not in the lock", name),
            is_package_name(name)
                ? did_you_mean(near,
                               "to add it, write it in environment.yml, then: gpkg lock update -f "
                               "environment.yml")
                : "use a package name, such as numpy");
    }
    return {};
}

}  // namespace gpkg::cli
