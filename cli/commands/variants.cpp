#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/workflow/ask/built_with.hpp"
#include "cli/workflow/ask/fitting.hpp"
#include "cli/workflow/ask/found.hpp"
#include "cli/workflow/ask/question.hpp"
#include "cli/workflow/installed.hpp"
#include "cli/workflow/record_text.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/base/number.hpp"
#include "libcore/base/percent.hpp"
#include "libcore/base/text.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/cuda_limits.hpp"
#include "libcore/hardware/variant_columns.hpp"
#include "libcore/hardware/variant_inputs.hpp"
#include "libcore/solve/machine_needs.hpp"
#include "libcore/spec/record_version.hpp"
#include "solver/solver.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Columns of variant inputs, and characters of one of their cells.
constexpr std::size_t kMostInputs = 6;
constexpr std::size_t kLongestInput = 24;

constexpr std::string_view kAllVersions = "all";

struct VariantsOptions {
    SourceOptions sources;
    std::string spec;
    std::string versions = "1";  ///< how many, or kAllVersions
    bool inputs = false;
};

/// Why a build that fits may not run as it should.
struct Caution {
    std::string why;  ///< empty: it may
    std::string in_short;
};

struct Row {
    PackageRecord record;
    AcceleratorOf accelerator;
    VariantBuild build;
    std::string obstacle;   ///< why it does not go with the machine; empty: it does
    bool is_open = false;   ///< the obstacle is an assumed value of the machine
    Caution caution;        ///< of one that goes with it
    std::string hidden_by;  ///< the channel that keeps it out unless its own is asked for
};

/// Of another channel than `hiding`, the one that keeps all others out.
bool is_hidden(const PackageRecord& record, const std::optional<std::string>& hiding) {
    return hiding && record.channel != *hiding;
}

/// The records of the newest versions, the newest first: so many of all, and so many of what is not
/// hidden.
std::vector<PackageRecord> newest(std::vector<PackageRecord> records,
                                  std::size_t versions,
                                  const std::optional<std::string>& hiding) {
    std::reverse(records.begin(), records.end());
    const auto is_among = [&](std::vector<Version>& newest_ones, const Version& version) {
        if (!newest_ones.empty() && newest_ones.back() == version) return true;
        if (newest_ones.size() == versions) return false;
        newest_ones.push_back(version);
        return true;
    };
    std::vector<Version> of_all;
    std::vector<Version> of_visible;
    std::erase_if(records, [&](const PackageRecord& record) {
        const auto version = version_of(record);
        if (!version) return true;
        const bool is_new = is_among(of_all, *version);
        const bool is_new_here = !is_hidden(record, hiding) && is_among(of_visible, *version);
        return !is_new && !is_new_here;
    });
    return records;
}

/// With strict priority the first channel that has the name, which hides it in all others.
Result<std::optional<std::string>> hiding_channel(const Sources& sources, const MatchSpec& spec) {
    if (sources.priority != ChannelPriority::Strict || spec.channel) return std::nullopt;
    for (const auto& index : sources.indexes) {
        GPKG_TRY(const auto found, index->find(spec.name));
        if (!found.rows().empty()) return index->source().channel;
    }
    return std::nullopt;
}

/// Of each version the build that would be taken first; what another channel hides comes last.
Result<void> sort_by_preference(Context& context,
                                const Sources& sources,
                                MatchSpec asked,
                                std::vector<PackageRecord>& records) {
    ChangeRequest request;
    request.specs.push_back(std::move(asked));
    GPKG_CHECK(heed_usual_accelerator(context, request.accelerators));
    GPKG_TRY(auto question, question_of(context, sources, request));
    GPKG_TRY(const auto depends_on_vendor, prefer_vendor(question));
    if (depends_on_vendor) context.out.warn(*depends_on_vendor);
    GPKG_TRY(const auto preferred, solver::in_order_of_preference(question.problem));
    std::map<std::string_view, std::size_t> places;  // by URL
    for (const auto& record : preferred) places.emplace(record.url, places.size());
    const auto place = [&](const PackageRecord& record) {
        const auto found = places.find(record.url);
        return found == places.end() ? places.size() : found->second;
    };
    const auto of_version = [](auto from, auto end) {
        return std::find_if_not(from, end, [&](const PackageRecord& record) {
            return version_of(record).value() == version_of(*from).value();
        });
    };
    for (auto from = records.begin(); from != records.end();) {
        const auto to = of_version(from, records.end());
        std::stable_sort(
            from, to, [&](const auto& a, const auto& b) { return place(a) < place(b); });
        from = to;
    }
    return {};
}

