#include "cli/workflow/change_report.hpp"

#include "cli/environments.hpp"
#include "cli/table.hpp"
#include "cli/workflow/installed.hpp"
#include "cli/workflow/record_text.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/base/percent.hpp"
#include "libcore/base/text.hpp"
#include "libcore/channel/mirrored_channels.hpp"
#include "libcore/env/generation.hpp"
#include "libcore/net/url.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

enum class PlanAction { Install, Upgrade, Downgrade, ChangeBuild, Reinstall, Remove };

/// How a group of the plan is shown: never by its colour alone.
struct PlanGroup {
    PlanAction action;
    std::string_view title;
    std::string_view done;  ///< the title once the change is applied
    char mark;
    Style style;
};
/// By PlanAction.
constexpr auto kPlanGroups = std::to_array<PlanGroup>({
    {PlanAction::Install, "Install", "installed", '+', Style::Green},
    {PlanAction::Upgrade, "Upgrade", "upgraded", '^', Style::Cyan},
    {PlanAction::Downgrade, "Downgrade", "downgraded", 'v', Style::Yellow},
    {PlanAction::ChangeBuild, "Change build", "changed the build of", '~', Style::Cyan},
    {PlanAction::Reinstall, "Reinstall", "reinstalled", '=', Style::Cyan},
    {PlanAction::Remove, "Remove", "removed", '-', Style::Red},
});

/// A package of the plan.
struct PlanRow {
    PlanAction action = PlanAction::Install;
    const PackageRecord* before = nullptr;  ///< installed; null: it is new
    const PackageRecord* after = nullptr;   ///< null: it is removed

    const PackageRecord& record() const { return after == nullptr ? *before : *after; }
};

PlanAction replacing(const PackageRecord& before, const PackageRecord& after) {
    if (before.version == after.version)
        return is_same_archive(before, after) ? PlanAction::Reinstall : PlanAction::ChangeBuild;
    const auto old_version = version_of(before);
    const auto new_version = version_of(after);
    if (!old_version || !new_version || *old_version < *new_version) return PlanAction::Upgrade;
    return *new_version < *old_version ? PlanAction::Downgrade : PlanAction::ChangeBuild;
}

/// By name.
std::vector<PlanRow> plan_rows(const Change& change) {
    std::map<std::string_view, PlanRow> rows;
    for (const auto& record : change.unlink) rows[record.name()].before = &record.package;
    for (const auto& record : change.link) rows[record.name].after = &record;
    std::vector<PlanRow> sorted;
    for (auto& [name, row] : rows) {
        if (row.after == nullptr)
            row.action = PlanAction::Remove;
        else if (row.before != nullptr)
            row.action = replacing(*row.before, *row.after);
        sorted.push_back(row);
    }
    return sorted;
}

/// How many packages each group of the plan has, in the order of kPlanGroups.
std::array<std::size_t, kPlanGroups.size()> group_sizes(const Change& change) {
    std::array<std::size_t, kPlanGroups.size()> sizes{};
    for (const auto& row : plan_rows(change)) ++sizes.at(static_cast<std::size_t>(row.action));
    return sizes;
}

class ChangeTable {
public:
    ChangeTable(const Context& context,
                const Change& change,
                const RequestedSpecs& requested,
                const std::vector<PackageRecord>& fetch)
        : context_(context),
          rows_(plan_rows(change)),
          reasons_(change.removal_reasons),
          build_reasons_(change.build_reasons) {
        std::set<std::string_view> names;  // whose specs the change replaces
        for (const auto& spec : change.requested) {
            if (names.insert(spec.name).second) requested_[spec.name].clear();
            requested_[spec.name].push_back(as_typed(spec));
        }
        for (const auto& [name, specs] : requested) {
            if (names.contains(name)) continue;
            for (const auto& spec : specs) requested_[name].push_back(typed_spec(spec));
        }
        for (const auto& record : fetch) sizes_[record.name] = record.size;
    }

