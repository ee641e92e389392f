#include "cli/workflow/ask/found.hpp"

#include "cli/given_words.hpp"
#include "cli/table.hpp"
#include "cli/workflow/ask/hints.hpp"
#include "cli/workflow/installed.hpp"
#include "cli/workflow/record_text.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/base/percent.hpp"
#include "libcore/base/text.hpp"
#include "libcore/index/queries.hpp"
#include "libcore/net/url.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/near_packages.hpp"
#include "libcore/spec/spec_text.hpp"
#include "libcore/spec/version.hpp"
#include "virtual-packages/host.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace gpkg::cli {
namespace {

constexpr std::size_t kLongestSpec = 1000;
/// Of so many names the builds are shown, and fetched where channels have shards.
constexpr std::size_t kMostWithBuilds = 100;

void look_where_the_spec_says(const MatchSpec& spec, SourceOptions& sources) {
    if (spec.has_one_channel() && sources.channels.empty()) {
        sources.channels = {*spec.channel};
        sources.override_channels = true;
    }
    if (spec.subdir && sources.platform.empty() && sources.for_machine.empty() &&
        *spec.subdir != "noarch" && is_known_subdir(*spec.subdir))
        sources.platform = *spec.subdir;
}

/// All names that match, however many.
Result<std::vector<std::string>> names_matching(const Channels& channels, const MatchSpec& spec) {
    if (spec.has_one_name()) return std::vector{spec.name};
    GPKG_TRY(auto names, channels.names());
    std::erase_if(names, [&](const auto& name) {
        return spec.name_matcher && !spec.name_matcher->matches(name);
    });
    return names;
}

tl::unexpected<Error> too_many(const MatchSpec& spec, std::size_t names) {
    return fail(ErrorKind::Usage,
                fmt::format("{}: matches {} packages; with sharded channels, at most {} can be "
                            "searched",
                            spec.to_string(),
                            names,
                            kMostWithBuilds),
                fmt::format("gpkg search '{}' lists the names", spec.name));
}

std::string date_of(std::int64_t milliseconds) {
    if (milliseconds <= 0) return "";
    const auto seconds = static_cast<std::time_t>(milliseconds / 1000);
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC",
                       parts.tm_year + 1900,
                       parts.tm_mon + 1,
                       parts.tm_mday,
                       parts.tm_hour,
                       parts.tm_min,
                       parts.tm_sec);
}

bool has_name(std::span<const SharedIndex> indexes, const std::string& name) {
    return std::any_of(indexes.begin(), indexes.end(), [&](const SharedIndex& index) {
        const auto found = index->find(name);
        return found && !found->choices(std::nullopt).empty();
    });
}

/// Of this machine's platform and the one that most packages are for. What cannot be fetched has
/// nothing to say.
std::optional<std::string> other_platform_with(Context& context,
                                               const MatchSpec& spec,
                                               SourceOptions options,
                                               const Searched& searched) {
    options.for_machine.clear();
    options.devices.clear();
    for (const std::string& platform :
         {virtual_packages::this_machine().native_platform, std::string("linux-64")}) {
        if (platform == searched.platform) continue;
        options.platform = platform;
        const auto inquiry = Inquiry::begin(context, spec, options, Extent::Named);
        if (!inquiry) continue;
        const std::vector<std::string> names{spec.name};
        const auto indexes = inquiry->channels.look_up(names);
        if (indexes && has_name(*indexes, spec.name)) return platform;
    }
    return std::nullopt;
}

void print_details(Output& out, const PackageRecord& record) {
    out.result(out.bold(record_title(record)));
    Table table;
    table.may_wrap(1);
    const auto row = [&](const std::string& name, std::string value) {
        if (!value.empty()) table.add({fmt::format("  {}", name), std::move(value)});
    };
    row("file name", record.fn);
    row("build number", std::to_string(record.build_number));
    row("channel", without_secrets(record.channel));
    row("subdir", record.subdir);
    row("size", record.size == 0 ? "" : human_size(record.size));
    row("license", printable(record.license));
    row("built", date_of(record.timestamp));
    row("url", without_secrets(record.url));
    row("md5", record.md5);
    row("sha256", record.sha256);
    for (std::size_t i = 0; i < record.depends.size(); ++i)
        row(i == 0 ? "depends" : "", printable(written(record.depends[i]), kLongestSpec));
    for (std::size_t i = 0; i < record.constrains.size(); ++i)
        row(i == 0 ? "constrains" : "", printable(record.constrains[i], kLongestSpec));
    for (const auto& [group, specs] : record.extra_depends) {
        for (std::size_t i = 0; i < specs.size(); ++i)
            row(i == 0 ? "extra " + printable(group) : "", printable(specs[i], kLongestSpec));
    }
    out.result(table);
    out.result("");
}