Json json_of(const Sources& sources, const std::vector<Row>& rows) {
    Json document{
        {"success", true}, {"platform", sources.machine.platform}, {"variants", Json::array()}};
    for (const auto& row : rows) {
        auto one = record_json(row.record);
        Json variant;
        for (const auto& [name, title, value] : kVariantColumns) {
            const auto& text = row.build.columns.*value;
            variant[std::string(name)] = text.empty() ? Json() : Json(text);
        }
        variant["evidence"] =
            row.accelerator.evidence.empty() ? Json() : Json(row.accelerator.evidence);
        one["variant"] = std::move(variant);
        one["variant_inputs"] = row.build.inputs ? Json(*row.build.inputs) : Json();
        one["fits"] = row.obstacle.empty();
        one["reason"] = row.obstacle.empty() ? Json() : Json(row.obstacle);
        one["caution"] = row.caution.why.empty() ? Json() : Json(row.caution.why);
        one["hidden_by"] = row.hidden_by.empty() ? Json() : Json(row.hidden_by);
        document["variants"].push_back(std::move(one));
    }
    return document;
}

/// Whether the key is a virtual package, which is not a variable of the recipe.
bool is_virtual_key(std::string_view key) { return key.starts_with("__"); }

/// "?" where nothing is known of the build.
std::string input_cell(const VariantBuild& build, const std::string& key) {
    if (!build.inputs) return "?";
    const auto found = build.inputs->find(key);
    if (found == build.inputs->end()) return "";
    // ">=13" of "__cuda >=13": the heading has the name.
    std::string_view value = found->second;
    if (is_virtual_key(key) && value.starts_with(key + ' ')) value.remove_prefix(key.size() + 1);
    return printable(value, kLongestInput);
}

std::vector<std::string> shown_keys(const std::vector<std::string>& keys) {
    std::vector<std::string> shown(keys.size());
    std::transform(keys.begin(), keys.end(), shown.begin(), [](const std::string& key) {
        return printable(key, kLongestInput);
    });
    return shown;
}

std::string fit_cell(const Row& row) {
    if (!row.obstacle.empty()) return (row.is_open ? "unknown: " : "no: ") + row.obstacle;
    if (!row.hidden_by.empty()) return fmt::format("hidden by {}", path_or_url(row.hidden_by));
    return row.caution.why.empty() ? "yes" : fmt::format("yes, {}", row.caution.in_short);
}

/// The columns of records by which the rows differ, and the accelerator of what is for GPUs alone.
std::vector<VariantColumn> differing_columns(const std::vector<Row>& rows) {
    std::vector<VariantColumn> shown;
    for (const auto& column : kVariantColumns) {
        const auto differs = [&](const Row& row) {
            return row.build.columns.*column.value != rows.front().build.columns.*column.value;
        };
        const bool is_for_gpus = column.value == &VariantColumns::accelerator &&
                                 rows.front().accelerator.accelerator != Accelerator::None;
        if (is_for_gpus || std::any_of(rows.begin(), rows.end(), differs)) shown.push_back(column);
    }
    return shown;
}

