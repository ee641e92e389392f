#include "cli/workflow/delivery/copying.hpp"

#include "cli/environments.hpp"
#include "cli/workflow/fetch.hpp"
#include "cli/workflow/link_scripts.hpp"
#include "cli/workflow/one_off.hpp"
#include "cli/workflow/removal.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/asking/earlier_wishes.hpp"
#include "libcore/base/prefix_path.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/lost_changes.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/env/prefix_lock.hpp"
#include "libcore/env/transaction.hpp"
#include "libcore/env/unowned_files.hpp"
#include "libcore/fs/file_system.hpp"
#include "libcore/image/pack.hpp"

#include <fmt/format.h>
#include <optional>
#include <set>

namespace gpkg::cli {
namespace {

/// Files of conda-meta that no package manager would make again.
std::vector<std::string> other_meta_files(const fs::path& prefix, bool takes_over) {
    const std::string pins = "conda-meta/pinned";
    std::error_code code;
    if (!takes_over)
        return fs::exists(prefix / pins, code) ? std::vector{pins} : std::vector<std::string>{};
    std::vector<std::string> files;
    fs::recursive_directory_iterator walk(prefix / "conda-meta", code);
    for (; !code && walk != fs::recursive_directory_iterator(); walk.increment(code)) {
        const auto name = walk->path().filename().native();
        const bool is_top = walk.depth() == 0;
        const bool is_made = is_top && (name == "history" || name == "state" || name == "gpkg" ||
                                        name.starts_with(".gpkg") || name.ends_with(".json"));
        if (walk->is_directory(code) && !walk->is_symlink(code)) {
            if (is_made) walk.disable_recursion_pending();
        } else if (!is_made) {
            files.push_back(walk->path().lexically_relative(prefix).native());
        }
    }
    return files;
}

/// Whether a folder on the way to a path is a link by now.
bool is_behind_link(const fs::path& prefix, const std::string& path) {
    std::error_code ignored;
    for (auto folder = parent_of(path); !folder.empty(); folder = parent_of(folder)) {
        if (fs::is_symlink(prefix / folder, ignored)) return true;
    }
    return false;
}

/// Files and links of packages that somebody changed. What lies behind a link has another name
/// inside the environment, by which it is found, or is not in there.
Result<std::vector<std::string>> changed_files(const fs::path& prefix,
                                               const std::vector<PrefixRecord>& records) {
    std::set<std::string> changed;
    std::set<std::string_view> unchanged;  // it is enough that one package finds its own
    for (const auto& record : records) {
        for (const auto& entry : record.paths) {
            GPKG_TRY(const bool is_other, is_changed(prefix, record, entry));
            if (!is_other)
                unchanged.insert(entry.path);
            else if (!is_behind_link(prefix, entry.path))
                changed.insert(entry.path);
        }
    }
    std::erase_if(changed, [&](const auto& path) { return unchanged.contains(path); });
    return std::vector<std::string>(changed.begin(), changed.end());
}

/// The records of an environment, each of which names an unpacked package as long as there is one.
Result<std::vector<PrefixRecord>> records_with_packages(const Context& context,
                                                        const fs::path& prefix) {
    GPKG_TRY(auto records, read_records(prefix));
    const auto store = open_store(context);
    for (auto& record : records) {
        if (!record.extracted_package_dir.empty() && is_there(record.extracted_package_dir))
            continue;
        if (const auto folder = store.find(record.package))
            record.extracted_package_dir = folder->native();
    }
    return records;
}

/// What a package has no more since pip removed it for another of its versions; whole packages
/// only, and so nothing where its metadata is there.
std::vector<std::string> removed_by_pip(const fs::path& prefix, const PrefixRecord& record) {
    std::vector<std::string> missing;
    bool has_lost_metadata = false;
    for (const auto& entry : record.paths) {
        if (is_there(prefix / entry.path)) continue;
        has_lost_metadata = has_lost_metadata || entry.path.ends_with(".dist-info/METADATA") ||
                            entry.path.ends_with(".egg-info/PKG-INFO");
        missing.push_back(entry.path);
    }
    if (!has_lost_metadata) return {};
    std::set<std::string> folders;
    for (const auto& path : missing) {
        for (auto folder = fs::path(path).parent_path();
             !folder.empty() && !is_there(prefix / folder);
             folder = folder.parent_path())
            folders.insert(folder.native());
    }
    // What is in a folder stands before it.
    missing.insert(missing.end(), folders.rbegin(), folders.rend());
    return missing;
}

/// Nothing where this user may not: then it is another's to change.
Result<std::optional<PrefixLock>> lock_if_allowed(const fs::path& prefix, const LockWait& how) {
    auto lock = PrefixLock::acquire(prefix, how);
    if (lock) return std::optional(*std::move(lock));
    if (lock.error().kind != ErrorKind::Io) return pass(std::move(lock).error());
    return std::optional<PrefixLock>();
}

/// What to do about an environment in the place of a new one.
std::string hint_for_existing(const Context& context, const fs::path& prefix) {
    if (!check_writable_folder(prefix / "conda-meta"))
        return "you cannot change it: choose another name, or a path of your own (-p)";
    const auto words = target_words(context, prefix);
    const auto add = fmt::format("to add packages: gpkg install {} PACKAGE", words);
    const auto folders = environment_folders(context.config);
    // One that others share should not be removed for a name.
    const bool is_in_first = folders.envs.empty() || prefix.parent_path() == folders.envs.front();
    if (is_in_first || prefix == folders.root_prefix || !folders.has(prefix))
        return fmt::format("{}; to remove it: gpkg env remove {}", add, words);
    const auto own = folders.envs.front() / prefix.filename();
    return fmt::format("{}; for one of your own: gpkg create -p {}", add, shell_word(own.native()));
}

}  // namespace

Result<void> check_free(const Context& context, const fs::path& prefix) {
    std::error_code code;
    if (Prefix::is_environment(prefix))
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: the environment exists already", prefix.native()),
                    hint_for_existing(context, prefix));
    if (prefix == context.config.root_prefix.value)
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: the root prefix is not an environment; gpkg has no base "
                                "environment",
                                prefix.native()),
                    "choose another name for the environment");
    if (is_there(prefix) && !(fs::is_directory(prefix, code) && fs::is_empty(prefix, code)))
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: exists and is not an empty folder", prefix.native()),
                    "choose another path for the environment");
    const auto place = prefix.lexically_normal().native() + "/";
    for (const auto& [folder, what] :
         {std::pair(context.config.package_store(), "the package store"),
          std::pair(context.config.index_cache(), "the index cache"),
          std::pair(one_off_folder(context.config), "the folder of gpkg exec")}) {
        if (place.starts_with(folder.lexically_normal().native() + "/"))
            return fail(
                ErrorKind::Usage,
                fmt::format("{}: inside {}, which gpkg clean empties", prefix.native(), what),
                "choose another path for the environment");
    }
    return {};
}