tl::unexpected<Error> unknown_package(const std::string& name,
                                      const Searched& searched,
                                      std::string hint) {
    auto failure = fail_as(kNotInChannels,
                           ErrorKind::NotFound,
                           fmt::format("package '{}' not found in {}", name, searched.where()),
                           std::move(hint));
    failure.value().unknown_packages = {name};
    return failure;
}

}  // namespace

std::string Searched::where() const {
    std::vector<std::string> names;
    names.reserve(channels.size());
    for (const auto& channel : channels) names.push_back(path_or_url(channel.name()));
    return fmt::format("{} ({})", join_or(names), platform);
}

Result<Inquiry> Inquiry::begin(Context& context,
                               const MatchSpec& spec,
                               SourceOptions options,
                               Extent extent) {
    look_where_the_spec_says(spec, options);
    Searched searched;
    GPKG_TRY(const auto machine, machine_of(context, options));
    searched.platform = machine.platform;
    GPKG_TRY(searched.exclude_newer, newest_of(options));
    GPKG_TRY(auto channels, fetch_channels(context, options, extent));
    searched.channels = channels.list();
    if (searched.channels.empty()) return pass(no_channels());
    return Inquiry{std::move(channels), std::move(searched)};
}

bool is_name_alone(const MatchSpec& spec) {
    MatchSpec bare;
    bare.name = spec.name;
    bare.name_matcher = spec.name_matcher;
    return spec == bare;
}

Result<std::vector<std::string>> names_meant(const Inquiry& inquiry, const MatchSpec& spec) {
    GPKG_TRY(auto names, names_matching(inquiry.channels, spec));
    if (names.size() > kMostWithBuilds && !inquiry.channels.are_whole())
        return too_many(spec, names.size());
    return names;
}

Result<Found> search_channels(Context& context,
                              const MatchSpec& spec,
                              const SourceOptions& options) {
    GPKG_TRY(auto inquiry, Inquiry::begin(context, spec, options, Extent::Named));
    auto& searched = inquiry.searched;
    GPKG_TRY(auto names, names_matching(inquiry.channels, spec));
    const bool asks_more = !is_name_alone(spec) || searched.exclude_newer;
    if (names.size() > kMostWithBuilds && !asks_more) return Found{{}, std::move(names)};
    if (names.size() > kMostWithBuilds && !inquiry.channels.are_whole())
        return too_many(spec, names.size());
    GPKG_TRY(searched.indexes, inquiry.channels.look_up(names));
    GPKG_TRY(auto records, find_records(spec, names, searched));
    if (records.empty()) return nothing_found(context, spec, options, searched);
    return Found{std::move(records), {}};
}

Result<std::vector<PackageRecord>> find_records(const MatchSpec& spec,
                                                std::span<const std::string> names,
                                                const Searched& searched) {
    struct Hit {
        PackageRecord record;
        Version version;
        std::size_t channel = 0;  ///< its place among the channels
    };
    std::vector<Hit> hits;
    for (const auto& index : searched.indexes) {
        const auto place = std::find_if(
            searched.channels.begin(), searched.channels.end(), [&](const auto& channel) {
                return channel.base_url() == index->source().channel;
            });
        const auto channel = static_cast<std::size_t>(place - searched.channels.begin());
        for (const auto& name : names) {
            GPKG_CHECK(
                each_match(*index, name, spec, searched.exclude_newer, [&](PackageRecord record) {
                    auto version = Version::parse(record.version);
                    if (version) hits.push_back({std::move(record), *std::move(version), channel});
                    return true;
                }));
        }
    }
    std::stable_sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) {
        if (a.record.name != b.record.name) return a.record.name < b.record.name;
        if (a.version != b.version) return a.version < b.version;
        if (a.record.build_number != b.record.build_number)
            return a.record.build_number < b.record.build_number;
        if (a.channel != b.channel) return a.channel > b.channel;
        return a.record.build < b.record.build;
    });
    std::vector<PackageRecord> records;
    records.reserve(hits.size());
    for (auto& hit : hits) records.push_back(std::move(hit.record));
    return records;
}

tl::unexpected<Error> nothing_found(const MatchSpec& spec, const Searched& searched) {
    const auto where = searched.where();
    std::set<std::string> names;
    std::size_t all = 0;
    std::size_t builds = 0;
    std::optional<Version> newest;
    for (const auto& index : searched.indexes) {
        for (const auto name : index->names()) names.emplace(name);
        if (!spec.has_one_name()) continue;
        const auto found = index->find(spec.name);
        if (!found) return pass(found.error());
        all += found->choices(std::nullopt).size();
        for (const auto* row : found->choices(searched.exclude_newer)) {
            ++builds;
            auto version = Version::parse(found->version(*row));
            if (version && (!newest || *newest < *version)) newest = *std::move(version);
        }
    }
    const auto exact = hint_on_exact_version(searched.indexes, spec);
    if (newest)
        return fail_as(
            kNotInChannels,
            ErrorKind::NotFound,
            fmt::format("{}: matches none of the {} builds in {}", as_typed(spec), builds, where),
            exact.empty()
                ? fmt::format("the newest version is {} {}", spec.name, newest->to_string())
                : exact);
    if (all > builds)
        return fail_as(kNotInChannels,
                       ErrorKind::NotFound,
                       fmt::format("{}: all {} builds in {} are newer than --exclude-newer allows",
                                   spec.to_string(),
                                   all,
                                   where));
    return no_such_name(spec, searched, names);
}