Table table_of(const Context& context,
               const Machine& machine,
               const std::vector<Row>& rows,
               const std::vector<std::string>& keys) {
    const auto shown = differing_columns(rows);
    std::set<std::string> channels;
    for (const auto& row : rows) channels.insert(channel_text(context, row.record));

    Table table;
    std::vector<std::string> head{"# Version", "Build"};
    for (const auto& column : shown) head.emplace_back(column.title);
    for (auto& key : shown_keys(keys)) head.push_back(std::move(key));
    if (channels.size() > 1) head.emplace_back("Channel");
    head.push_back(machine.profile ? "Fits " + machine.name : "Fits here");
    const auto fits = head.size() - 1;
    table.may_wrap(fits);
    // The build string, which a request names, is kept longest.
    for (auto column = fits - 1; column > 1; --column) table.may_drop(column);
    table.add(std::move(head));
    for (const auto& row : rows) {
        std::vector<std::string> cells{row.record.version, row.record.build};
        for (const auto& column : shown) cells.push_back(row.build.columns.*column.value);
        for (const auto& key : keys) cells.push_back(input_cell(row.build, key));
        if (channels.size() > 1) cells.push_back(channel_text(context, row.record));
        cells.push_back(fit_cell(row));
        table.add(std::move(cells));
    }
    return table;
}

/// What says which accelerator a build is for.
void print_evidence(Output& out, const std::vector<Row>& rows) {
    std::map<std::string, std::string> evidence;
    for (const auto& row : rows) {
        if (!row.accelerator.evidence.empty())
            evidence.emplace(to_string(row.accelerator.accelerator), row.accelerator.evidence);
    }
    for (const auto& [name, what] : evidence)
        out.note(fmt::format("accelerator {}: detected from \"{}\"", name, what));
}

void print(const Context& context, const Machine& machine, const std::vector<Row>& rows) {
    std::vector<VariantBuild> builds;
    builds.reserve(rows.size());
    for (const auto& row : rows) builds.push_back(row.build);
    const auto telling = telling_inputs(builds, kMostInputs);
    auto& out = context.out;
    out.result(table_of(context, machine, rows, telling.keys));
    auto variables = telling.keys;
    std::erase_if(variables, is_virtual_key);
    if (!variables.empty())
        out.note(fmt::format("build inputs (variables of the recipe): {}",
                             join_some(shown_keys(variables), "and", kMostInputs)));
    if (!telling.more.empty())
        out.note(fmt::format("other inputs that differ: {}",
                             join_some(shown_keys(telling.more), "and", kMostInputs)));

    if (out.verbose()) print_evidence(out, rows);
    const auto hidden = std::find_if(
        rows.begin(), rows.end(), [](const Row& row) { return !row.hidden_by.empty(); });
    if (hidden != rows.end())
        out.note(
            fmt::format("channel priority is strict; to use builds hidden by {}, request their "
                        "channel, e.g. '{}::{}'",
                        path_or_url(hidden->hidden_by),
                        channel_title(context, hidden->record.channel),
                        hidden->record.name));
}

/// Accelerators of which only older versions have builds.
void note_older(const Context& context,
                const std::vector<PackageRecord>& all,
                const std::vector<Row>& rows) {
    std::set<Accelerator> seen{Accelerator::None};
    for (const auto& row : rows) seen.insert(row.accelerator.accelerator);
    for (auto record = all.rbegin(); record != all.rend(); ++record) {
        const auto accelerator = accelerator_of(*record).accelerator;
        if (!seen.insert(accelerator).second) continue;
        context.out.note(fmt::format("the newest version with {} builds is {}",
                                     compute_platform(accelerator),
                                     record->version));
    }
}

/// How many versions there are beside those shown.
void note_more(const Context& context,
               const std::vector<PackageRecord>& all,
               const std::vector<Row>& rows) {
    std::set<Version> versions;
    for (const auto& record : all) {
        if (const auto version = version_of(record)) versions.insert(*version);
    }
    std::set<Version> shown;
    for (const auto& row : rows) shown.insert(version_of(row.record).value());
    if (shown.size() < versions.size())
        context.out.note(
            fmt::format("{} of {} versions; for more: --versions N, or --versions all",
                        shown.size() == 1 ? "newest" : fmt::format("newest {}", shown.size()),
                        versions.size()));
}

