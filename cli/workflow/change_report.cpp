#include "cli/workflow/change_report.hpp"

#include "libcore/net/url.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

const PackageRecord* find(const std::vector<PackageRecord>& records, std::string_view name) {
    const auto found = std::find_if(
        records.begin(), records.end(), [&](const auto& record) { return record.name == name; });
    return found == records.end() ? nullptr : &*found;
}

const PackageRecord* find_unlinked(const Change& change, std::string_view name) {
    const auto* record = find_record(change.unlink, name);
    return record == nullptr ? nullptr : &record->package;
}

bool goes_down(const PackageRecord& from, const PackageRecord& to) {
    const auto before = version_of(from);
    const auto after = version_of(to);
    return before && after && *after < *before;
}

/// A table: what happens, to what, from where.
void print_table(Output& out, const Change& change, const std::vector<PackageRecord>& fetch) {
    struct Line {
        std::string sign, name, version, build, channel, remark;
    };
    std::vector<Line> lines;
    for (const auto& record : change.link) {
        const auto* old = find_unlinked(change, record.name);
        Line line{
            "+", record.name, record.version, record.build, short_channel(record.channel), ""};
        if (old != nullptr) {
            line.sign = "~";
            line.remark = old->version == record.version && old->build == record.build
                              ? "again"
                              : fmt::format("{} {} {}",
                                            goes_down(*old, record) ? "down from" : "was",
                                            old->version,
                                            old->build);
        }
        if (const auto* needed = find(fetch, record.name); needed != nullptr && needed->size > 0)
            line.remark += (line.remark.empty() ? "" : ", ") + human_size(needed->size);
        lines.push_back(std::move(line));
    }
    for (const auto& record : change.unlink) {
        const auto& old = record.package;
        if (find(change.link, old.name) == nullptr)
            lines.push_back(
                {"-", old.name, old.version, old.build, short_channel(old.channel), "leaves"});
    }
    std::sort(
        lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.name < b.name; });

    std::size_t name = 0, version = 0, build = 0, channel = 0;
    for (const auto& line : lines) {
        name = std::max(name, line.name.size());
        version = std::max(version, line.version.size());
        build = std::max(build, line.build.size());
        channel = std::max(channel, std::min<std::size_t>(line.channel.size(), 24));
    }
    for (const auto& line : lines) {
        auto where = line.channel;
        if (where.size() > 24) where = "…" + where.substr(where.size() - 23);
        out.print(fmt::format("  {} {} {:<{}}  {:<{}}  {}  {}",
                              line.sign,
                              out.bold(fmt::format("{:<{}}", line.name, name)),
                              line.version,
                              version,
                              line.build,
                              build,
                              out.faint(fmt::format("{:<{}}", where, channel)),
                              line.remark));
    }
}

void summarize(Output& out, const Change& change, const std::vector<PackageRecord>& fetch) {
    std::size_t replaced = 0;
    std::size_t older = 0;
    for (const auto& record : change.link) {
        const auto* old = find_unlinked(change, record.name);
        if (old == nullptr) continue;
        ++replaced;
        if (goes_down(*old, record)) ++older;
    }
    std::uint64_t bytes = 0;
    for (const auto& record : fetch) bytes += record.size;
    // A list of package files does not tell their sizes.
    const bool is_any_unknown =
        std::ranges::any_of(fetch, [](const auto& record) { return record.size == 0; });
    const auto size =
        bytes == 0 && is_any_unknown
            ? std::string()
            : fmt::format(" ({}{})", is_any_unknown ? "at least " : "", human_size(bytes));
    out.print(fmt::format("\n  {} new, {} changed{}, {} removed; {} to download{}",
                          change.link.size() - replaced,
                          replaced,
                          older > 0 ? fmt::format(" ({} to older versions)", older) : "",
                          change.unlink.size() - replaced,
                          fetch.size(),
                          size));
}

}  // namespace

std::string title(const PackageRecord& record) {
    return fmt::format("{} {} {}", record.name, record.version, record.build);
}

std::string short_channel(const std::string& url) {
    if (url.starts_with("file://")) return url.substr(7);
    const auto slash = url.rfind('/');
    return slash == std::string::npos ? url : url.substr(slash + 1);
}

Json to_json(const PackageRecord& record) {
    return Json{{"name", record.name},
                {"version", record.version},
                {"build", record.build},
                {"build_string", record.build},
                {"build_number", record.build_number},
                {"channel", without_secrets(record.channel)},
                {"base_url", without_secrets(record.channel)},
                {"subdir", record.subdir},
                {"platform", record.subdir},
                {"dist_name", record.distribution()},
                {"fn", record.fn},
                {"url", without_secrets(record.url)},
                {"md5", record.md5},
                {"sha256", record.sha256},
                {"size", record.size},
                {"timestamp", record.timestamp},
                {"depends", record.depends},
                {"constrains", record.constrains}};
}

void print_change(Output& out, const Change& change, const std::vector<PackageRecord>& fetch) {
    print_table(out, change, fetch);
    summarize(out, change, fetch);
}

Json change_document(const Change& change, const std::vector<PackageRecord>& fetch, bool dry_run) {
    const auto list = [](const auto& records, const auto& record_of) {
        auto array = Json::array();
        for (const auto& record : records) array.push_back(to_json(record_of(record)));
        return array;
    };
    const auto itself = [](const PackageRecord& record) -> const PackageRecord& { return record; };
    Json json{{"success", true}, {"dry_run", dry_run}, {"prefix", change.prefix.native()}};
    if (change.is_nothing()) json["message"] = "All requested packages already installed.";
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
    if (!change.notes.empty()) json["notes"] = change.notes;
    return json;
}

}  // namespace gpkg::cli
