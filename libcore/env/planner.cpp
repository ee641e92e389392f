#include "libcore/base/prefix_path.hpp"
#include "libcore/env/planner_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <system_error>

namespace gpkg {
Result<void> Planner::read_prefix() {
    GPKG_TRY(const bool exists, path_exists(transaction_.prefix));
    plan_.creating = !exists;
    if (plan_.creating) {
        folders_.emplace(nullptr);
        return {};
    }
    GPKG_TRY(disk_, Disk::open(transaction_.prefix, {}));
    folders_.emplace(&*disk_);
    for (const auto* folder : {"", "conda-meta"}) {
        GPKG_TRY(const auto state, folders_->state(folder));
        if (state == FolderState::Unwritable)
            return fail(
                ErrorKind::Io,
                fmt::format("{}: no write permission", (transaction_.prefix / folder).native()));
        if (state == FolderState::NotAFolder || state == FolderState::LinkedOutside)
            return fail(ErrorKind::Conflict,
                        fmt::format("{}: not a folder inside the environment",
                                    (transaction_.prefix / folder).native()));
    }
    GPKG_TRY(const auto meta, folders_->state("conda-meta"));
    if (meta == FolderState::Missing) return {};
    GPKG_TRY(plan_.installed, read_records(transaction_.prefix));
    return {};
}

Result<void> Planner::check_records() {
    const auto changed = [&](std::string_view what) -> Result<void> {
        return fail(ErrorKind::Overtaken,
                    fmt::format("{}: another process changed the environment meanwhile: {}",
                                transaction_.prefix.native(),
                                what),
                    "run the command again");
    };
    std::set<std::string> names;
    for (const auto& record : plan_.installed) {
        if (unlinked_.contains(record.file_name())) continue;
        staying_.push_back(&record);
        names.insert(record.package.name);
    }
    if (staying_.size() + transaction_.unlink.size() != plan_.installed.size())
        return changed("a package to be removed is not installed");
    for (const auto& request : transaction_.link) {
        if (names.insert(request.record.name).second) continue;
        const auto records = std::count_if(
            plan_.installed.begin(), plan_.installed.end(), [&](const PrefixRecord& record) {
                return record.name() == request.record.name;
            });
        if (records > 1)
            return pass(with_environment_hint({ErrorKind::Conflict,
                                               fmt::format("{}: conda-meta has {} records of {}",
                                                           transaction_.prefix.native(),
                                                           records,
                                                           request.record.name),
                                               {},
                                               {}},
                                              "to set the extra records aside: gpkg repair {}",
                                              transaction_.prefix));
        return changed(fmt::format("{} is already installed", request.record.name));
    }
    for (const auto& rewrite : transaction_.rewrite) {
        if (!names.contains(rewrite.name))
            return changed(fmt::format("{} is not installed", rewrite.name));
    }
    for (const auto* record : staying_) {
        for (const auto& path : record->files) owners_.emplace(path, record);
    }
    return {};
}

/// Only links in whose place a recorded file has its folder matter, which are few.
Result<void> Planner::find_linked_folders() {
    std::unordered_set<std::string_view> parents;
    for (const auto& record : plan_.installed) {
        for (const std::string_view path : record.files)
            parents.insert(path.substr(0, std::min(path.rfind('/'), path.size())));
    }
    for (const auto& record : plan_.installed) {
        for (const auto& entry : record.paths) {
            if (entry.type != PrefixPathType::SoftLink || !parents.contains(entry.path)) continue;
            GPKG_TRY(const auto state, folders_->state(entry.path));
            if (state == FolderState::LinkedInside) linked_folders_.push_back(entry.path);
        }
    }
    if (linked_folders_.empty()) return {};
    for (const auto* record : staying_) {
        for (const auto& path : record->files) {
            if (auto place = real_place(path); place != path)
                owners_behind_links_.emplace(std::move(place), record);
        }
    }
    return {};
}

/// Where a path really is, before the transaction.
std::string Planner::real_place(std::string_view path) const {
    std::string place(path);
    constexpr int kMostLinks = 40;
    for (int i = 0; i < kMostLinks; ++i) {
        const auto link = std::find_if(
            linked_folders_.begin(), linked_folders_.end(), [&](const std::string& folder) {
                return place.size() > folder.size() && place[folder.size()] == '/' &&
                       place.starts_with(folder);
            });
        if (link == linked_folders_.end()) break;
        place = joined_path(folders_->linked_to(*link), place.substr(link->size() + 1));
    }
    return place;
}

/// The staying package that has a file there, under this or another path; null where none has.
const PrefixRecord* Planner::owner_of(const std::string& place) const {
    if (const auto owner = owners_.find(place); owner != owners_.end()) return owner->second;
    const auto behind = owners_behind_links_.find(place);
    return behind == owners_behind_links_.end() ? nullptr : behind->second;
}

Result<void> Planner::check_python() {
    const PackageRecord* before = nullptr;
    const PackageRecord* after = nullptr;
    for (const auto& record : plan_.installed) {
        if (record.package.name == "python") before = &record.package;
    }
    for (const auto* record : staying_) {
        if (record->package.name == "python") after = &record->package;
    }
    for (const auto& request : transaction_.link) {
        if (request.record.name == "python") after = &request.record;
    }
    if (after == nullptr) return {};
    GPKG_TRY(plan_.python, python_layout(*after));
    if (before == nullptr) return {};
    for (const auto* record : staying_) {
        if (needs_relink(*record, *before, *after))
            return fail(ErrorKind::Conflict,
                        fmt::format("{}: {} must be relinked for python {}",
                                    transaction_.prefix.native(),
                                    record->package.distribution(),
                                    plan_.python->version));
    }
    return {};
}

Result<void> Planner::plan_packages() {
    const auto compile = options_.compile_pyc;
    for (const auto& request : transaction_.link) {
        auto package = plan_package(request, plan_.python, plan_.named_prefix, compile);
        if (!package)
            return pass(std::move(package).error().while_doing(
                fmt::format("preparing {}", request.record.distribution())));
        plan_.packages.push_back(*std::move(package));
    }
    return {};
}

void Planner::plan_emptied() {
    std::unordered_set<std::string> folders(plan_.journal.emptied.begin(),
                                            plan_.journal.emptied.end());
    const auto add_parents = [&](const std::string& path) {
        for (auto folder = parent_of(path); !folder.empty(); folder = parent_of(folder)) {
            if (!folders.insert(folder).second) break;
        }
    };
    for (const auto& path : plan_.journal.leaving) add_parents(path);
    for (const auto& cache : plan_.journal.caches) add_parents(cache.folder + "x");
    std::erase_if(folders, [&](const std::string& folder) {
        return folder == "conda-meta" || folders_needed_.contains(folder) ||
               owners_.contains(folder);
    });
    plan_.journal.emptied.assign(folders.begin(), folders.end());
    std::sort(plan_.journal.emptied.begin(), plan_.journal.emptied.end(), std::greater<>());
    // A source that is linked again keeps its compiled forms, which python itself renews.
    std::erase_if(plan_.journal.caches, [&](const JournalPlan::Cache& cache) {
        const auto source = parent_of(cache.folder.substr(0, cache.folder.size() - 1));
        return arriving_.contains((source.empty() ? "" : source + "/") + cache.stem + "py");
    });
}

Result<void> Planner::plan_records() {
    auto& journal = plan_.journal;
    std::set<std::string> written;
    for (const auto& request : transaction_.link)
        written.insert(request.record.distribution() + ".json");
    for (const auto* record : staying_) {
        for (const auto& rewrite : transaction_.rewrite) {
            if (rewrite.name == record->package.name) written.insert(record->file_name());
        }
    }
    if (transaction_.state) written.emplace(kStateFile);
    if (!transaction_.variables.empty()) written.insert("state");
    for (const auto& record : transaction_.unlink) {
        if (!written.contains(record.file_name())) journal.dropped.push_back(record.file_name());
    }
    journal.records.assign(written.begin(), written.end());
    journal.command = transaction_.history.command;

    if (!transaction_.continues.empty()) return take_over_history();
    auto entry = transaction_.history;
    if (entry.time.empty()) entry.time = history_time();
    auto history = read_file(transaction_.prefix / "conda-meta/history");
    if (!history && history.error().kind != ErrorKind::NotFound)
        return pass(std::move(history).error());
    plan_history(entry, history.value_or(""));
    return plan_generations(entry, history.value_or(""));
}

Result<Plan> Planner::make() {
    plan_.named_prefix = transaction_.prefix_in_files();
    GPKG_CHECK(read_prefix());
    GPKG_CHECK(check_records());
    GPKG_CHECK(find_linked_folders());
    GPKG_CHECK(check_python());
    GPKG_CHECK(plan_packages());
    if (!plan_.creating) GPKG_CHECK(plan_leaving());
    GPKG_CHECK(plan_arriving());
    GPKG_CHECK(check_case());
    GPKG_CHECK(check_space());
    plan_emptied();
    GPKG_CHECK(plan_records());
    plan_.journal.made_prefix = plan_.creating;
    for (const auto& request : transaction_.link)
        plan_.journal.sources.push_back(request.unpacked.native());
    return std::move(plan_);
}

Result<Plan> make_plan(const Transaction& transaction, const TransactionOptions& options) {
    if (!transaction.prefix.is_absolute())
        return fail(ErrorKind::Usage,
                    fmt::format("{}: the path of an environment must be absolute",
                                transaction.prefix.native()));
    if (!options.override_frozen) GPKG_CHECK(check_not_frozen(transaction.prefix));
    return Planner(transaction, options).make();
}

}  // namespace gpkg
