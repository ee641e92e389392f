#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/workflow/change_report.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/base/text.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/version.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestSpec = 1000;
/// Of so many names the builds are shown, and fetched where channels have shards.
constexpr std::size_t kMostNames = 100;

struct Options {
    SourceOptions sources;
    std::string spec = "*";
    bool info = false;
};

/// What is searched: the records of all names that may match.
struct Searched {
    std::vector<Channel> channels;
    std::string platform;
    std::vector<SharedIndex> indexes;
    std::optional<std::int64_t> exclude_newer;
};

struct Hit {
    PackageRecord record;
    Version version;
    std::size_t channel = 0;  ///< its place among the channels
};

/// A channel or subdir in the spec says where to look, as far as flags do not.
void look_where_the_spec_says(const MatchSpec& spec, SourceOptions& sources) {
    const auto is_pattern = [](const std::string& text) {
        return text.find_first_of("*^") != std::string::npos;
    };
    if (spec.channel && sources.channels.empty() && !is_pattern(*spec.channel)) {
        sources.channels = {*spec.channel};
        sources.override_channels = true;
    }
    if (spec.subdir && sources.platform.empty() && *spec.subdir != "noarch" &&
        is_known_subdir(*spec.subdir))
        sources.platform = *spec.subdir;
}

/// Whether a name is all that it asks for.
bool is_name_alone(const MatchSpec& spec) {
    MatchSpec bare;
    bare.name = spec.name;
    bare.name_matcher = spec.name_matcher;
    return spec == bare;
}

Result<std::vector<Hit>> find(const MatchSpec& spec,
                              const std::vector<std::string>& names,
                              const Searched& sources) {
    std::vector<Hit> hits;
    const auto take = [&](const ChannelIndex& index, std::string_view name) -> Result<void> {
        const auto place = std::find_if(
            sources.channels.begin(), sources.channels.end(), [&](const auto& channel) {
                return channel.base_url() == index.source().channel;
            });
        GPKG_TRY(const auto found, index.find(name));
        for (const auto* row : found.choices(sources.exclude_newer)) {
            GPKG_TRY(auto record, index.record(found, *row));
            auto version = Version::parse(record.version);
            if (!version || !spec.matches(record)) continue;
            hits.push_back({std::move(record),
                            *std::move(version),
                            static_cast<std::size_t>(place - sources.channels.begin())});
        }
        return {};
    };
    for (const auto& index : sources.indexes) {
        for (const auto& name : names) GPKG_CHECK(take(*index, name));
    }
    std::stable_sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) {
        if (a.record.name != b.record.name) return a.record.name < b.record.name;
        if (a.version != b.version) return a.version < b.version;
        if (a.record.build_number != b.record.build_number)
            return a.record.build_number < b.record.build_number;
        if (a.channel != b.channel) return a.channel > b.channel;
        return a.record.build < b.record.build;
    });
    return hits;
}

/// Says what is wrong with a spec that nothing matches: its name, or the rest.
tl::unexpected<Error> nothing_found(const MatchSpec& spec, const Searched& sources) {
    std::vector<std::string> channels;
    for (const auto& channel : sources.channels) channels.push_back(channel.name());
    const auto where = fmt::format("{} for {}", join_or(channels), sources.platform);
    std::set<std::string> names;
    std::size_t all = 0;
    std::size_t builds = 0;
    std::optional<Version> newest;
    for (const auto& index : sources.indexes) {
        for (const auto name : index->names()) names.emplace(name);
        if (!spec.has_one_name()) continue;
        const auto found = index->find(spec.name);
        if (!found) return pass(found.error());
        all += found->choices(std::nullopt).size();
        for (const auto* row : found->choices(sources.exclude_newer)) {
            ++builds;
            auto version = Version::parse(found->version(*row));
            if (version && (!newest || *newest < *version)) newest = *std::move(version);
        }
    }
    if (newest)
        return fail(
            ErrorKind::NotFound,
            fmt::format("{}: matches none of the {} builds in {}", spec.to_string(), builds, where),
            fmt::format("the newest there is {} {}", spec.name, newest->to_string()));
    if (all > builds)
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: all {} builds in {} are newer than --exclude-newer allows",
                                spec.to_string(),
                                all,
                                where));
    const std::vector<std::string> sorted(names.begin(), names.end());
    const auto near = near_names(spec.name, sorted);
    return fail(ErrorKind::NotFound,
                fmt::format("{}: no package of this name in {}", spec.to_string(), where),
                near.empty() ? fmt::format("gpkg search '*{}*' looks inside of names", spec.name)
                             : fmt::format("did you mean {}?", join_or(near)));
}

