#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/workflow/ask/built_with.hpp"
#include "cli/workflow/difference_table.hpp"
#include "cli/workflow/installed.hpp"
#include "cli/workflow/pip_packages.hpp"
#include "cli/workflow/requested.hpp"
#include "libcore/base/percent.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/disk_use.hpp"
#include "libcore/hardware/variant_columns.hpp"
#include "libcore/hardware/variant_inputs.hpp"
#include "libcore/net/url.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <tuple>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ListOptions {
    TargetOptions target;
    std::string filter;
    bool full_name = false;
    bool explicit_urls = false;
    bool md5 = false;
    bool sha256 = false;
    bool export_specs = false;
    bool canonical = false;
    bool reverse = false;
    bool no_pip = false;
    bool inputs = false;     ///< with the build inputs of packages
    bool size = false;       ///< with the disk usage of packages
    bool requested = false;  ///< without dependencies
    std::string sort;        ///< "name" or "size"
    std::string diff;        ///< the other environment's name or path
};

/// One line of the listing.
struct Item {
    std::string name, version, build, channel;
    const PackageRecord* record = nullptr;  ///< null: installed with pip
    VariantColumns variant{};
    std::vector<std::string> requested{};   ///< specs; empty: a dependency
    std::vector<std::string> pins{};        ///< specs; empty: not pinned
    std::optional<DiskUse> disk_use{};      ///< with --size
    std::optional<VariantInputs> inputs{};  ///< with --inputs, where they are known
};

/// As in conda: a regular expression that matches anywhere in the name, ignoring case.
Result<std::function<bool(const std::string&)>> name_filter(const ListOptions& options) {
    if (options.filter.empty()) return [](const std::string&) { return true; };
    try {
        const auto text = options.full_name ? "^(?:" + options.filter + ")$" : options.filter;
        const std::regex pattern(text, std::regex::ECMAScript | std::regex::icase);
        return [pattern](const std::string& name) { return std::regex_search(name, pattern); };
    } catch (const std::regex_error&) {
        return fail(ErrorKind::Usage,
                    fmt::format("'{}' is not a regular expression", options.filter),
                    "a part of a name works too: gpkg list torch");
    }
}

Json variant_json(const Item& item) {
    auto json = Json::object();
    for (const auto& [name, title, value] : kVariantColumns) {
        if (const auto& text = item.variant.*value; !text.empty()) json[std::string(name)] = text;
    }
    return json;
}

Json json_of(const Item& item) {
    const auto* record = item.record;
    Json json{
        {"base_url", record == nullptr ? "https://pypi.org" : without_secrets(record->channel)},
        {"build_number", record == nullptr ? 0 : record->build_number},
        {"build_string", item.build},
        {"channel", item.channel},
        {"dist_name", item.name + "-" + item.version + "-" + item.build},
        {"name", item.name},
        {"platform", record == nullptr ? "pypi" : record->subdir},
        {"version", item.version}};
    // The keys from here on are not conda's.
    if (auto variant = variant_json(item); !variant.empty()) json["variant"] = std::move(variant);
    if (item.inputs) json["variant_inputs"] = *item.inputs;
    if (record != nullptr) json["url"] = without_secrets(record->url);
    json["requested"] = !item.requested.empty();
    if (!item.requested.empty()) json["requested_specs"] = item.requested;
    if (!item.pins.empty()) json["pinned_specs"] = item.pins;
    if (item.disk_use) {
        json["disk_size"] = item.disk_use->bytes;
        json["disk_files"] = item.disk_use->files;
    }
    return json;
}

/// The columns with a value in any row, without python: that is the environment's.
std::vector<VariantColumn> telling_columns(const std::vector<Item>& items) {
    std::vector<VariantColumn> columns;
    for (const auto& column : kVariantColumns) {
        const auto tells = [&](const Item& item) { return !(item.variant.*column.value).empty(); };
        if (column.value != &VariantColumns::python &&
            std::any_of(items.begin(), items.end(), tells))
            columns.push_back(column);
    }
    return columns;
}

/// "blas_impl=mkl cuda_version=12.9"
std::string input_text(const Item& item) {
    if (!item.inputs) return "";
    std::string text;
    for (const auto& [key, value] : *item.inputs)
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", printable(key), printable(value));
    return text;
}

/// "numpy>=1.20,<1.25, scipy"
std::string specs_text(const std::vector<std::string>& specs) {
    std::vector<std::string> texts;
    texts.reserve(specs.size());
    for (const auto& spec : specs) texts.push_back(typed_spec(spec));
    return fmt::format("{}", fmt::join(texts, ", "));
}

