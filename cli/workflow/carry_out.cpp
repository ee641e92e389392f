#include "cli/workflow/change.hpp"
#include "cli/workflow/fetch.hpp"
#include "cli/workflow/progress.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/order.hpp"
#include "libcore/env/shell.hpp"
#include "libcore/env/transaction.hpp"
#include "libcore/package/info.hpp"
#include "virtual-packages/host.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

/// "conda-forge" of "https://host/conda-forge", the whole path of a file channel.
std::string short_channel(const std::string& url) {
    if (url.starts_with("file://")) return url.substr(7);
    const auto slash = url.rfind('/');
    return slash == std::string::npos ? url : url.substr(slash + 1);
}

const PackageRecord* find(const std::vector<PackageRecord>& records, std::string_view name) {
    const auto found = std::find_if(
        records.begin(), records.end(), [&](const auto& record) { return record.name == name; });
    return found == records.end() ? nullptr : &*found;
}

const PackageRecord* find_unlinked(const Change& change, std::string_view name) {
    const auto* record = find_record(change.unlink, name);
    return record == nullptr ? nullptr : &record->package;
}

/// A table: what happens, to what, from where.
void show(Output& out, const Change& change, const std::vector<PackageRecord>& fetch) {
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
                              : fmt::format("was {} {}", old->version, old->build);
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
    for (const auto& record : change.link)
        replaced += find_unlinked(change, record.name) != nullptr ? 1 : 0;
    std::uint64_t bytes = 0;
    for (const auto& record : fetch) bytes += record.size;
    out.print(fmt::format("\n  {} new, {} changed, {} removed; {} to download ({})",
                          change.link.size() - replaced,
                          replaced,
                          change.unlink.size() - replaced,
                          fetch.size(),
                          human_size(bytes)));
}

Json document(const Change& change, const std::vector<PackageRecord>& fetch, bool dry_run) {
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
    if (!change.notes.empty()) json["notes"] = change.notes;
    return json;
}

std::map<std::string, std::vector<std::string>> requested_by_name(const Change& change) {
    std::map<std::string, std::vector<std::string>> requested;
    for (const auto& spec : change.requested) requested[spec.name].push_back(spec.to_string());
    return requested;
}

Transaction transaction_of(const Context& context,
                           const Change& change,
                           const std::vector<fs::path>& folders) {
    Transaction transaction;
    transaction.prefix = change.prefix;
    transaction.unlink = dependents_first(change.unlink);
    transaction.variables = change.variables;
    auto requested = requested_by_name(change);
    for (std::size_t i = 0; i < change.link.size(); ++i) {
        const auto& record = change.link[i];
        LinkRequest link;
        link.record = record;
        link.unpacked = folders[i];
        if (const auto found = requested.find(record.name); found != requested.end()) {
            link.requested_specs = found->second;
            requested.erase(found);
        } else if (const auto* old = find_record(change.unlink, record.name)) {
            link.requested_specs = old->requested_specs;
        }
        transaction.link.push_back(std::move(link));
    }
    for (auto& [name, specs] : requested) {
        // The machine's virtual packages have no records to note it in.
        if (!name.starts_with("__")) transaction.respecify.push_back({name, std::move(specs)});
    }
    transaction.history.command = context.command_line;
    transaction.history.tool_version = GPKG_VERSION;
    for (const auto& spec : change.requested)
        transaction.history.update_specs.push_back(spec.to_string());
    transaction.history.remove_specs = change.removed_specs;
    return transaction;
}

std::string why_copied(int code) {
    if (code == EXDEV) return "the package store and the environment are on different file systems";
    if (code == EPERM)
        return "the system does not allow hard links to these files of another user "
               "(fs.protected_hardlinks)";
    return fmt::format("the file system cannot link them ({})", std::strerror(code));
}

/// Packages of another platform would be laid out by this one's rules.
Result<void> check_platform(const Change& change) {
    const auto& native = virtual_packages::this_machine().native_platform;
    if (change.platform.empty() || change.platform == native || change.link.empty()) return {};
    return fail(ErrorKind::Unsupported,
                fmt::format("packages for {} cannot be installed on {}", change.platform, native),
                "--dry-run shows what would be chosen, --download-only fetches it");
}

Result<void> link_all(Context& context,
                      const Change& change,
                      const std::vector<fs::path>& folders,
                      const ChangeOptions& options) {
    Progress progress(context.out);
    auto how = transaction_options(context, options);
    how.progress = [&](std::string_view stage, std::size_t done, std::size_t total) {
        progress.count(stage, done, total, "");
    };
    GPKG_TRY(const auto report, execute(transaction_of(context, change, folders), how));
    progress.clear();
    for (const auto& warning : report.warnings) context.out.warn(warning);
    if (report.copied > 0)
        context.out.note(fmt::format("{} {} copied, not linked: {}",
                                     report.copied,
                                     report.copied == 1 ? "file was" : "files were",
                                     why_copied(report.copy_reason)));
    if (!report.messages.empty()) context.out.note(report.messages);
    // Other tools find environments by this list; not being able to add to it harms nobody.
    if (change.creates) {
        if (auto added = register_environment(change.prefix, context.home); !added)
            context.out.warn(added.error().to_string());
    }
    return {};
}