/// What conda's `search --json` has of a record: its channel ends in the subdir.
Json search_json(const PackageRecord& record) {
    auto json = to_json(record);
    json["channel"] = record.channel + "/" + record.subdir;
    json["license"] = record.license;
    return json;
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

void print_details(Output& out, const PackageRecord& record) {
    const auto title = fmt::format("{} {} {}", record.name, record.version, record.build);
    out.result(out.bold(title));
    Table table;
    const auto row = [&](std::string_view name, std::string value) {
        if (!value.empty()) table.add({fmt::format("  {}", name), std::move(value)});
    };
    row("file name", record.fn);
    row("build number", std::to_string(record.build_number));
    row("channel", record.channel);
    row("subdir", record.subdir);
    row("size", record.size == 0 ? "" : human_size(record.size));
    row("license", printable(record.license));
    row("built", date_of(record.timestamp));
    row("url", record.url);
    row("md5", record.md5);
    row("sha256", record.sha256);
    for (std::size_t i = 0; i < record.depends.size(); ++i)
        row(i == 0 ? "depends" : "", printable(record.depends[i], kLongestSpec));
    for (std::size_t i = 0; i < record.constrains.size(); ++i)
        row(i == 0 ? "constrains" : "", printable(record.constrains[i], kLongestSpec));
    for (const auto& line : table.lines()) out.result(line);
    out.result("");
}

void print_table(const Context& context, const std::vector<Hit>& hits) {
    ChannelContext where;
    where.alias = context.config.channel_alias.value;
    where.home = context.home;
    Table table({4});
    table.add({"# Name", "Version", "Build", "Channel", "Size"});
    for (const auto& [record, version, place] : hits) {
        const auto channel = Channel::parse(record.channel, where);
        table.add({record.name,
                   record.version,
                   record.build,
                   (channel ? channel->name() : record.channel) + "/" + record.subdir,
                   record.size == 0 ? "" : human_size(record.size)});
    }
    for (const auto& line : table.lines()) context.out.result(line);
}

/// More names than anybody reads builds of.
Result<int> list_names(Context& context,
                       const MatchSpec& spec,
                       const std::vector<std::string>& names) {
    if (context.out.json_mode()) {
        Json document = Json::object();
        for (const auto& name : names) document[name] = Json::array();
        context.out.json(document);
        return 0;
    }
    for (const auto& name : names) context.out.result(name);
    context.out.note(fmt::format("{}: {} names; for builds, name one or match at most {}",
                                 spec.to_string(),
                                 names.size(),
                                 kMostNames));
    return 0;
}

tl::unexpected<Error> too_many(const MatchSpec& spec, std::size_t names) {
    return fail(ErrorKind::Usage,
                fmt::format("{}: {} names match, and of channels with shards the builds of at most "
                            "{} are looked at",
                            spec.to_string(),
                            names,
                            kMostNames),
                fmt::format("gpkg search '{}' lists the names", spec.name));
}

Result<int> search(Context& context, Options& options) {
    GPKG_TRY(const auto spec, parse_spec(options.spec));
    look_where_the_spec_says(spec, options.sources);
    Searched sources;
    GPKG_TRY(sources.platform, platform_of(context, options.sources));
    GPKG_TRY(sources.exclude_newer, newest_of(options.sources));
    GPKG_TRY(const auto channels, fetch_channels(context, options.sources, Extent::Named));
    std::vector<std::string> names{spec.name};
    if (!spec.has_one_name()) {
        GPKG_TRY(names, channels.names());
        std::erase_if(names, [&](const auto& name) {
            return spec.name_matcher && !spec.name_matcher->matches(name);
        });
        const bool asks_more = !is_name_alone(spec) || sources.exclude_newer;
        if (names.size() > kMostNames && !asks_more) return list_names(context, spec, names);
        if (names.size() > kMostNames && !channels.are_whole()) return too_many(spec, names.size());
    }
    GPKG_TRY(sources.indexes, channels.look_up(names));
    sources.channels = channels.list();
    GPKG_TRY(const auto hits, find(spec, names, sources));
    if (hits.empty()) return nothing_found(spec, sources);

    if (context.out.json_mode()) {
        Json document = Json::object();
        for (const auto& hit : hits) document[hit.record.name].push_back(search_json(hit.record));
        context.out.json(document);
    } else if (options.info) {
        for (const auto& hit : hits) print_details(context.out, hit.record);
    } else {
        print_table(context, hits);
    }
    return 0;
}

}  // namespace

Action bind_search(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    app.add_option("spec", options->spec, "a name, a glob or any spec")->type_name("SPEC");
    add_source_options(app, options->sources);
    app.add_flag("-i,--info", options->info, "everything about each build");
    app.footer(
        "Looks in the channels for builds that match, the newest last. Of a pattern that more than "
        "100 names match, it lists the names.\n"
        "  gpkg search 'pytorch>=2.4'\n"
        "  gpkg search -c conda-forge 'numpy[build=py312*]' --info");

    return [options](Context& context) { return search(context, *options); };
}

}  // namespace gpkg::cli
