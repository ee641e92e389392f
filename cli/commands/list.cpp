#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/workflow/pip_packages.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/env/transaction.hpp"
#include "libcore/manifest/spec_file.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
    TargetOptions target;
    std::string filter;
    bool full_name = false;
    bool explicit_urls = false;
    bool export_specs = false;
    bool canonical = false;
    bool reverse = false;
    bool no_pip = false;
};

/// One line of the listing.
struct Item {
    std::string name, version, build, channel;
    const PackageRecord* record = nullptr;  ///< null for what pip installed
};

/// Conda's own: a regular expression found anywhere in the name, in any case.
Result<std::function<bool(const std::string&)>> name_filter(const Options& options) {
    if (options.filter.empty()) return [](const std::string&) { return true; };
    try {
        const auto text = options.full_name ? "^(?:" + options.filter + ")$" : options.filter;
        const std::regex pattern(text, std::regex::ECMAScript | std::regex::icase);
        return [pattern](const std::string& name) { return std::regex_search(name, pattern); };
    } catch (const std::regex_error&) {
        return fail(ErrorKind::Usage,
                    fmt::format("{}: is no regular expression", options.filter),
                    "a plain part of a name does as well, e.g. gpkg list torch");
    }
}

/// "conda-forge" for a channel that is known by name, else its URL.
std::string channel_name(const Context& context, const std::string& url) {
    ChannelContext where;
    where.alias = context.config.channel_alias.value;
    where.home = context.home;
    const auto channel = url.empty() ? fail(ErrorKind::NotFound, "") : Channel::parse(url, where);
    return channel ? channel->name() : url;
}

Json to_json(const Item& item) {
    const auto* record = item.record;
    return {{"base_url", record == nullptr ? "https://pypi.org" : record->channel},
            {"build_number", record == nullptr ? 0 : record->build_number},
            {"build_string", item.build},
            {"channel", item.channel},
            {"dist_name", item.name + "-" + item.version + "-" + item.build},
            {"name", item.name},
            {"platform", record == nullptr ? "pypi" : record->subdir},
            {"version", item.version}};
}

void print_table(Output& out, const fs::path& path, const std::vector<Item>& items) {
    out.result(fmt::format("# packages in environment at {}:\n#", path.native()));
    Table table;
    table.add({"# Name", "Version", "Build", "Channel"});
    for (const auto& item : items) table.add({item.name, item.version, item.build, item.channel});
    for (const auto& line : table.lines()) out.result(line);
}

void print_specs(const Context& context, const std::vector<Item>& items) {
    context.out.result(
        fmt::format("# This file may be used to create an environment using:\n"
                    "# $ gpkg create --name <env> --file <this file>\n"
                    "# platform: {}",
                    context.config.platform.value));
    for (const auto& item : items) {
        if (item.record != nullptr)
            context.out.result(fmt::format("{}={}={}", item.name, item.version, item.build));
    }
}

Result<int> print_explicit(const Context& context,
                           const fs::path& path,
                           const std::vector<Item>& items) {
    std::vector<PackageRecord> records;
    for (const auto& item : items) {
        if (item.record == nullptr) continue;
        if (item.record->url.empty())
            return fail(ErrorKind::Unsupported,
                        fmt::format("{}: nothing tells where {} was downloaded from",
                                    path.native(),
                                    item.record->distribution()));
        records.push_back(*item.record);
    }
    auto text = explicit_file(records, context.config.platform.value);
    text.pop_back();  // result() ends the line
    context.out.result(text);
    return 0;
}

std::vector<Item> items_of(const Context& context,
                           const fs::path& path,
                           const std::vector<PrefixRecord>& installed,
                           const Options& options) {
    std::vector<Item> items;
    for (const auto& record : installed) {
        const auto& package = record.package;
        items.push_back({package.name,
                         package.version,
                         package.build,
                         channel_name(context, package.channel),
                         &package});
    }
    if (!options.no_pip) {
        for (auto& package : pip_packages(path, installed))
            items.push_back(
                {std::move(package.name), std::move(package.version), "pypi_0", "pypi"});
    }
    std::stable_sort(
        items.begin(), items.end(), [](const Item& a, const Item& b) { return a.name < b.name; });
    if (options.reverse) std::reverse(items.begin(), items.end());
    return items;
}

Result<int> list(Context& context, const Options& options) {
    GPKG_TRY(const auto path, existing_prefix(context, options.target));
    GPKG_TRY(const auto wanted, name_filter(options));
    if (prefix_condition(path) == PrefixCondition::Interrupted)
        context.out.warn(fmt::format(
            "{}: an earlier command was interrupted; the next change brings it in order",
            path.native()));
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(const auto installed, prefix.records());
    auto items = items_of(context, path, installed, options);
    std::erase_if(items, [&](const Item& item) { return !wanted(item.name); });

    if (context.out.json_mode()) {
        auto array = Json::array();
        for (const auto& item : items) array.push_back(to_json(item));
        context.out.json(array);
        return 0;
    }
    if (options.explicit_urls) return print_explicit(context, path, items);
    if (options.export_specs) {
        print_specs(context, items);
    } else if (options.canonical) {
        for (const auto& item : items)
            context.out.result(fmt::format("{}{}::{}-{}-{}",
                                           item.channel,
                                           item.record == nullptr ? "" : "/" + item.record->subdir,
                                           item.name,
                                           item.version,
                                           item.build));
    } else {
        print_table(context.out, path, items);
    }
    return 0;
}

}  // namespace

Action bind_list(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_target_options(app, options->target);
    app.add_option("regex", options->filter, "list only packages whose name contains this")
        ->type_name("REGEX");
    app.add_flag("-f,--full-name", options->full_name, "the whole name must match");
    auto* explicit_urls = app.add_flag(
        "--explicit", options->explicit_urls, "as a file of URLs and checksums for create --file");
    auto* specs =
        app.add_flag("-e,--export", options->export_specs, "as a file of specs for create --file");
    auto* canonical =
        app.add_flag("-c,--canonical", options->canonical, "as channel/subdir::name-version-build");
    explicit_urls->excludes(specs)->excludes(canonical);
    specs->excludes(canonical);
    app.add_flag("--reverse", options->reverse, "from the end of the alphabet");
    app.add_flag("--no-pip", options->no_pip, "leave out what pip installed");
    app.footer(
        "Lists what is installed in an environment, also what pip put there.\n"
        "  gpkg list -n ml torch\n"
        "  gpkg list -n ml --explicit > ml.txt");

    return [options](Context& context) { return list(context, *options); };
}

}  // namespace gpkg::cli
