#include "cli/environments.hpp"
#include "cli/workflow/bounds.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/change_report.hpp"
#include "cli/workflow/delivery/copying.hpp"
#include "cli/workflow/fetch.hpp"
#include "cli/workflow/health/damage.hpp"
#include "cli/workflow/link_scripts.hpp"
#include "cli/workflow/progress.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/history.hpp"
#include "libcore/env/lost_changes.hpp"
#include "libcore/env/order.hpp"
#include "libcore/env/prefix_lock.hpp"
#include "libcore/env/transaction.hpp"
#include "libcore/fs/file_system.hpp"
#include "libcore/package/info.hpp"
#include "virtual-packages/host.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace gpkg::cli {
namespace {

/// Specs by name; none for what is asked for no more.
std::map<std::string, std::vector<std::string>> requested_by_name(const Change& change) {
    std::map<std::string, std::vector<std::string>> requested;
    for (const auto& spec : change.removed_specs) requested[spec_name(spec)];
    for (const auto& spec : change.requested) requested[spec.name].push_back(spec.to_string());
    return requested;
}

std::string why_copied(int code) {
    if (code == EXDEV) return "the package store and the environment are on different file systems";
    if (code == EPERM)
        return "the system does not allow hard links to these files of another user "
               "(fs.protected_hardlinks)";
    return fmt::format("the file system cannot link them ({})", std::strerror(code));
}

bool is_for_this_machine(const Change& change) {
    return change.platform.empty() || change.link.empty() ||
           change.platform == virtual_packages::this_machine().native_platform;
}

/// What packages that were fetched take in the store.
FolderUsage usage_of(const PackageStore& store, const std::vector<PackageRecord>& fetched) {
    FolderUsage total;
    for (const auto& record : fetched) {
        const auto folder = store.find(record);
        const auto usage = folder ? folder_usage(*folder) : FolderUsage{};
        if (!usage) continue;
        total.files += usage->files;
        total.bytes += usage->bytes;
    }
    return total;
}

/// Tells what comes to the disk, and refuses what is too much.
Result<void> check_cost(Context& context,
                        const TransactionCost& cost,
                        const FolderUsage& stored,
                        const ChangeOptions& options) {
    const auto bytes = cost.new_bytes + stored.bytes;
    const auto inodes = cost.new_inodes + stored.files;
    if (cost.files > 0)
        context.out.print(
            fmt::format("  {} {} in the environment; {} and {} inodes come to the disk",
                        cost.files,
                        cost.files == 1 ? "file" : "files",
                        human_size(bytes),
                        inodes));
    for (const auto& note : cost.notes) context.out.note("note: " + note);
    constexpr std::string_view kHint =
        "the environment is as it was; gpkg clean --unused takes what was fetched out of the store";
    if (bytes > options.most_bytes)
        return fail(ErrorKind::Conflict,
                    fmt::format("this needs {} on the disk, and --max-size allows {}",
                                human_size(bytes),
                                human_size(options.most_bytes)),
                    std::string(kHint));
    if (inodes > options.most_inodes)
        return fail(
            ErrorKind::Conflict,
            fmt::format(
                "this needs {} inodes, and --max-inodes allows {}", inodes, options.most_inodes),
            std::string(kHint));
    return {};
}

/// The file system that a path is on, or will be.
dev_t device_of(fs::path path) {
    struct stat status {};
    while (::stat(path.c_str(), &status) != 0 && path.has_relative_path())
        path = path.parent_path();
    return status.st_dev;
}

/// What linking would refuse after everything was fetched for it.
Result<void> check_place(Context& context,
                         const Change& change,
                         const PackageStore& store,
                         const ChangeOptions& options) {
    GPKG_CHECK(check_platform(change));
    GPKG_CHECK(change.creates ? check_writable_folder(change.prefix)
                              : check_may_change(change.prefix));
    const auto how = transaction_options(context, options);
    if (!how.override_frozen) GPKG_CHECK(check_not_frozen(change.prefix));
    const bool links_alone = how.link == LinkMethod::HardLink || how.link == LinkMethod::Reflink;
    if (links_alone && context.config.store_layers.value.empty() &&
        device_of(store.root()) != device_of(change.prefix))
        return fail(
            ErrorKind::Conflict,
            fmt::format("{}: is on another file system than the package store {}, whose "
                        "files cannot be linked there",
                        change.prefix.native(),
                        store.root().native()),
            "--link auto, or link: auto in the configuration, copies what cannot be linked");
    return {};
}

/// What linking would meet. Nothing is known of packages that are still to be fetched.
Result<void> rehearse(Context& context,
                      const Change& change,
                      const PackageStore& store,
                      const ChangeOptions& options) {
    std::vector<fs::path> folders;
    for (const auto& record : change.link) {
        auto folder = store.find(record);
        if (!folder) return {};
        folders.push_back(*std::move(folder));
    }
    if (!is_for_this_machine(change)) return {};
    const auto how = transaction_options(context, options);
    GPKG_TRY(const auto cost, preflight(transaction_of(context, change, folders), how));
    for (const auto& warning : cost.warnings) context.out.warn_once(warning);
    return check_cost(context, cost, {}, options);
}

Result<void> link_all(Context& context,
                      const Change& change,
                      const std::vector<fs::path>& folders,
                      const FolderUsage& stored,
                      const ChangeOptions& options) {
    Progress progress(context.out);
    auto how = transaction_options(context, options);
    how.planned = [&](const TransactionCost& cost) {
        progress.clear();
        return check_cost(context, cost, stored, options);
    };
    how.progress = [&](std::string_view stage, std::size_t done, std::size_t total) {
        progress.count(stage, done, total, "");
    };
    if (!change.copies.empty())
        how.completing = [&] {
            progress.clear();
            return copy_other_files(context, change.copies, change.prefix, change.takes_over);
        };
    auto transaction = transaction_of(context, change, folders);
    GPKG_CHECK(settle_link_scripts(context, options, transaction, how));
    GPKG_TRY(const auto report, execute(transaction, how));
    progress.clear();
    for (const auto& warning : report.warnings) context.out.warn_once(warning);
    if (report.copied > 0)
        context.out.note(fmt::format("{} {} copied, not linked: {}",
                                     report.copied,
                                     report.copied == 1 ? "file was" : "files were",
                                     why_copied(report.copy_reason)));
    if (!report.messages.empty()) context.out.note(report.messages);
    // Other tools find environments by this list; not being able to add to it harms nobody.
    if (change.creates && !change.is_unlisted) {
        if (auto added = register_environment(change.prefix, context.home); !added)
            context.out.warn(added.error().to_string());
    }
    return {};
}

/// Links, and again where packages turn out to be damaged in the store, or are cleaned out of it
/// meanwhile.
Result<void> link_from_store(Context& context,
                             const Change& change,
                             const PackageStore& store,
                             std::vector<fs::path> folders,
                             const FolderUsage& stored,
                             const ChangeOptions& options,
                             const FetchOptions& how) {
    constexpr int kMostAttempts = 4;
    for (int attempt = 1;; ++attempt) {
        auto linked = link_all(context, change, folders, stored, options);
        if (linked || attempt == kMostAttempts) return linked;
        const auto kind = linked.error().kind;
        if (kind != ErrorKind::Integrity && kind != ErrorKind::NotFound) return linked;
        const auto depth = kind == ErrorKind::Integrity ? VerifyDepth::Content : VerifyDepth::Shape;
        auto dropped = drop_damaged(context, store, change.link, depth, how.offline);
        if (!dropped) return pass(std::move(dropped).error().while_doing(linked.error().message));
        if (dropped->packages == 0) return linked;
        context.out.warn(fmt::format("{}; what is wrong in the store is fetched anew ({} {})",
                                     linked.error().message,
                                     dropped->packages,
                                     dropped->packages == 1 ? "package" : "packages"));
        GPKG_TRY(folders, make_available(context, store, change.link, change.channels, how));
    }
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
    const RecordGraph graph(std::move(records), change.requested);
    for (const auto place : graph.dependencies_first()) {
        change.link.push_back(graph.records()[place]);
        sorted.push_back(folders[place]);
    }
    folders = std::move(sorted);
    return {};
}

}  // namespace