void print_table(Output& out, const fs::path& path, const std::vector<Item>& items) {
    constexpr std::size_t kBuild = 10;
    constexpr std::size_t kChannel = 11;
    constexpr std::size_t kRequested = 9;
    constexpr std::size_t kPinned = 8;
    constexpr std::size_t kVersion = 8;
    constexpr std::size_t kName = 16;
    const auto any = [&](const auto& has) { return std::any_of(items.begin(), items.end(), has); };
    const auto columns = telling_columns(items);
    const bool has_inputs = any([](const Item& item) { return item.inputs.has_value(); });
    const bool has_sizes = any([](const Item& item) { return item.disk_use.has_value(); });
    const bool has_requests = any([](const Item& item) { return !item.requested.empty(); });
    const bool has_pins = any([](const Item& item) { return !item.pins.empty(); });

    std::vector<std::string> head{"# Name", "Version", "Build", "Channel"};
    for (const auto& column : columns) head.emplace_back(column.title);
    if (has_inputs) head.emplace_back("Built with");
    if (has_sizes) head.emplace_back("Size");
    const auto requested = head.size();
    if (has_requests) head.emplace_back("Requested");
    const auto pinned = head.size();
    if (has_pins) head.emplace_back("Pinned");
    const auto size = has_sizes ? requested - 1 : Screen::kUnlimited;
    const auto inputs = 4 + columns.size();

    Table table({size});
    if (has_inputs) table.may_shorten(inputs, kBuild);
    if (has_requests) table.may_shorten(requested, kRequested);
    if (has_pins) table.may_shorten(pinned, kPinned);
    table.may_shorten(3, kChannel, Keep::End);
    table.may_shorten(2, kBuild);
    if (has_inputs) table.may_drop(inputs);
    for (auto column = columns.size(); column > 0; --column) table.may_drop(3 + column);
    table.may_drop(3);
    table.may_drop(2);
    table.may_shorten(1, kVersion);
    table.may_shorten(0, kName);
    table.add(std::move(head));
    for (const auto& item : items) {
        std::vector<std::string> cells{item.requested.empty() ? item.name : out.bold(item.name),
                                       item.version,
                                       item.build,
                                       path_or_url(item.channel)};
        for (const auto& column : columns) cells.push_back(item.variant.*column.value);
        if (has_inputs) cells.push_back(input_text(item));
        if (has_sizes) cells.push_back(item.disk_use ? human_size(item.disk_use->bytes) : "");
        if (has_requests) cells.push_back(specs_text(item.requested));
        if (has_pins) cells.push_back(specs_text(item.pins));
        table.add(std::move(cells));
    }
    const auto screen = out.screen();
    out.result(shortened(fmt::format("# packages in environment at {}:", path.native()),
                         screen.width,
                         Keep::Start,
                         screen.utf8));
    out.result("#");
    out.result(table);
    if (!has_sizes) return;
    DiskUse total;
    for (const auto& item : items) {
        total.bytes += item.disk_use ? item.disk_use->bytes : 0;
        total.files += item.disk_use ? item.disk_use->files : 0;
    }
    out.result(
        fmt::format("#\n# {} in {}", human_size(total.bytes), count_text(total.files, "file")));
}

void print_specs(const Context& context, const std::vector<Item>& items) {
    context.out.result(
        fmt::format("# This file may be used to create an environment using:\n"
                    "# $ gpkg create --name <env> --file <this file>\n"
                    "# $ conda create --name <env> --file <this file>\n"
                    "# platform: {}",
                    context.config.platform.value));
    for (const auto& item : items) {
        if (item.record != nullptr)
            context.out.result(fmt::format("{}={}={}", item.name, item.version, item.build));
    }
}

Result<int> print_explicit(Context& context,
                           const fs::path& path,
                           const std::vector<Item>& items,
                           ExplicitChecksum checksum) {
    std::vector<PackageRecord> records;
    for (const auto& item : items) {
        if (item.record != nullptr) records.push_back(*item.record);
    }
    GPKG_TRY(auto text, explicit_text(context, path, std::move(records), checksum));
    text.pop_back();  // verbatim() ends the line
    context.out.verbatim(text);
    return 0;
}

std::vector<Item> items_of(const Context& context,
                           const fs::path& path,
                           const std::vector<PrefixRecord>& installed,
                           const ListOptions& options) {
    std::vector<Item> items;
    for (const auto& record : installed) {
        const auto& package = record.package;
        items.push_back({package.name,
                         package.version,
                         package.build,
                         channel_name(context, package.channel),
                         &package,
                         variant_columns(package)});
    }
    if (!options.no_pip) {
        const auto wheels = pip_packages(path, installed);
        const auto present = normal_names(wheels);
        for (const auto& wheel : wheels)
            items.push_back({wheel.name,
                             wheel.version,
                             "pypi_0",
                             "pypi",
                             nullptr,
                             wheel_columns(wheel, present)});
    }
    std::stable_sort(
        items.begin(), items.end(), [](const Item& a, const Item& b) { return a.name < b.name; });
    if (options.reverse && options.sort != "size") std::reverse(items.begin(), items.end());
    return items;
}