Result<Change> copy_of(Context& context, const fs::path& original, const fs::path& prefix) {
    GPKG_TRY(const auto source, Prefix::open(original));
    GPKG_TRY(const auto installed, source.records());
    ExactRequest request;
    request.prefix = prefix;
    for (const auto& record : installed) request.records.push_back(record.package);
    request.requested = wishes_of(original);
    // Other tools may have removed a requested package.
    std::erase_if(request.requested, [&](const MatchSpec& spec) {
        return !spec.name.starts_with("__") && find_record(installed, spec.name) == nullptr;
    });
    GPKG_TRY(request.variables, source.env_vars());
    GPKG_TRY(request.state, source.state());
    GPKG_TRY(request.channels, wanted_channels(context, {}));
    GPKG_TRY(auto change, exactly(std::move(request)));
    change.variables_kept_from = kept_from(original / kVariablesFile);
    change.copies = original;
    return change;
}

Result<void> copy_telling(Context& context,
                          const fs::path& from,
                          const OtherFiles& others,
                          const fs::path& to,
                          const fs::path& named) {
    auto all = others.files;
    append(all, others.folders);
    GPKG_TRY(const auto binaries, copy_unowned(from, all, to, named));
    for (const auto& file : binaries)
        context.out.warn(
            fmt::format("{}: copied unchanged: a binary with the path {}", file, from.native()));
    return {};
}