    void print() {
        if (rows_.empty()) return;
        auto& out = context_.out;
        const auto lines = table().lines(out.screen());
        out.print(out.faint(lines.front()));
        std::size_t line = 1;
        for (const auto& group : kPlanGroups) {
            bool is_first = true;
            for (const auto& row : rows_) {
                if (row.action != group.action) continue;
                if (std::exchange(is_first, false)) out.print(out.styled(group.style, group.title));
                out.print(lines.at(line++));
            }
        }
    }

    /// The requested packages once more: all, where they may have scrolled away from the question,
    /// else those with builds for accelerators; and what of the machine decided between builds.
    void repeat_requested() {
        constexpr std::size_t kScreenful = 20;
        std::vector<std::string> titles;
        std::set<std::string> reasons;
        for (const auto& row : rows_) {
            const auto& record = row.record();
            if (row.action == PlanAction::Remove || !requested_.contains(record.name)) continue;
            const auto remark = accelerator_remark(record);
            if (rows_.size() > kScreenful || !remark.empty())
                titles.push_back(record_title(record) + remark);
            const auto reason = build_reasons_.find(record.name);
            if (reason != build_reasons_.end()) reasons.insert(reason->second);
        }
        if (titles.empty()) return;
        auto& out = context_.out;
        out.print("");
        out.print(fmt::format("Requested: {}", fmt::join(titles, ", ")));
        for (const auto& reason : reasons) out.print(reason);
    }

private:
    /// The packages in the order of their groups, below a row of headings.
    Table table() {
        enum Columns : std::size_t { Name, Version, Build, ChannelName, Size };
        constexpr std::size_t kBuild = 12;
        constexpr std::size_t kChannel = 11;
        constexpr std::size_t kVersion = 10;
        constexpr std::size_t kLongName = 26;
        constexpr std::size_t kName = 16;
        constexpr std::size_t kRequested = 9;
        const auto any = [&](const auto& has) { return std::ranges::any_of(rows_, has); };
        const bool has_sizes =
            any([&](const PlanRow& row) { return !size_of(row.record()).empty(); });
        const bool has_requested =
            any([&](const PlanRow& row) { return requested_.contains(row.record().name); });
        Table table(has_sizes ? std::vector<std::size_t>{Size} : std::vector<std::size_t>{});
        std::vector<std::string> head{"    Package", "Version", "Build", "Channel"};
        if (has_sizes) head.emplace_back("Download");
        if (!reasons_.empty()) head.emplace_back("Reason");
        if (has_requested) {
            table.may_shorten(head.size(), kRequested);
            head.emplace_back("Requested");
        }
        table.may_shorten(ChannelName, kChannel, Keep::End);
        table.may_shorten(Build, kBuild);
        table.may_drop(ChannelName);
        table.may_drop(Build);
        table.may_shorten(Name, kLongName);
        table.may_shorten(Version, kVersion);
        table.may_shorten(Name, kName);
        table.add(std::move(head));
        for (const auto& group : kPlanGroups) {
            for (const auto& row : rows_) {
                if (row.action == group.action) table.add(cells(row, group, has_sizes));
            }
        }
        return table;
    }

    std::vector<std::string> cells(const PlanRow& row, const PlanGroup& group, bool has_sizes) {
        const auto& out = context_.out;
        const auto& record = row.record();
        const auto& before = row.before == nullptr ? record : *row.before;
        const auto name = requested_.contains(record.name) ? out.bold(record.name) : record.name;
        // A new version always has another build.
        const bool shows_both = row.action == PlanAction::ChangeBuild;
        std::vector<std::string> cells{
            fmt::format("  {} {}", out.styled(group.style, std::string(1, group.mark)), name),
            transition(before.version, record.version),
            shows_both ? builds(before, record) : record.build,
            transition(name_of(before.channel), name_of(record.channel))};
        if (has_sizes) cells.push_back(row.after == nullptr ? "" : size_of(record));
        if (!reasons_.empty()) {
            const auto reason = reasons_.find(record.name);
            cells.push_back(reason == reasons_.end() ? "" : reason->second);
        }
        if (const auto specs = requested_.find(record.name); specs != requested_.end())
            cells.push_back(fmt::format("{}", fmt::join(specs->second, ", ")));
        return cells;
    }

