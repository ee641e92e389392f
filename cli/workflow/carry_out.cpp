#include "cli/environments.hpp"
#include "cli/given_words.hpp"
#include "cli/workflow/bounds.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/change_report.hpp"
#include "cli/workflow/confirm.hpp"
#include "cli/workflow/delivery/copying.hpp"
#include "cli/workflow/fetch.hpp"
#include "cli/workflow/health/damage.hpp"
#include "cli/workflow/link_scripts.hpp"
#include "cli/workflow/progress.hpp"
#include "cli/workflow/removal.hpp"
#include "cli/workflow/requested.hpp"
#include "cli/workflow/settings_change.hpp"
#include "cli/workflow/trace.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/history.hpp"
#include "libcore/env/lost_changes.hpp"
#include "libcore/env/order.hpp"
#include "libcore/env/prefix_lock.hpp"
#include "libcore/env/transaction.hpp"
#include "libcore/fs/file_system.hpp"
#include "libcore/package/info.hpp"
#include "libcore/recipe/dependency.hpp"
#include "libcore/spec/unmet_dependency.hpp"
#include "virtual-packages/host.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace gpkg::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// Whether an unpacked package is another user's.
bool has_other_owner(const std::vector<fs::path>& folders) {
    return std::ranges::any_of(folders, [](const fs::path& folder) {
        struct stat status {};
        return ::lstat(folder.c_str(), &status) == 0 && status.st_uid != ::geteuid();
    });
}

std::string why_copied(int code, const std::vector<fs::path>& folders) {
    if (code == EXDEV) return "the package store and the environment are on different file systems";
    if (code == EPERM && has_other_owner(folders))
        return "the system does not allow hard links to these files of another user "
               "(fs.protected_hardlinks)";
    return fmt::format("the file system cannot link them ({})", std::strerror(code));
}

bool is_for_this_machine(const Change& change) {
    return change.platform.empty() || change.link.empty() ||
           change.platform == virtual_packages::this_machine().native_platform;
}

/// What packages that were fetched take in the store; `folders` are those of `records`.
FolderUsage usage_of(const std::vector<PackageRecord>& records,
                     const std::vector<fs::path>& folders,
                     const std::vector<PackageRecord>& fetched) {
    FolderUsage total;
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (find_record(fetched, records[i].name) == nullptr) continue;
        const auto usage = folder_usage(folders[i]);
        if (!usage) continue;
        total.files += usage->files;
        total.bytes += usage->bytes;
    }
    return total;
}

/// Whether the change only links installed packages again, as gpkg repair does.
bool is_relink(const Change& change) {
    return !change.unlink.empty() && change.unlink.size() == change.link.size() &&
           std::ranges::all_of(change.unlink, [&](const PrefixRecord& old) {
               const auto* record = find_record(change.link, old.name());
               return record != nullptr && record->distribution() == old.package.distribution();
           });
}

enum class ShowCost { Yes, No };

/// "needs 20 kB on disk (5 files and folders)"; of a change that also removes files, both.
std::string cost_text(const Change& change,
                      std::uint64_t bytes,
                      std::uint64_t inodes,
                      std::uint64_t removed_files) {
    const auto size = human_size(bytes);
    const auto files = count_text(inodes, "file");
    if (is_relink(change)) {
        std::vector<std::string> names;
        names.reserve(change.link.size());
        for (const auto& record : change.link) names.push_back(record.name);
        return fmt::format("relinks {} ({}); needs {} on disk ({} and folders)",
                           join_some(names, "and", kMostNames),
                           count_text(removed_files, "file"),
                           size,
                           files);
    }
    return removed_files == 0 ? fmt::format("needs {} on disk ({} and folders)", size, files)
                              : fmt::format("writes {} ({} and folders) and removes {}",
                                            size,
                                            files,
                                            count_text(removed_files, "file"));
}