/// The pins of the environment and of the setting pinned_packages, by name.
Result<RequestedSpecs> pins_by_name(const Context& context, const Prefix& prefix) {
    GPKG_TRY(auto texts, prefix.pinned_specs());
    const auto& configured = context.config.pinned_packages.value;
    texts.insert(texts.end(), configured.begin(), configured.end());
    RequestedSpecs pins;
    for (const auto& text : texts)
        if (const auto spec = MatchSpec::parse(text)) pins[spec->name].push_back(text);
    return pins;
}

/// An environment as it is listed.
struct Listing {
    fs::path path;
    std::vector<PrefixRecord> installed;
    std::vector<Item> items;
};

/// The build inputs that are known without asking a server.
Result<void> add_inputs(Context& context, std::vector<Item>& items) {
    std::vector<PackageRecord> records;
    for (const auto& item : items) {
        if (item.record != nullptr) records.push_back(*item.record);
    }
    GPKG_TRY(auto inputs, built_with(context, {}, records, {true, true}));
    std::size_t place = 0;
    for (auto& item : items) {
        if (item.record != nullptr) item.inputs = std::move(inputs[place++]);
    }
    return {};
}

void add_sizes(Listing& listing) {
    const auto use = disk_use(listing.path, listing.installed);
    std::map<const PackageRecord*, const DiskUse*> by_record;
    for (std::size_t i = 0; i < use.size(); ++i) by_record[&listing.installed[i].package] = &use[i];
    for (auto& item : listing.items)
        if (item.record != nullptr) item.disk_use = *by_record.at(item.record);
}

Result<Listing> listing_of(Context& context,
                           const TargetOptions& target,
                           const ListOptions& options) {
    GPKG_TRY(const auto wanted, name_filter(options));
    GPKG_TRY(auto found, read_installed(context, target));
    Listing listing{found.prefix.path(), std::move(found.records), {}};
    listing.items = items_of(context, listing.path, listing.installed, options);
    std::erase_if(listing.items, [&](const Item& item) { return !wanted(item.name); });
    if (options.inputs) GPKG_CHECK(add_inputs(context, listing.items));
    GPKG_TRY(const auto requested, requested_in(listing.path, listing.installed));
    GPKG_TRY(const auto pins, pins_by_name(context, found.prefix));
    const auto specs_of = [](const RequestedSpecs& by_name, const std::string& name) {
        const auto specs = by_name.find(name);
        return specs == by_name.end() ? std::vector<std::string>() : specs->second;
    };
    for (auto& item : listing.items) {
        if (item.record == nullptr) continue;
        item.requested = specs_of(requested, item.name);
        item.pins = specs_of(pins, item.name);
    }
    if (options.requested)
        std::erase_if(listing.items, [](const Item& item) {
            return item.record != nullptr && item.requested.empty();
        });
    if (options.size || options.sort == "size") add_sizes(listing);
    if (options.sort == "size") {
        const auto bytes = [](const Item& item) {
            return item.disk_use ? item.disk_use->bytes : 0;
        };
        std::ranges::stable_sort(listing.items, std::ranges::greater(), bytes);
        if (options.reverse) std::ranges::reverse(listing.items);
    }
    return listing;
}

/// The packages in which two environments differ. In JSON "here" or "there" is null where the
/// package is not installed.
Result<int> print_differences(Context& context, const Listing& here, const ListOptions& options) {
    GPKG_TRY(const auto there, listing_of(context, target_of(options.diff), options));
    using Pair = std::pair<const Item*, const Item*>;
    // A name may be there twice: as a conda package and installed with pip.
    std::map<std::pair<std::string, bool>, Pair> by_name;
    const auto enter = [&](const std::vector<Item>& items, const Item* Pair::*side) {
        for (const auto& item : items) {
            const bool is_second = by_name[{item.name, false}].*side != nullptr;
            by_name[{item.name, is_second}].*side = &item;
        }
    };
    enter(here.items, &Pair::first);
    enter(there.items, &Pair::second);
    const auto key = [](const Item& item) {
        return std::tie(item.version, item.build, item.channel);
    };
    const auto text = [](const Item* item) -> std::optional<PackageText> {
        if (item == nullptr) return std::nullopt;
        return PackageText{item->version, item->build, path_or_url(item->channel)};
    };
    auto array = Json::array();
    DifferenceTable table;
    for (const auto& [place, pair] : by_name) {
        const auto& name = place.first;
        const auto& [mine, theirs] = pair;
        if (mine != nullptr && theirs != nullptr && key(*mine) == key(*theirs)) continue;
        array.push_back({{"name", name},
                         {"here", mine == nullptr ? Json() : json_of(*mine)},
                         {"there", theirs == nullptr ? Json() : json_of(*theirs)}});
        const auto how = mine == nullptr || theirs == nullptr
                             ? std::string()
                             : variant_changes(mine->variant, theirs->variant);
        table.add(name, text(mine), text(theirs), how);
    }
    if (context.out.json_mode()) {
        context.out.json(array);
        return 0;
    }
    table.print(context.out);
    context.out.note(fmt::format(
        "{} between {} and {}",
        array.empty() ? fmt::format("no differences in {}", count_text(by_name.size(), "package"))
                      : fmt::format("{} of {} packages differ", array.size(), by_name.size()),
        here.path.native(),
        there.path.native()));
    return 0;
}