    /// "py310_0 -> py312_0"; both are shortened where that would be a long column of a terminal.
    std::string builds(const PackageRecord& before, const PackageRecord& after) const {
        constexpr std::size_t kLongest = 28;
        constexpr std::size_t kShort = 12;
        const auto screen = context_.out.screen();
        auto text = transition(before.build, after.build);
        if (screen.width == Screen::kUnlimited || text.size() <= kLongest) return text;
        return transition(shortened(before.build, kShort, Keep::Start, screen.utf8),
                          shortened(after.build, kShort, Keep::Start, screen.utf8));
    }

    std::string size_of(const PackageRecord& record) const {
        const auto size = sizes_.find(record.name);
        return size == sizes_.end() || size->second == 0 ? "" : human_size(size->second);
    }

    const std::string& name_of(const std::string& url) {
        auto [place, is_new] = channels_.try_emplace(url);
        if (is_new) place->second = channel_title(context_, url);
        return place->second;
    }

    const Context& context_;
    std::vector<PlanRow> rows_;
    const std::map<std::string, std::string>& reasons_;        ///< as Change::removal_reasons
    const std::map<std::string, std::string>& build_reasons_;  ///< as Change::build_reasons
    std::map<std::string, std::vector<std::string>, std::less<>> requested_;  ///< specs as typed
    std::map<std::string, std::uint64_t, std::less<>> sizes_;  ///< of what is downloaded
    std::map<std::string, std::string> channels_;              ///< titles by URL
};

/// "/srv/channel (mirror: /srv/mirror/channel)" where the setting mirrored_channels has one.
std::string title_with_mirror(const Context& context,
                              const std::vector<MirroredPlace>& places,
                              const std::string& url) {
    auto title = channel_title(context, url);
    const auto place = std::ranges::find(places, without_secrets(url), &MirroredPlace::base);
    if (title.empty() || place == places.end() || place->mirrors.empty()) return title;
    return fmt::format(
        "{} (mirror: {})", title, path_or_url(without_secrets(place->mirrors.front())));
}

/// Every channel that was searched, or where nothing was solved, those of the lock, the generation
/// or the packages.
std::vector<std::string> channels_of(const Context& context, const Change& change) {
    std::vector<std::string> titles;
    const auto add = [&](std::string title) {
        if (!title.empty() && std::ranges::find(titles, title) == titles.end())
            titles.push_back(std::move(title));
    };
    if (change.is_removal) return titles;
    const auto places =
        mirrored_places(context.config.mirrored_channels.value, channel_context(context))
            .value_or(std::vector<MirroredPlace>());
    // Packages of a lock and of an earlier generation are not chosen from the channels of settings.
    if (change.state && (!change.lock.empty() || change.restores != 0)) {
        for (const auto& url : change.state->channels) add(title_with_mirror(context, places, url));
        if (!titles.empty()) return titles;
    }
    for (const auto& channel : change.channels)
        add(title_with_mirror(context, places, channel.base_url()));
    if (titles.empty())
        for (const auto& record : change.link) add(channel_title(context, record.channel));
    return titles;
}

/// "ml (/path/envs/ml)"; where there is little room, the end of the path.
std::string environment_title(const Context& context, const Change& change, std::size_t room) {
    const auto screen = context.out.screen();
    const auto name = environment_name(context, change.prefix);
    const auto& path = change.prefix.native();
    const std::string_view suffix = change.creates ? ", new" : "";
    const auto frame = suffix.size() + (name == path ? 0 : name.size() + 3);
    const auto shown = screen.width == Screen::kUnlimited || room <= frame
                           ? path
                           : shortened(path, room - frame, Keep::End, screen.utf8);
    return name == path ? fmt::format("{}{}", shown, suffix)
                        : fmt::format("{} ({}){}", name, shown, suffix);
}

/// "h100: __cuda 12.8 (assumed), __cuda_arch 9.0 and __glibc 2.28 (assumed)": what differs between
/// machines most.
std::string machine_text(const Change& change) {
    std::vector<std::string> facts;
    for (const auto* name : {"__cuda", "__cuda_arch", "__rocm", "__amdgpu_arch", "__glibc"}) {
        if (const auto* record = find_record(change.virtual_packages, name))
            facts.push_back(fmt::format("{} {}{}", name, record->version, assumed_mark(*record)));
    }
    return facts.empty()
               ? change.machine
               : fmt::format("{}: {}", change.machine, join_some(facts, "and", facts.size()));
}