tl::unexpected<Error> nothing_found(Context& context,
                                    const MatchSpec& spec,
                                    const SourceOptions& options,
                                    const Searched& searched) {
    if (spec.has_one_name() && !has_name(searched.indexes, spec.name)) {
        if (const auto platform = other_platform_with(context, spec, options, searched)) {
            auto words = given_options(context.arguments, {OptionSubject::Channels});
            words.insert(words.begin(), {spec.to_string(), "--platform", *platform});
            return unknown_package(
                spec.name,
                searched,
                fmt::format(
                    "it is available for {}: gpkg search {}", *platform, shell_words(words)));
        }
    }
    return nothing_found(spec, searched);
}

tl::unexpected<Error> no_such_name(const MatchSpec& spec,
                                   const Searched& searched,
                                   const std::set<std::string>& known) {
    if (!spec.has_one_name())
        return fail_as(
            kNotInChannels,
            ErrorKind::NotFound,
            fmt::format("no package name matches '{}' in {}", spec.name, searched.where()),
            in_another_channel("it"));
    const std::vector<std::string> sorted(known.begin(), known.end());
    const auto near = near_packages(spec.name, sorted);
    return unknown_package(spec.name, searched, did_you_mean(near, in_another_channel("it")));
}

Result<std::vector<bool>> find_installed(const MatchSpec& spec,
                                         const std::vector<PrefixRecord>& installed,
                                         const fs::path& prefix) {
    std::vector<bool> marked(installed.size());
    for (std::size_t place = 0; place < installed.size(); ++place)
        marked[place] = spec.matches(installed[place].package);
    if (std::find(marked.begin(), marked.end(), true) != marked.end()) return marked;
    auto error = not_installed(spec.to_string(), spec.name, installed, prefix);
    if (error.hint.empty())
        error = with_environment_hint(
            std::move(error), "to list installed packages: gpkg list {}", prefix.native());
    return pass(std::move(error));
}

Error not_installed(std::string_view what,
                    std::string_view name,
                    const std::vector<PrefixRecord>& installed,
                    const fs::path& prefix,
                    std::string otherwise) {
    std::vector<std::string> names;
    names.reserve(installed.size());
    for (const auto& record : installed) names.push_back(record.name());
    Error error{ErrorKind::NotFound,
                fmt::format("{} is not installed in {}", what, prefix.native()),
                did_you_mean(near_names(name, names), std::move(otherwise)),
                {}};
    error.exception_name = "PackagesNotFoundInPrefixError";
    return error;
}

std::string channel_text(const Context& context, const PackageRecord& record) {
    return channel_title(context, record.channel) + "/" + record.subdir;
}

void shorten_record_columns(Table& table) {
    enum Columns : std::size_t { Name, Version, Build, ChannelName };
    table.may_shorten(ChannelName, 11, Keep::End);
    table.may_shorten(Build, 12);
    table.may_drop(ChannelName);
    table.may_shorten(Name, 20);
}

void print_records(const Context& context, std::span<const PackageRecord> records) {
    Table table({4});
    shorten_record_columns(table);
    table.add({"# Name", "Version", "Build", "Channel", "Size"});
    for (const auto& record : records) {
        table.add({record.name,
                   record.version,
                   record.build,
                   channel_text(context, record),
                   record.size == 0 ? "" : human_size(record.size)});
    }
    context.out.result(table);
}

void print_found(const Context& context, const MatchSpec& spec, const Found& found, bool info) {
    auto& out = context.out;
    for (const auto& name : found.names) out.result(name);
    if (!found.names.empty())
        out.note(fmt::format("'{}' matches {} names; builds are listed for at most {}",
                             spec.to_string(),
                             found.names.size(),
                             kMostWithBuilds));
    if (info) {
        for (const auto& record : found.records) print_details(out, record);
    } else if (!found.records.empty()) {
        print_records(context, found.records);
    }
}

nlohmann::ordered_json search_json(const PackageRecord& record) {
    auto json = record_json(record);
    json["channel"] = without_secrets(record.channel) + "/" + record.subdir;
    json["license"] = record.license;
    if (!record.extra_depends.empty()) json["extra_depends"] = record.extra_depends;
    if (!record.flags.empty()) json["flags"] = record.flags;
    return json;
}

}  // namespace gpkg::cli