/// Prints what the change needs on the disk, and refuses what is more than the user allows.
Result<void> check_cost(Context& context,
                        const Change& change,
                        const TransactionCost& cost,
                        const FolderUsage& stored,
                        const ChangeOptions& options,
                        ShowCost show) {
    const auto bytes = cost.new_bytes + stored.bytes;
    const auto inodes = cost.new_inodes + stored.files;
    if (cost.files > 0 && show == ShowCost::Yes)
        context.out.print(cost_text(change, bytes, inodes, cost.removed_files) +
                          (stored.files > 0 ? ", package store included" : ""));
    if (show == ShowCost::Yes)
        for (const auto& note : cost.notes) context.out.note("note: " + note);
    constexpr std::string_view kHint =
        "the environment is unchanged; gpkg clean --unused removes the downloaded packages";
    if (bytes > options.most_bytes)
        return fail(ErrorKind::Conflict,
                    fmt::format("this change needs {} on disk; --max-size allows {}",
                                human_size(bytes),
                                human_size(options.most_bytes)),
                    std::string(kHint));
    if (inodes > options.most_inodes)
        return fail(
            ErrorKind::Conflict,
            fmt::format(
                "this change needs {} inodes; --max-inodes allows {}", inodes, options.most_inodes),
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

/// Refuses before any download what linking would refuse.
Result<void> check_place(Context& context,
                         const Change& change,
                         const PackageStore& store,
                         const ChangeOptions& options) {
    GPKG_CHECK(check_platform(change));
    GPKG_CHECK(change.creates ? check_writable_folder(change.prefix)
                              : check_may_change(change.prefix));
    const auto how = transaction_options(context, options);
    const bool links_alone = how.link == LinkMethod::HardLink || how.link == LinkMethod::Reflink;
    if (links_alone && context.config.store_layers.value.empty() &&
        device_of(store.root()) != device_of(change.prefix))
        return fail(
            ErrorKind::Conflict,
            fmt::format("cannot link files into {}: the package store {} is on another file system",
                        change.prefix.native(),
                        store.root().native()),
            "use --link auto, or the setting link: auto, which copies files that cannot be linked");
    return {};
}

/// Prints the cost and the problems of linking where all packages are in the store. Says whether it
/// did.
Result<bool> rehearse(Context& context,
                      const Change& change,
                      const PackageStore& store,
                      const ChangeOptions& options) {
    std::vector<fs::path> folders;
    for (const auto& record : change.link) {
        auto folder = store.find(record);
        if (!folder) return false;
        folders.push_back(*std::move(folder));
    }
    if (!is_for_this_machine(change)) return false;
    const auto how = transaction_options(context, options);
    GPKG_TRY(const auto cost, preflight(transaction_of(context, change, folders), how));
    for (const auto& warning : cost.warnings) context.out.warn_once(warning);
    GPKG_CHECK(check_cost(context, change, cost, {}, options, ShowCost::Yes));
    return true;
}

Result<TransactionReport> timed_execution(Output& out,
                                          const Transaction& transaction,
                                          const TransactionOptions& how) {
    Phase phase(out, "link");
    GPKG_TRY(auto report, execute(transaction, how));
    const auto add = [&](std::uint64_t count, std::string_view thing, std::string_view what) {
        if (count > 0) phase.add(fmt::format("{} {}", count_text(count, thing), what));
    };
    add(transaction.unlink.size(), "package", "unlinked");
    add(transaction.link.size(), "package", "linked");
    add(report.hard_linked, "file", "hard-linked");
    add(report.reflinked, "file", "reflinked");
    add(report.copied + report.copied_on_request, "file", "copied");
    add(report.replaced, "file", "written with the prefix");
    return report;
}

Result<void> link_all(Context& context,
                      const Change& change,
                      const std::vector<fs::path>& folders,
                      const FolderUsage& stored,
                      const ChangeOptions& options,
                      ShowCost show) {
    Progress progress(context.out);
    auto how = transaction_options(context, options);
    how.planned = [&](const TransactionCost& cost) {
        progress.clear();
        return check_cost(context, change, cost, stored, options, show);
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
    GPKG_TRY(const auto report, timed_execution(context.out, transaction, how));
    progress.clear();
    for (const auto& warning : report.warnings) context.out.warn_once(warning);
    if (report.copied > 0)
        context.out.note(fmt::format("note: {} copied instead of linked: {}",
                                     count_text(report.copied, "file"),
                                     why_copied(report.copy_reason, folders)));
    if (!report.messages.empty()) context.out.note(report.messages);
    // Only other tools need this list: a failure is a warning.
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
                             const FetchOptions& how,
                             ShowCost show) {
    constexpr int kMostAttempts = 4;
    for (int attempt = 1;; ++attempt) {
        auto linked = link_all(context, change, folders, stored, options, show);
        if (linked || attempt == kMostAttempts) return linked;
        const auto kind = linked.error().kind;
        if (kind != ErrorKind::Integrity && kind != ErrorKind::NotFound) return linked;
        const auto depth = kind == ErrorKind::Integrity ? VerifyDepth::Content : VerifyDepth::Shape;
        auto dropped = drop_damaged(context, store, change.link, depth, how.offline);
        if (!dropped) return pass(std::move(dropped).error().while_doing(linked.error().message));
        // NotFound: it was cleaned away, and another command has unpacked it again meanwhile.
        if (dropped->packages == 0 && kind != ErrorKind::NotFound) return linked;
        if (dropped->packages > 0)
            context.out.warn(fmt::format("{}; downloading {} again",
                                         linked.error().message,
                                         count_text(dropped->packages, "damaged package")));
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

/// Package files are linked without solving: names the dependencies that the environment lacks.
Result<void> warn_of_missing_dependencies(Context& context, const Change& change) {
    GPKG_TRY(const auto prefix, Prefix::open(change.prefix));
    GPKG_TRY(const auto records, prefix.records());
    const auto find = [&](std::string_view name) -> const PackageRecord* {
        const auto* found = find_record(records, name);
        return found == nullptr ? nullptr : &found->package;
    };
    std::vector<std::string> unmet;
    std::vector<std::string> lacking;
    for (const auto& record : change.link) {
        const auto before = unmet.size();
        std::vector<std::string> missing;
        for (const auto& depend : record.depends) {
            auto text = depend.starts_with("__") ? std::string() : unmet_dependency(depend, find);
            if (text.empty()) continue;
            if (find(dependency_name(depend)) == nullptr)
                missing.push_back(depend);
            else
                unmet.push_back(record.name + " " + std::move(text));
        }
        if (!missing.empty())
            unmet.push_back(fmt::format("{} needs {}, which {} missing",
                                        record.name,
                                        join_some(missing, "and"),
                                        missing.size() == 1 ? "is" : "are"));
        if (unmet.size() > before) lacking.push_back(record.name);
    }
    if (unmet.empty()) return {};
    context.out.warn(fmt::format("{}; to install what is missing: gpkg install {} {}{}",
                                 join_first(unmet, kMostNames),
                                 target_words(context, change.prefix),
                                 shell_words(lacking),
                                 given_sources(context.arguments)));
    return {};
}

/// Hardware notes and all others: below the plan, next to the question.
void show_notes(Output& out, const Change& change) {
    out.show_deferred();
    for (const auto& note : change.notes) out.tell(note);
}

/// Requested packages that a change removes.
struct Losses {
    std::vector<std::string> requested;
    std::vector<std::string> dependents;  ///< those that the command does not name
};

/// pip without a version: a file with a pip section requests it so, also where nobody wrote it.
bool may_be_of_pip_section(const std::string& name, const RequestedSpecs& requested) {
    return name == "pip" && requested.at(name) == std::vector<std::string>{"pip"};
}

Losses losses_of(const Change& change, const RequestedSpecs& requested) {
    std::set<std::string> named;
    if (change.is_removal)
        for (const auto& spec : change.removed_specs) named.insert(spec_name(spec));
    Losses losses;
    for (const auto& record : change.unlink) {
        const auto& name = record.name();
        const auto is_it = [&](const auto& other) { return other.name == name; };
        if (!requested.contains(name) || std::ranges::any_of(change.link, is_it)) continue;
        if (!change.is_removal && may_be_of_pip_section(name, requested)) continue;
        losses.requested.push_back(name);
        if (!named.contains(name)) losses.dependents.push_back(name);
    }
    return losses;
}

/// "web does not match environment.yml: 7 to install; to change it: gpkg sync", of --check.
std::string verdict_text(const Context& context, const Change& change, const std::string& what) {
    auto words = context.arguments;
    words.front() = "gpkg";
    std::erase_if(words, [](const auto& word) {
        return word == "--check" || word == "--dry-run" || word == "-d" || word == "--json";
    });
    return fmt::format("{}: {}; to change it: {}",
                       change.if_different.empty()
                           ? environment_name(context, change.prefix) + " would change"
                           : change.if_different,
                       what,
                       shell_words(words));
}

/// Of requested packages that the command does not name. What a file replaces may have left it.
std::string loss_text(const std::vector<std::string>& names, const std::string& pruned_to) {
    const auto text = join_some(names, "and", kMostNames);
    if (!pruned_to.empty())
        return fmt::format("this removes {}, which {} not in {}",
                           text,
                           names.size() == 1 ? "is" : "are",
                           pruned_to);
    return fmt::format("this removes {} that you requested: {}",
                       names.size() == 1 ? "a package" : "packages",
                       text);
}

/// The part of a change without packages.
Result<void> change_settings(Context& context,
                             const Change& change,
                             const SettingsChange& settings,
                             const ChangeOptions& options) {
    if (settings.is_nothing()) {
        const auto& text = change.if_nothing;
        context.out.print(text.empty() ? "nothing to do: all requested packages are installed"
                                       : text);
        return {};
    }
    const bool changes = !options.dry_run && !options.download_only;
    if (changes) GPKG_CHECK(link_all(context, change, {}, {}, options, ShowCost::Yes));
    if (changes && change.restores != 0 && !settings.accelerator.empty())
        context.out.print(restored_text(context, change));
    else if (options.check)
        context.out.print(verdict_text(context, change, no_packages_text(settings, true)));
    else
        context.out.print(no_packages_text(settings, !changes));
    if (!settings.accelerator.empty())
        context.out.print(fmt::format("{} {} {}",
                                      environment_name(context, change.prefix),
                                      changes ? "now uses" : "would use",
                                      settings.accelerator));
    return {};
}

/// "8 packages from ml, among them numpy, which you requested"
std::string removal_text(const Context& context,
                         const Change& change,
                         const std::vector<std::string>& requested) {
    const auto name = environment_name(context, change.prefix);
    const auto count = change.unlink.size();
    if (requested.empty()) return fmt::format("{} from {}", count_text(count, "package"), name);
    const auto names = join_some(requested, "and", kMostNames);
    if (count == requested.size())
        return fmt::format("{}, which you requested, from {}", names, name);
    return fmt::format("{} from {}, among them {}, which you requested",
                       count_text(count, "package"),
                       name,
                       names);
}

/// Asks, unless -y or always_yes is given. A removal needs an answer.
Result<void> confirm_change(Context& context,
                            const Change& change,
                            const std::vector<std::string>& requested,
                            const std::vector<LostFile>& changed,
                            const ChangeOptions& options) {
    if (!options.asks) return {};
    if (change.is_removal) {
        std::vector<std::string> files;
        files.reserve(changed.size());
        for (const auto& file : changed) files.push_back(file.path);
        std::vector<std::string> details;
        if (!files.empty())
            details.push_back("changed by you: " + join_some(files, "and", kMostNames));
        return confirm_removal(context,
                               removal_text(context, change, requested),
                               details,
                               requested.empty() && files.empty() ? Loss::No : Loss::Yes);
    }
    return confirm(context, {"\nProceed?", true, {}});
}

/// One line about what was done, and for a new environment how long it took.
void print_outcome(const Context& context, const Change& change, Clock::time_point start) {
    auto text = change.is_nothing() && !change.creates
                    ? fmt::format("ran pip in {}", environment_name(context, change.prefix))
                    : outcome_text(context, change);
    if (change.creates)
        text += fmt::format(" in {:.1f} s; to use it: gpkg run {} COMMAND",
                            std::chrono::duration<double>(Clock::now() - start).count(),
                            target_words(context, change.prefix));
    if (change.is_removal)
        text += "; to undo: gpkg rollback " + target_words(context, change.prefix);
    context.out.print(text);
}

/// Whether a name that is neither linked nor unlinked may be absent, and is: a condition left it
/// out, or one did before and the request ends.
bool is_left_out_by_condition(const Change& change, const std::string& name) {
    const bool may_be_absent =
        change.is_removal || std::ranges::any_of(change.requested, [&](const MatchSpec& spec) {
            return spec.name == name && spec.when.has_value();
        });
    if (!may_be_absent || change.creates) return may_be_absent;
    const auto prefix = Prefix::open(change.prefix);
    if (!prefix) return false;
    const auto records = prefix->records();
    return records && find_record(*records, name) == nullptr;
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
        // The machine's virtual packages have no records to note it in, nor has what leaves, or
        // what a condition leaves out.
        if (!name.starts_with("__") && find_record(change.unlink, name) == nullptr &&
            !is_left_out_by_condition(change, name))
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
    append(transaction.history.remove_specs, change.removed_along);
    return transaction;
}

Result<void> check_platform(const Change& change) {
    if (is_for_this_machine(change)) return {};
    return fail(ErrorKind::Unsupported,
                fmt::format("packages for {} cannot be installed on {}",
                            change.platform,
                            virtual_packages::this_machine().native_platform),
                "--dry-run shows the packages, --download-only downloads them");
}

Result<int> carry_out(Context& context, Change change, const ChangeOptions& options) {
    auto& out = context.out;
    const auto store = open_store(context);
    for (const auto& folder : change.avoided) store.avoid(folder);
    const auto fetch = missing(store, change.link);
    if (options.check && !change.pip.empty()) {
        out.note("note: packages of the pip section are not checked");
        change.pip.clear();
    }
    GPKG_TRY(const auto settings, settings_change(change));
    const auto document = [&] { return change_document(change, settings, fetch, options); };
    if (change.is_nothing() && !change.creates && change.pip.empty()) {
        show_notes(out, change);
        GPKG_CHECK(change_settings(context, change, settings, options));
        if (out.json_mode()) out.json(document());
        return options.check && (!settings.is_nothing() || change.lock_is_outdated) ? 1 : 0;
    }

    const bool changes = !options.dry_run && !options.download_only;
    // A new environment has no marker, even if its folder cannot be looked at.
    if (changes && !change.creates && !options.override_frozen)
        GPKG_CHECK(check_not_frozen(change.prefix));
    RequestedSpecs requested;
    if (!change.creates) {
        GPKG_TRY(requested, requested_in(change.prefix, change.unlink));
    }
    if (change.takes_over)
        out.print(fmt::format("rename {} to {}: {} to relink",
                              change.copies.native(),
                              change.prefix.native(),
                              count_text(change.link.size(), "package")));
    else if (!change.copies.empty() && fetch.empty() && !out.verbose())
        out.print(fmt::format("copy {} to {}: {} to link",
                              change.copies.native(),
                              change.prefix.native(),
                              count_text(change.link.size(), "package")));
    else if (!options.brief && (!change.is_nothing() || change.creates))
        print_change(context, change, settings, requested, fetch);
    print_pip_sections(out, change.pip);
    show_notes(out, change);
    const auto losses = losses_of(change, requested);
    if (const auto& names = losses.dependents; !names.empty())
        out.warn(loss_text(names, change.pruned_to));
    std::vector<LostFile> lost;
    if (!change.creates) {
        GPKG_TRY(lost, lost_files(change.prefix, change.unlink));
        for (const auto& file : lost) out.warn_once(lost_change(file));
    }
    GPKG_TRY(const auto room, check_downloads(store.root(), fetch, options));
    if (options.dry_run) {
        if (!options.download_only && !change.from_archives)
            GPKG_CHECK(rehearse(context, change, store, options));
        out.print(options.check ? verdict_text(context, change, totals_text(change))
                                : "dry run: nothing was changed");
        if (out.json_mode()) out.json(document());
        return options.check ? 1 : 0;
    }
    if (changes) GPKG_CHECK(check_place(context, change, store, options));
    // Above the question, where it is known; else once the packages are unpacked.
    bool has_shown_cost = change.takes_over || options.brief;
    if (options.asks && !out.yes() && out.can_ask() && !options.download_only &&
        !change.from_archives && !change.takes_over && !change.is_removal) {
        GPKG_TRY(has_shown_cost, rehearse(context, change, store, options));
    }
    GPKG_CHECK(confirm_change(context, change, losses.requested, lost, options));

    const auto start = Clock::now();
    FetchOptions how;
    how.offline = options.offline;
    how.records_are_bare = change.from_archives;
    how.if_gone = change.if_gone;
    how.allowance = allowance_of(options, room);
    GPKG_TRY(auto folders, make_available(context, store, change.link, change.channels, how));
    GPKG_CHECK(check_stop(context));
    // Before bare records are completed: `fetch` has such ones.
    const auto stored =
        options.download_only ? FolderUsage{} : usage_of(change.link, folders, fetch);
    if (change.from_archives) GPKG_CHECK(complete(change, folders));
    how.records_are_bare = false;
    if (!options.download_only) {
        GPKG_CHECK(link_from_store(context,
                                   change,
                                   store,
                                   folders,
                                   stored,
                                   options,
                                   how,
                                   has_shown_cost ? ShowCost::No : ShowCost::Yes));
        if (change.from_archives) GPKG_CHECK(warn_of_missing_dependencies(context, change));
        GPKG_CHECK(install_pip_sections(context, change.prefix, change.pip, options.offline));
    }
    if (out.json_mode()) {
        out.json(document());
    } else if (options.download_only) {
        out.print(fmt::format("{} in the package store; no environment was changed",
                              count_text(folders.size(), "package")));
    } else if (options.brief) {
        out.print(fmt::format("installed {} (temporary environment)",
                              count_text(change.link.size(), "package")));
    } else if (!change.is_unlisted && !change.takes_over) {
        print_outcome(context, change, start);
        if (!settings.accelerator.empty())
            out.print(fmt::format(
                "{} now uses {}", environment_name(context, change.prefix), settings.accelerator));
    }
    return 0;
}

}  // namespace gpkg::cli