Result<int> list(Context& context, const ListOptions& options) {
    GPKG_TRY(const auto listing, listing_of(context, options.target, options));
    if (!options.diff.empty()) return print_differences(context, listing, options);
    const auto& [path, installed, items] = listing;

    if (context.out.json_mode()) {
        auto array = Json::array();
        for (const auto& item : items) array.push_back(json_of(item));
        context.out.json(array);
        return 0;
    }
    if (items.empty() && !options.filter.empty())
        context.out.note(
            fmt::format("no package in {} matches {}{}",
                        path.native(),
                        printable(options.filter),
                        options.target.name.empty() && options.target.prefix.empty() &&
                                is_environment_name(context.config, options.filter)
                            ? fmt::format("; did you mean -n {}?", shell_word(options.filter))
                            : ""));
    if (options.explicit_urls && options.filter.empty())
        GPKG_CHECK(warn_of_what_files_lack(context, path, installed));
    if (options.explicit_urls)
        return print_explicit(
            context, path, items, options.md5 ? ExplicitChecksum::Md5 : ExplicitChecksum::Best);
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
    const auto options = std::make_shared<ListOptions>();
    add_target_options(app, options->target);
    app.add_option("regex", options->filter, "list only packages with a matching name")
        ->type_name("REGEX");
    app.add_flag("-f,--full-name", options->full_name, "match the whole name");
    auto* explicit_urls = app.add_flag(
        "--explicit", options->explicit_urls, "print URLs and checksums, for create --file");
    auto* md5 =
        app.add_flag("--md5", options->md5, "with --explicit: print MD5 instead of SHA-256");
    md5->needs(explicit_urls);
    app.add_flag("--sha256", options->sha256, "accepted: with --explicit, SHA-256 is the default")
        ->needs(explicit_urls)
        ->excludes(md5)
        ->group("");
    auto* specs =
        app.add_flag("-e,--export", options->export_specs, "print specs, for create --file");
    auto* canonical = app.add_flag(
        "-c,--canonical", options->canonical, "print channel/subdir::name-version-build");
    explicit_urls->excludes(specs)->excludes(canonical);
    specs->excludes(canonical);
    app.add_flag("--requested", options->requested, "leave out dependencies");
    app.add_option("--sort", options->sort, "sort by name or by size, the largest first")
        ->type_name("KEY")
        ->check(one_of({"name", "size"}));
    app.add_flag("--reverse", options->reverse, "reverse the order");
    app.add_flag("--no-pip", options->no_pip, "leave out packages installed with pip");
    app.add_flag("--size", options->size, "show the disk space of each package")
        ->excludes(explicit_urls)
        ->excludes(specs)
        ->excludes(canonical);
    app.add_flag(
           "--inputs", options->inputs, "show the build inputs of packages, where they are known")
        ->excludes(explicit_urls)
        ->excludes(specs)
        ->excludes(canonical);
    auto* inputs = app.get_option("--inputs");
    app.add_option("--diff", options->diff, "show how another environment differs")
        ->type_name("NAME|PATH")
        ->excludes(inputs)
        ->excludes(explicit_urls)
        ->excludes(specs)
        ->excludes(canonical);
    app.footer(
        "Lists the packages of an environment, those installed with pip too. The column "
        "Requested\nshows the specs of packages that you requested; the others are "
        "dependencies. The column\nPinned shows pins.\n`gpkg closure` shows the size of packages "
        "with their "
        "dependencies.\n\n"
        "  gpkg list -n ml\n"
        "  gpkg list -n ml torch\n"
        "  gpkg list -n ml --requested\n"
        "  gpkg list -n ml --sort size          # the largest packages first\n"
        "  gpkg list -n ml --diff other\n"
        "  gpkg list -n ml --explicit > ml.txt");

    return [options](Context& context) { return list(context, *options); };
}

}  // namespace gpkg::cli