/// The environment, requested specs, channels and machine, a line each.
void print_heading(const Context& context, const Change& change, const SettingsChange& settings) {
    constexpr std::string_view kEnvironment = "Environment";
    auto& out = context.out;
    const auto room = out.screen().width - kEnvironment.size() - 2;
    Table table;
    table.may_wrap(1);
    table.add({std::string(kEnvironment), environment_title(context, change, room)});
    const auto add = [&](std::string label, const std::vector<std::string>& texts) {
        if (!texts.empty())
            table.add({std::move(label), fmt::format("{}", fmt::join(texts, ", "))});
    };
    std::vector<std::string> specs;
    for (const auto& spec : change.requested) specs.push_back(as_typed(spec));
    // A rollback requests again all that its generation did: what differs is shown.
    if (change.restores != 0) specs.clear();
    if (change.restores != 0 && !settings.requested_changes.empty())
        specs = {fmt::format("{}", fmt::join(settings.requested_changes, "; "))};
    if (!change.is_removal) add("Requested", specs);
    if (change.is_removal) add("Remove", change.removed_specs);
    if (!change.lock.empty()) add("Lock", {change.lock});
    add("Channels", channels_of(context, change));
    if (!change.machine.empty()) add("Machine", {machine_text(change)});
    if (!settings.accelerator.empty()) add("Accelerator", {settings.accelerator});
    if (const auto variables = variables_text(settings); !variables.empty())
        add("Variables", {variables});
    out.print(table);
}

/// "; estimated 96 MB to 224 MB on disk": before the packages are unpacked, only their archives'
/// sizes are known. Empty for small downloads.
std::string disk_text(std::uint64_t downloaded) {
    // Packages of conda-forge and of Debian took 3.5 to 6.3 times the space of their archives.
    constexpr std::uint64_t kLeast = 3;
    constexpr std::uint64_t kMost = 7;
    constexpr std::uint64_t kSmall = 1'000'000;
    if (downloaded < kSmall) return "";
    return fmt::format("; estimated {} to {} on disk",
                       human_size(downloaded * kLeast),
                       human_size(downloaded * kMost));
}

/// "3 to download (1.2 GB; estimated 3.6 GB to 8.4 GB on disk)".
std::string download_text(const std::vector<PackageRecord>& fetch) {
    std::uint64_t bytes = 0;
    for (const auto& record : fetch) bytes += record.size;
    // A list of package files has no sizes.
    const bool is_any_unknown =
        std::ranges::any_of(fetch, [](const auto& record) { return record.size == 0; });
    const auto size = bytes == 0 && is_any_unknown
                          ? std::string()
                          : fmt::format(" ({}{}{})",
                                        is_any_unknown ? "at least " : "",
                                        human_size(bytes),
                                        is_any_unknown ? "" : disk_text(bytes));
    return fmt::format("{} to download{}", with_thousands(fetch.size()), size);
}

/// "3 to install, 1 to remove, 3 to download (1.2 GB)" below the plan.
void print_totals(Output& out, const Change& change, const std::vector<PackageRecord>& fetch) {
    auto text = totals_text(change);
    if (!fetch.empty()) {
        const auto downloads = download_text(fetch);
        const bool fits = text.size() + 2 + downloads.size() <= out.screen().width;
        text += (fits ? ", " : "\n") + downloads;
    }
    out.print("\n" + text);
}

}  // namespace

void print_change(const Context& context,
                  const Change& change,
                  const SettingsChange& settings,
                  const RequestedSpecs& requested,
                  const std::vector<PackageRecord>& fetch) {
    print_heading(context, change, settings);
    if (!change.is_nothing()) context.out.print("");
    ChangeTable table(context, change, requested, fetch);
    table.print();
    table.repeat_requested();
    print_totals(context.out, change, fetch);
}

std::string totals_text(const Change& change) {
    const auto sizes = group_sizes(change);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] > 0)
            texts.push_back(
                fmt::format("{} to {}", with_thousands(sizes[i]), to_lower(kPlanGroups[i].title)));
    }
    return texts.empty() ? "no packages" : fmt::format("{}", fmt::join(texts, ", "));
}