/// Records of an explicit list, once the packages are there: with what these say of themselves, and
/// dependencies first.
Result<void> complete(Change& change, std::vector<fs::path>& folders) {
    std::vector<PackageRecord> records;
    for (std::size_t i = 0; i < change.link.size(); ++i) {
        GPKG_TRY(auto record, read_repodata_record(folders[i]));
        const auto& bare = change.link[i];
        record.fn = bare.fn;
        record.url = bare.url;
        record.channel = bare.channel;
        if (!bare.subdir.empty()) record.subdir = bare.subdir;
        records.push_back(std::move(record));
    }
    std::vector<fs::path> sorted;
    change.link.clear();
    for (const auto place : dependencies_first(records)) {
        change.link.push_back(records[place]);
        sorted.push_back(folders[place]);
    }
    folders = std::move(sorted);
    return {};
}

}  // namespace

Json to_json(const PackageRecord& record) {
    return Json{{"name", record.name},
                {"version", record.version},
                {"build", record.build},
                {"build_string", record.build},
                {"build_number", record.build_number},
                {"channel", record.channel},
                {"base_url", record.channel},
                {"subdir", record.subdir},
                {"platform", record.subdir},
                {"dist_name", record.distribution()},
                {"fn", record.fn},
                {"url", record.url},
                {"md5", record.md5},
                {"sha256", record.sha256},
                {"size", record.size},
                {"timestamp", record.timestamp},
                {"depends", record.depends},
                {"constrains", record.constrains}};
}

TransactionOptions transaction_options(Context& context, const ChangeOptions& options) {
    TransactionOptions how;
    how.link = options.copy ? LinkMethod::Copy : LinkMethod::Auto;
    how.override_frozen = options.override_frozen;
    how.root_prefix = context.config.root_prefix.value;
    how.cancelled = [&] { return context.stop.stop_requested(); };
    how.waiting = [&](const std::string& holder) {
        context.out.note(fmt::format("waiting for {} to finish with this environment",
                                     holder.empty() ? "another process" : holder));
    };
    return how;
}

Result<void> recover_prefix(Context& context, const fs::path& prefix, bool dry_run) {
    if (dry_run) {
        if (prefix_condition(prefix) == PrefixCondition::Interrupted)
            context.out.warn(fmt::format(
                "{}: an earlier command was interrupted; the next change brings it in order",
                prefix.native()));
        return {};
    }
    GPKG_TRY(const auto recovery, recover(prefix, transaction_options(context, {})));
    if (recovery == Recovery::RolledBack)
        context.out.note(fmt::format("{}: an interrupted command was undone", prefix.native()));
    if (recovery == Recovery::Completed)
        context.out.note(fmt::format("{}: an interrupted command was completed", prefix.native()));
    return {};
}

Result<void> recover_for_use(Context& context, const fs::path& prefix) {
    switch (prefix_condition(prefix)) {
    case PrefixCondition::Settled: return {};
    case PrefixCondition::Busy:
        context.out.warn(
            fmt::format("{}: is being changed by {}", prefix.native(), lock_holder(prefix)));
        return {};
    case PrefixCondition::Interrupted: break;
    }
    return recover_prefix(context, prefix, false);
}

Result<int> carry_out(Context& context, Change change, const ChangeOptions& options) {
    auto& out = context.out;
    for (const auto& note : change.notes) out.note("note: " + note);
    const auto store = open_store(context);
    const auto fetch = missing(store, change.link);
    const bool respecifies =
        !change.requested.empty() || !change.removed_specs.empty() || !change.variables.empty();
    if (change.is_nothing() && !change.creates) {
        out.print("nothing to do: what was asked for is there already");
        if (!options.dry_run && !options.download_only && respecifies)
            GPKG_CHECK(link_all(context, change, {}, options));
        if (out.json_mode()) out.json(document(change, fetch, options.dry_run));
        return 0;
    }

    show(out, change, fetch);
    summarize(out, change, fetch);
    if (options.dry_run) {
        if (out.json_mode()) out.json(document(change, fetch, true));
        return 0;
    }
    if (!options.download_only) GPKG_CHECK(check_platform(change));
    if (!options.yes && !out.confirm("\nProceed?", context.stop))
        return fail(ErrorKind::Interrupted, "nothing was changed");

    FetchOptions how;
    how.offline = options.offline;
    how.records_are_bare = change.from_archives;
    GPKG_TRY(auto folders, make_available(context, store, change.link, change.channels, how));
    GPKG_CHECK(check_stop(context));
    if (change.from_archives) GPKG_CHECK(complete(change, folders));
    if (!options.download_only) GPKG_CHECK(link_all(context, change, folders, options));
    if (out.json_mode()) {
        out.json(document(change, fetch, false));
    } else if (options.download_only) {
        out.print(fmt::format("\n{} packages are in the store", folders.size()));
    } else if (change.creates) {
        const auto name = environment_name(change.prefix, context.config.root_prefix.value);
        const auto flag = name == change.prefix.native() ? "-p " + shell_quoted(name, Shell::Posix)
                                                         : "-n " + name;
        out.print(fmt::format("\n{} is ready:  gpkg run {} COMMAND", name, flag));
    }
    return 0;
}

}  // namespace gpkg::cli
