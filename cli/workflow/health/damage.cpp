#include "cli/workflow/health/damage.hpp"

#include "cli/environments.hpp"
#include "cli/workflow/confirm.hpp"
#include "cli/workflow/fetch.hpp"
#include "cli/workflow/health/metadata.hpp"
#include "cli/workflow/progress.hpp"
#include "cli/workflow/settings.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/moved.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/env/transaction.hpp"
#include "libcore/env/unowned_files.hpp"
#include "libcore/net/transport.hpp"
#include "libcore/package/verify.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sys/stat.h>
#include <utility>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The packages of the store that hold something else than they should, with what differs.
struct DamagedFolder {
    fs::path folder;
    std::vector<PathDamage> damage;
};

struct StoreCheck {
    std::size_t packages = 0;
    std::vector<DamagedFolder> damaged;
};

/// A package that does not say any more what it holds is damaged as well (CEP 34 wants one of the
/// two lists).
std::vector<PathDamage> damage_of(const fs::path& folder, VerifyDepth depth) {
    auto damage = find_damage(folder, depth);
    if (!damage) return {{"info", damage.error().message}};
    std::error_code ignored;
    if (!fs::exists(folder / "info/paths.json", ignored) &&
        !fs::exists(folder / "info/files", ignored))
        return {{"info/paths.json", "is missing"}};
    return *std::move(damage);
}

Result<StoreCheck> check_store(Context& context, const PackageStore& store, bool quick) {
    GPKG_TRY(const auto packages, store.list());
    GPKG_TRY(const auto broken, store.broken());
    StoreCheck check;
    check.packages = packages.size() + broken.size();
    for (const auto& folder : broken)
        check.damaged.push_back({folder, {{"info/repodata_record.json", "cannot be read"}}});
    Progress progress(context.out);
    for (std::size_t i = 0; i < packages.size(); ++i) {
        GPKG_CHECK(check_stop(context));
        const auto& folder = packages[i].folder;
        auto damage = damage_of(folder, quick ? VerifyDepth::Shape : VerifyDepth::Content);
        if (!damage.empty()) check.damaged.push_back({folder, std::move(damage)});
        progress.count("verifying", i + 1, packages.size(), "packages");
    }
    return check;
}

}  // namespace

Result<DroppedPackages> drop_damaged(Context& context,
                                     const PackageStore& store,
                                     const std::vector<PackageRecord>& records,
                                     VerifyDepth depth,
                                     bool offline) {
    Progress progress(context.out);
    DroppedPackages dropped;
    for (std::size_t i = 0; i < records.size(); ++i) {
        GPKG_CHECK(check_stop(context));
        progress.count("verifying", i + 1, records.size(), "packages");
        auto folder = store.find(records[i]);
        const auto damage = folder ? damage_of(*folder, depth) : std::vector<PathDamage>();
        if (folder && damage.empty()) continue;
        ++dropped.packages;
        if (!folder) continue;
        if (offline) {
            GPKG_TRY(const auto transport, open_transport(context));
            if (needs_network(transport->mirrors(), records[i].url))
                return fail_offline(
                    ErrorKind::Integrity,
                    fmt::format("{}: {} {}; with --offline the package cannot be downloaded again",
                                folder->native(),
                                damage.front().path,
                                damage.front().what),
                    "run the command without --offline");
        }
        if (folder->parent_path() == store.root())
            GPKG_CHECK(store.remove(*folder));
        else
            dropped.of_layers.push_back(*std::move(folder));
    }
    for (const auto& folder : dropped.of_layers) store.avoid(folder);
    return dropped;
}

std::size_t Examined::damaged_packages() const {
    std::set<std::string_view> names;
    for (const auto& one : damage) names.insert(one.package);
    for (const auto& one : lost) names.insert(one.package);
    return names.size();
}