Result<OtherFiles> other_files(Context& context, const fs::path& from, bool takes_over) {
    OtherFiles others;
    GPKG_TRY(const auto records, records_with_packages(context, from));
    GPKG_TRY(others.files, unowned_files(from, records));
    for (const auto& script : scripts_of_pack(from)) std::erase(others.files, script);
    append(others.files, other_meta_files(from, takes_over));
    GPKG_TRY(const auto changed, changed_files(from, records));
    for (const auto& file : changed)
        context.out.note(fmt::format("{}: changed since it was installed; copied as it is", file));
    append(others.files, changed);
    for (const auto& record : records) {
        auto removed = removed_by_pip(from, record);
        if (removed.empty()) continue;
        context.out.note(fmt::format("{}: replaced by pip; files that pip removed are not copied",
                                     record.package.name));
        append(others.removed, std::move(removed));
    }
    GPKG_TRY(others.folders, empty_folders(from));
    return others;
}

Result<void> copy_other_files(Context& context,
                              const fs::path& from,
                              const fs::path& to,
                              bool takes_over) {
    GPKG_TRY(const auto others, other_files(context, from, takes_over));
    for (const auto& path : others.removed) {
        std::error_code ignored;
        fs::remove(to / path, ignored);  // refuses folders that are not empty
    }
    GPKG_CHECK(copy_telling(context, from, others, to, to));
    const auto count = others.files.size();
    if (count > 0 && !takes_over)
        context.out.note(fmt::format(
            "copied {} {} not owned by a package", count, count == 1 ? "file" : "files"));
    return {};
}

Result<int> clone_environment(Context& context,
                              const fs::path& from,
                              const fs::path& to,
                              const ChangeOptions& options) {
    const auto how = transaction_options(context, options);
    const LockWait wait{how.lock_wait, how.cancelled, how.waiting};
    std::optional<PrefixLock> lock;
    if (!options.dry_run) {
        GPKG_TRY(lock, lock_if_allowed(from, wait));
        lock.reset();  // who had it may have been killed: recovering takes it as well
    }
    GPKG_CHECK(recover_for_use(context, from));
    if (!options.dry_run) {
        GPKG_TRY(lock, lock_if_allowed(from, wait));
    }
    GPKG_TRY(auto change, copy_of(context, from, to));
    return carry_out(context, std::move(change), options);
}

Result<int> rename_environment(Context& context,
                               const fs::path& from,
                               const fs::path& to,
                               const ChangeOptions& options) {
    GPKG_CHECK(check_removable(context, from));
    if (!options.override_frozen) GPKG_CHECK(check_not_frozen(from));
    if (Prefix::is_environment(to))
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: the environment exists already", to.native()),
                    fmt::format("choose another name, or remove it first: gpkg env remove {}",
                                target_words(context, to)));
    GPKG_CHECK(check_free(context, to));
    if (to.native().starts_with(from.native() + "/"))
        return fail(ErrorKind::Usage,
                    fmt::format("{}: inside the environment {}", to.native(), from.native()));
    auto how = transaction_options(context, options);
    std::optional<PrefixLock> lock;
    if (!options.dry_run) {
        GPKG_TRY(lock, PrefixLock::acquire(from, {how.lock_wait, how.cancelled, how.waiting}));
    }
    GPKG_TRY(auto change, copy_of(context, from, to));
    change.takes_over = true;
    if (!options.dry_run) GPKG_CHECK(settle_link_scripts(context, options, from, how));
    GPKG_TRY(const int status, carry_out(context, std::move(change), options));
    if (options.dry_run) return status;
    if (auto removed = remove_and_unlist(context, from, how, std::move(lock)); !removed)
        return pass(std::move(removed).error().while_doing(
            fmt::format("{} is complete, but the old environment was not removed", to.native())));
    const auto name = environment_name(context, to);
    context.out.print(fmt::format("{} {} to {}",
                                  name == to.native() ? "moved" : "renamed",
                                  environment_name(context, from),
                                  name));
    return status;
}

}  // namespace gpkg::cli