Transaction transaction_of(const Context& context,
                           const Change& change,
                           const std::vector<fs::path>& folders) {
    Transaction transaction;
    transaction.prefix = change.prefix;
    transaction.creates = change.creates;
    transaction.unlink = dependents_first(change.unlink);
    transaction.variables = change.variables;
    transaction.variables_kept_from = change.variables_kept_from;
    transaction.state = change.state;
    transaction.restores = change.restores;
    transaction.replaces_unowned = change.replaces_unowned;
    if (change.takes_over) transaction.continues = change.copies;
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
    std::map<std::string, Rewrite> rewrites;
    for (auto& [name, specs] : requested) {
        // The machine's virtual packages have no records to note it in, nor has what leaves.
        if (!name.starts_with("__") && find_record(change.unlink, name) == nullptr)
            rewrites[name].requested_specs = std::move(specs);
    }
    for (const auto& record : change.mended) rewrites[record.name].mended = record;
    for (auto& [name, rewrite] : rewrites) {
        rewrite.name = name;
        transaction.rewrite.push_back(std::move(rewrite));
    }
    transaction.history.command = context.command_line;
    transaction.history.tool_version = GPKG_VERSION;
    for (const auto& spec : change.requested)
        transaction.history.update_specs.push_back(spec.to_string());
    transaction.history.remove_specs = change.removed_specs;
    return transaction;
}