namespace {

/// Whether bin/gpkg-relocate of gpkg pack can adapt the files: not after gpkg has changed them.
bool can_relocate(const fs::path& prefix, const fs::path& relocate) {
    std::error_code code;
    const auto packed = read_file(prefix / "conda-meta/gpkg/pack/history-size");
    return packed && fs::exists(relocate, code) &&
           trim(*packed) == std::to_string(fs::file_size(prefix / "conda-meta/history", code));
}

}  // namespace

std::string moved_text(const Context& context, const fs::path& prefix, const fs::path& old) {
    const auto relocate = prefix / "bin/gpkg-relocate";
    return fmt::format(
        "this environment was {} here from {}, and its files still contain that path; to fix it: "
        "{}",
        Prefix::is_environment(old) ? "copied" : "moved",
        old.native(),
        can_relocate(prefix, relocate) ? shell_word(relocate.native())
                                       : "gpkg repair " + target_words(context, prefix));
}

Result<Examined> examine_environment(Context& context, const fs::path& path, bool quick) {
    Examined examined;
    if (prefix_condition(path) == PrefixCondition::Interrupted)
        examined.interruption = interruption_text(path);
    GPKG_CHECK(Prefix::open(path));
    std::vector<UnreadableRecord> unreadable;
    GPKG_TRY(const auto records, read_records(path, unreadable));
    examined.moved_from = moved_from(path, records);
    GPKG_TRY(examined.lost, lost_metadata(path, records, std::move(unreadable)));
    const auto is_of_package = [](const auto& one) { return one.package != "environment"; };
    const auto& lost = examined.lost;
    examined.packages = records.size() + static_cast<std::size_t>(std::count_if(
                                             lost.begin(), lost.end(), is_of_package));
    Progress progress(context.out);
    DamageSearch how;
    how.contents = !quick;
    how.cancelled = [&] { return context.stop.stop_requested(); };
    how.progress = [&](std::size_t done) {
        progress.count("verifying", done, records.size(), "packages");
    };
    GPKG_TRY(examined.damage, find_installed_damage(path, records, how));
    return examined;
}

Result<Examined> examine_store(Context& context, bool quick) {
    GPKG_TRY(const auto check, check_store(context, open_store(context), quick));
    Examined examined;
    examined.packages = check.packages;
    for (const auto& [folder, damage] : check.damaged) {
        for (const auto& one : damage)
            examined.damage.push_back({folder.filename().native(), one.path, one.what});
    }
    return examined;
}