std::string restored_text(const Context& context, const Change& change) {
    return fmt::format("{} is back at generation {}; to return to {}: gpkg rollback {} {}",
                       environment_name(context, change.prefix),
                       change.restores,
                       change.restored_from,
                       change.restored_from,
                       target_words(context, change.prefix));
}

std::string outcome_text(const Context& context, const Change& change) {
    const auto name = environment_name(context, change.prefix);
    if (change.creates)
        return fmt::format("created {} with {}{}",
                           name,
                           count_text(change.link.size(), "package"),
                           change.lock.empty() ? "" : " from " + change.lock);
    if (change.restores != 0) return restored_text(context, change);
    const auto sizes = group_sizes(change);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] == 0) continue;
        const auto count =
            texts.empty() ? count_text(sizes[i], "package") : with_thousands(sizes[i]);
        texts.push_back(fmt::format("{} {}", kPlanGroups[i].done, count));
    }
    const bool only_removes =
        texts.size() == 1 && sizes[static_cast<std::size_t>(PlanAction::Remove)] > 0;
    return fmt::format(
        "{} {} {}", join_some(texts, "and", texts.size()), only_removes ? "from" : "in", name);
}

std::string no_packages_text(const SettingsChange& settings, bool is_dry_run) {
    const auto what = settings_text(settings);
    std::vector<std::string> texts;
    const auto add_variables = [&](const std::vector<std::string>& names, std::string_view verb) {
        if (names.empty()) return;
        const auto variables = fmt::format("{} {}",
                                           names.size() == 1 ? "variable" : "variables",
                                           join_some(names, "and", names.size()));
        texts.push_back(is_dry_run ? fmt::format("{} {}", verb, variables)
                                   : fmt::format("{} {}", variables, verb));
    };
    if (!what.empty()) texts.push_back(is_dry_run ? "update " + what : what + " updated");
    add_variables(settings.set, "set");
    add_variables(settings.unset, "unset");
    return fmt::format("no packages change; {}{}",
                       is_dry_run ? "this would " : "",
                       is_dry_run ? join_some(texts, "and", texts.size())
                                  : fmt::format("{}", fmt::join(texts, "; ")));
}

Json change_document(const Change& change,
                     const SettingsChange& settings,
                     const std::vector<PackageRecord>& fetch,
                     const ChangeOptions& options) {
    const bool is_dry_run = options.dry_run;
    const auto list = [](const auto& records, const auto& record_of) {
        auto array = Json::array();
        for (const auto& record : records) array.push_back(record_json(record_of(record)));
        return array;
    };
    const auto itself = [](const PackageRecord& record) -> const PackageRecord& { return record; };
    Json json{{"success", true}, {"dry_run", is_dry_run}, {"prefix", change.prefix.native()}};
    if (change.is_nothing() && !settings.is_nothing())
        json["message"] = no_packages_text(settings, is_dry_run || options.download_only);
    else if (change.is_nothing() && !change.creates && change.pip.empty())
        json["message"] = change.if_nothing.empty() ? "All requested packages already installed."
                                                    : change.if_nothing;
    if (options.check)
        json["in_sync"] = change.is_nothing() && !change.creates && change.pip.empty() &&
                          settings.is_nothing() && !change.lock_is_outdated;
    json["actions"] = {
        {"FETCH", list(fetch, itself)},
        {"LINK", list(change.link, itself)},
        {"UNLINK",
         list(change.unlink,
              [](const PrefixRecord& record) -> const PackageRecord& { return record.package; })},
        {"PREFIX", change.prefix.native()}};
    // conda has "PIP" there, too, where pip has something to do.
    for (const auto& section : change.pip) {
        for (const auto& requirement : section.requirements)
            json["actions"]["PIP"].push_back(hide_secrets(requirement));
    }
    if (!settings.set.empty() || !settings.unset.empty())
        json["variables"] = {{"set", settings.set}, {"unset", settings.unset}};
    if (!change.notes.empty()) json["notes"] = texts_of(change.notes);
    return json;
}

}  // namespace gpkg::cli