Result<void> check_platform(const Change& change) {
    if (is_for_this_machine(change)) return {};
    return fail(ErrorKind::Unsupported,
                fmt::format("packages for {} cannot be installed on {}",
                            change.platform,
                            virtual_packages::this_machine().native_platform),
                "--dry-run shows what would be chosen, --download-only fetches it");
}

Result<int> carry_out(Context& context, Change change, const ChangeOptions& options) {
    auto& out = context.out;
    for (const auto& note : change.notes) out.note("note: " + note);
    const auto store = open_store(context);
    for (const auto& folder : change.avoided) store.avoid(folder);
    const auto fetch = missing(store, change.link);
    const bool respecifies = !change.requested.empty() || !change.removed_specs.empty() ||
                             !change.variables.empty() || change.state.has_value();
    if (change.is_nothing() && !change.creates && change.pip.empty()) {
        out.print(change.restores == 0 ? "nothing to do: what was asked for is there already"
                                       : "no package changes, only what was asked for");
        if (!options.dry_run && !options.download_only && respecifies)
            GPKG_CHECK(link_all(context, change, {}, {}, options));
        if (out.json_mode()) out.json(change_document(change, fetch, options.dry_run));
        return 0;
    }

    if (change.takes_over)
        out.print(fmt::format("  {} becomes {}, {} packages are linked anew",
                              change.copies.native(),
                              change.prefix.native(),
                              change.link.size()));
    else if (!change.is_nothing() || change.creates)
        print_change(out, change, fetch);
    print_pip_sections(out, change.pip);
    if (!change.creates) {
        GPKG_TRY(const auto lost, lost_changes(change.prefix, change.unlink));
        for (const auto& warning : lost) out.warn_once(warning);
    }
    GPKG_TRY(const auto room, check_downloads(store.root(), fetch, options));
    if (options.dry_run) {
        if (!options.download_only && !change.from_archives)
            GPKG_CHECK(rehearse(context, change, store, options));
        if (out.json_mode()) out.json(change_document(change, fetch, true));
        return 0;
    }
    if (!options.download_only) GPKG_CHECK(check_place(context, change, store, options));
    if (!options.yes && !out.confirm("\nProceed?", context.stop))
        return fail(ErrorKind::Interrupted, "nothing was changed");

    FetchOptions how;
    how.offline = options.offline;
    how.records_are_bare = change.from_archives;
    how.if_gone = change.if_gone;
    how.allowance = allowance_of(options, room);
    GPKG_TRY(auto folders, make_available(context, store, change.link, change.channels, how));
    GPKG_CHECK(check_stop(context));
    if (change.from_archives) GPKG_CHECK(complete(change, folders));
    how.records_are_bare = false;
    if (!options.download_only) {
        const auto stored = usage_of(store, fetch);
        GPKG_CHECK(link_from_store(context, change, store, folders, stored, options, how));
        GPKG_CHECK(install_pip_sections(context, change.prefix, change.pip, options.offline));
    }
    if (out.json_mode()) {
        out.json(change_document(change, fetch, false));
    } else if (options.download_only) {
        out.print(fmt::format("\n{} packages are in the store", folders.size()));
    } else if (change.creates && !change.is_unlisted) {
        const auto name = environment_folders(context.config).name_of(change.prefix);
        out.print(fmt::format(
            "\n{} is ready:  gpkg run {} COMMAND", name, target_words(context, change.prefix)));
    }
    return 0;
}

}  // namespace gpkg::cli