Caution caution_of(const PackageRecord& record,
                   Accelerator vendor,
                   const Sources& sources,
                   const CudaLimits& limits) {
    if (vendor != Accelerator::None && !has_vendor(sources.virtual_packages, vendor))
        return {fmt::format("is a {} build, but {} has no {} GPU",
                            compute_platform(vendor),
                            sources.machine.name,
                            vendor_title(vendor)),
                "but no matching GPU"};
    if (vendor != Accelerator::Nvidia) return {};
    return {limits.caution_of(record).value_or(""), "but only as PTX"};
}

Result<int> variants(Context& context, VariantsOptions options) {
    GPKG_TRY(const auto spec, parse_spec(options.spec));
    ask_channels_of(std::span(&spec, 1), options.sources);
    if (!spec.has_one_name())
        return fail(ErrorKind::Usage,
                    fmt::format("{}: matches more than one package name", spec.to_string()),
                    "name one package, e.g. gpkg variants pytorch");
    const std::vector<std::string> names{spec.name};
    GPKG_TRY(const auto sources, open_sources(context, options.sources, names));
    const Searched searched{
        sources.channels, sources.machine.platform, sources.indexes, sources.exclude_newer};
    GPKG_TRY(const auto found, find_records(spec, names, searched));
    if (found.empty()) return nothing_found(context, spec, options.sources, searched);
    GPKG_TRY(const auto hiding, hiding_channel(sources, spec));
    const auto versions = whole_number<std::size_t>(options.versions)
                              .value_or(std::numeric_limits<std::size_t>::max());
    auto records = newest(found, versions, hiding);
    GPKG_CHECK(sort_by_preference(context, sources, spec, records));
    GPKG_TRY(
        auto inputs,
        built_with(context, sources.channels, records, {options.inputs, options.sources.offline}));
    const CudaLimits limits(sources.virtual_packages);
    std::vector<Row> rows;
    for (std::size_t i = 0; i < records.size(); ++i) {
        auto& record = records[i];
        Row row;
        row.accelerator = accelerator_of(record);
        row.build = {variant_columns(record), std::move(inputs[i])};
        GPKG_TRY(row.obstacle, obstacle_of(context, sources, record));
        row.is_open = lacks_only_assumed(record, sources.virtual_packages);
        if (row.obstacle.empty())
            row.caution = caution_of(record, row.accelerator.accelerator, sources, limits);
        if (is_hidden(record, hiding)) row.hidden_by = channel_name(context, *hiding);
        row.record = std::move(record);
        rows.push_back(std::move(row));
    }
    if (context.out.json_mode()) {
        context.out.json(json_of(sources, rows));
        return 0;
    }
    print(context, sources.machine, rows);
    note_older(context, found, rows);
    note_more(context, found, rows);
    std::vector<std::string> obstacles;
    obstacles.reserve(rows.size());
    for (const auto& row : rows) {
        if (!row.obstacle.empty()) obstacles.push_back(row.obstacle);
    }
    if (const auto note = assumed_note(sources.machine.given, sources.virtual_packages, obstacles);
        note && !obstacles.empty())
        context.out.note("note: " + *note);
    return 0;
}

}  // namespace

Action bind_variants(CLI::App& app) {
    const auto options = std::make_shared<VariantsOptions>();
    app.add_option("spec", options->spec, "a name, or a spec like 'pytorch=2.9'")
        ->required()
        ->type_name("SPEC");
    add_source_options(app, options->sources);
    app.add_option("--versions", options->versions, "show this many of the newest versions, or all")
        ->check([](const std::string& count) {
            const auto number = whole_number<std::size_t>(count);
            return count == kAllVersions || number.value_or(0) > 0
                       ? ""
                       : "expected a number above 0, or all";
        })
        ->type_name("N");
    app.add_flag("--inputs", options->inputs, "read missing variant inputs from the packages");
    app.footer(
        "Lists the builds of a package, how they differ, and whether each can be installed on this "
        "machine. Variant inputs are shown if the channel publishes them, as `gpkg index` does. "
        "With --inputs, they are read from the packages (about 64 KiB each) and cached.\n\n"
        "  gpkg variants pytorch\n"
        "  gpkg variants pytorch=2.8 --for a100\n"
        "  gpkg variants pytorch --inputs");

    return [options](Context& context) { return variants(context, *options); };
}

}  // namespace gpkg::cli