namespace {

/// Copies of these packages in the store, or in its layers, that are damaged.
Result<std::vector<fs::path>> damaged_copies(Context& context,
                                             const PackageStore& store,
                                             const std::vector<PackageRecord>& records) {
    Progress progress(context.out);
    std::vector<fs::path> damaged;
    for (std::size_t i = 0; i < records.size(); ++i) {
        GPKG_CHECK(check_stop(context));
        progress.count("verifying", i + 1, records.size(), "packages");
        auto folder = store.find(records[i]);
        if (folder && !damage_of(*folder, VerifyDepth::Content).empty())
            damaged.push_back(*std::move(folder));
    }
    return damaged;
}

/// Other environments that have one of the damaged files as well, through a hard link.
std::vector<fs::path> environments_sharing(const Context& context,
                                           const fs::path& path,
                                           const std::vector<InstalledDamage>& damage) {
    std::map<std::string, struct stat> shared;
    for (const auto& one : damage) {
        struct stat status {};
        if (::lstat((path / one.path).c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
            status.st_nlink > 1)
            shared.emplace(one.path, status);
    }
    std::vector<fs::path> sharing;
    if (shared.empty()) return sharing;
    std::error_code ignored;
    for (const auto& other : list_environments(environment_folders(context.config), context.home)) {
        if (fs::equivalent(other, path, ignored)) continue;
        const bool has_one = std::ranges::any_of(shared, [&](const auto& entry) {
            struct stat status {};
            return ::lstat((other / entry.first).c_str(), &status) == 0 &&
                   status.st_dev == entry.second.st_dev && status.st_ino == entry.second.st_ino;
        });
        if (has_one) sharing.push_back(other);
    }
    return sharing;
}

void tell_damage(Context& context,
                 const fs::path& path,
                 const std::vector<InstalledDamage>& damage) {
    for (const auto& one : damage)
        context.out.note(fmt::format("{}: {} {}", one.package, one.path, one.what));
    for (const auto& other : environments_sharing(context, path, damage))
        context.out.note(
            fmt::format("note: {} has the same damaged files, through hard links; to repair it: "
                        "gpkg repair {}",
                        other.native(),
                        target_words(context, other)));
}

/// A dry run on an environment whose creation or removal was interrupted.
int tell_what_recovery_does(Context& context, const fs::path& path) {
    const auto opened = Prefix::open(path);
    if (!opened)
        context.out.print(fmt::format(
            "{}; to undo it: gpkg repair {}", opened.error().message, target_words(context, path)));
    if (context.out.json_mode())
        context.out.json({{"success", true}, {"dry_run", true}, {"prefix", path.native()}});
    return 0;
}

/// A dry run where records would be restored first: there is no plan yet, only the packages.
Result<int> tell_relinked(Context& context,
                          const fs::path& path,
                          const std::vector<std::string>& restored) {
    std::vector<UnreadableRecord> unreadable;
    GPKG_TRY(const auto records, read_records(path, unreadable));
    DamageSearch how;
    how.cancelled = [&] { return context.stop.stop_requested(); };
    GPKG_TRY(const auto damage, find_installed_damage(path, records, how));
    tell_damage(context, path, damage);
    std::set<std::string> names(restored.begin(), restored.end());
    for (const auto& one : damage) names.insert(one.package);
    if (!names.empty())
        context.out.print(fmt::format("would be relinked: {}", fmt::join(names, ", ")));
    if (context.out.json_mode())
        context.out.json({{"success", true},
                          {"dry_run", true},
                          {"prefix", path.native()},
                          {"relinked", Json(names)}});
    return 0;
}

/// Lists the environment under its new path only, and names the scripts that no package owns.
Result<void> finish_move(Context& context,
                         const fs::path& path,
                         const fs::path& old,
                         const std::vector<PrefixRecord>& records) {
    GPKG_CHECK(register_environment(path, context.home));
    if (!Prefix::is_environment(old)) GPKG_CHECK(unregister_environment(old, context.home));
    GPKG_TRY(const auto unowned, unowned_files(path, records));
    std::vector<std::string> scripts;
    for (const auto& file : unowned) {
        if (file.starts_with("bin/") && other_prefix_in_script(path, path / file) == old)
            scripts.push_back(file);
    }
    if (!scripts.empty())
        context.out.warn(
            fmt::format("{} still {} {}: no package owns {}; if pip installed {}: "
                        "gpkg run {} pip install --force-reinstall PACKAGE",
                        join_some(scripts, "and", 5),
                        scripts.size() == 1 ? "contains" : "contain",
                        old.native(),
                        scripts.size() == 1 ? "it" : "them",
                        scripts.size() == 1 ? "it" : "them",
                        target_words(context, path)));
    return {};
}

}  // namespace

Result<int> repair_environment(Context& context,
                               const fs::path& path,
                               const ChangeOptions& options) {
    if (!options.dry_run) {
        GPKG_TRY(const auto aside,
                 set_damaged_journal_aside(path, transaction_options(context, options)));
        if (aside)
            context.out.warn(
                fmt::format("{}: the journal of an interrupted command cannot be read; moved to "
                            "{}; the files that the command had set aside are in {}",
                            path.native(),
                            aside->native(),
                            (*aside / "old").native()));
    }
    if (options.dry_run && !Prefix::is_environment(path) &&
        prefix_condition(path) == PrefixCondition::Interrupted)
        return tell_what_recovery_does(context, path);
    GPKG_TRY(const auto recovery, recover_interrupted(context, path, options.dry_run));
    // The rest of a removal that cannot be deleted: says what, and why.
    if (!options.dry_run && !is_there(path)) {
        for (const auto& rest : unfinished_folders(environment_folders(context.config))) {
            if (prefix_of_rest(rest) == path) GPKG_CHECK(remove_tree(rest));
        }
    }
    // A creation that was undone, or a removal that was completed; recover_interrupted() said so.
    std::error_code ignored;
    if (recovery != Recovery::Nothing && !fs::exists(path / "conda-meta", ignored)) {
        if (context.out.json_mode())
            context.out.json({{"success", true}, {"prefix", path.native()}});
        return 0;
    }
    GPKG_TRY(const auto lost, restore_metadata(context, path, options));
    if (options.dry_run && lost.anything) return tell_relinked(context, path, lost.packages);
    GPKG_TRY(const auto examined, examine_environment(context, path, false));
    tell_damage(context, path, examined.damage);
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(const auto records, prefix.records());
    ExactRequest request;
    request.prefix = path;
    request.again = true;
    GPKG_TRY(request.channels, wanted_channels(context, {}));
    std::set<std::string_view> names;
    for (const auto& one : examined.damage) names.insert(one.package);
    names.insert(lost.packages.begin(), lost.packages.end());
    if (examined.moved_from) {
        context.out.note(
            fmt::format("note: the environment was {} here from {}; packages whose "
                        "files contain that path are relinked",
                        Prefix::is_environment(*examined.moved_from) ? "copied" : "moved",
                        examined.moved_from->native()));
        for (const auto& record : records) {
            if (names_prefix(record)) names.insert(record.name());
        }
    }
    for (const auto name : names) {
        request.records.push_back(find_record(records, name)->package);
    }
    if (names.empty() && !lost.anything)
        context.out.print(fmt::format("{}: nothing is damaged", path.native()));
    if (names.empty() && !context.out.json_mode()) return 0;
    DroppedPackages dropped;
    if (options.dry_run) {
        GPKG_TRY(dropped.of_layers, damaged_copies(context, open_store(context), request.records));
    } else {
        GPKG_TRY(dropped,
                 drop_damaged(context,
                              open_store(context),
                              request.records,
                              VerifyDepth::Content,
                              options.offline));
    }
    GPKG_TRY(auto change, exactly(std::move(request)));
    change.avoided = std::move(dropped.of_layers);
    change.replaces_unowned = true;
    GPKG_TRY(const int status, carry_out(context, std::move(change), options));
    if (examined.moved_from && !options.dry_run && !options.download_only)
        GPKG_CHECK(finish_move(context, path, *examined.moved_from, records));
    return status;
}

Result<int> repair_store(Context& context, const ChangeOptions& options) {
    const auto store = open_store(context);
    GPKG_TRY(const auto check, check_store(context, store, false));
    auto list = Json::array();
    for (const auto& [folder, damage] : check.damaged) {
        list.push_back(folder.native());
        context.out.result(fmt::format(
            "{}: \"{}\" {}", folder.filename().native(), damage.front().path, damage.front().what));
    }
    if (!options.dry_run && !check.damaged.empty())
        GPKG_CHECK(confirm(context, {"\nRemove these packages from the store?", true, {}}));
    if (!options.dry_run) {
        for (const auto& one : check.damaged) GPKG_CHECK(store.remove(one.folder));
        GPKG_CHECK(store.remove_leftovers());
    }
    if (context.out.json_mode())
        context.out.json({{"success", true}, {"dry_run", options.dry_run}, {"removed", list}});
    const auto all = count_text(check.packages, "package");
    const bool one = check.damaged.size() == 1;
    context.out.print(
        check.damaged.empty()
            ? fmt::format("{} verified: no damage", all)
            : fmt::format("{} of {} {} damaged; {} will be downloaded again when needed",
                          check.damaged.size(),
                          all,
                          one ? "was" : "were",
                          one ? "it" : "they"));
    return 0;
}

}  // namespace gpkg::cli
