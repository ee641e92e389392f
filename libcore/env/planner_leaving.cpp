#include "libcore/base/prefix_path.hpp"
#include "libcore/env/lost_changes.hpp"
#include "libcore/env/planner_internal.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
/// A leaving package had this path, and so has one that stays. Whose file is it now?
void Planner::keep_shared(const PrefixRecord& owner, const std::string& path) {
    const auto entry = std::find_if(owner.paths.begin(),
                                    owner.paths.end(),
                                    [&](const PrefixPath& p) { return p.path == path; });
    if (entry == owner.paths.end() || entry->type != PrefixPathType::HardLink) return;
    const auto& expected =
        entry->sha256_in_prefix.empty() ? entry->sha256 : entry->sha256_in_prefix;
    const auto found = sha256_of_file(transaction_.prefix / path);
    if (expected.empty() || (found && *found == expected)) return;
    if (found && !leaving_.contains(path)) {
        leaving_.emplace(path, plan_.journal.leaving.size());
        plan_.journal.leaving.push_back(path);
    }
    overwritten_.emplace_back(&owner, path);
}

Result<void> Planner::leave(const PrefixRecord& record,
                            const std::string& path,
                            const PrefixPath* entry) {
    if (leaving_.contains(path)) return {};
    GPKG_TRY(const auto above, folders_->state(parent_of(path)));
    if (above == FolderState::LinkedOutside) {
        warn(fmt::format("{} of {} is kept: a link leads out of the environment",
                         path,
                         record.package.distribution()));
        return {};
    }
    struct stat status {};
    const int code = disk_->look(path, status);
    if (is_absent(code)) return {};
    if (code != 0) return pass(disk_->error(path, "access", code));
    if (above == FolderState::Unwritable)
        return fail(ErrorKind::Io,
                    fmt::format("{}: no write permission",
                                (transaction_.prefix / path).parent_path().native()));
    if (S_ISDIR(status.st_mode)) {
        plan_.journal.emptied.push_back(path);
        return {};
    }
    if (entry != nullptr) {
        GPKG_TRY(const bool changed, is_changed(transaction_.prefix, record, *entry));
        if (changed) warn(lost_change({record.package.distribution(), path}));
    }
    leaving_.emplace(path, plan_.journal.leaving.size());
    plan_.journal.leaving.push_back(path);
    return {};
}

Result<void> Planner::plan_leaving() {
    for (const auto& record : plan_.installed) {
        if (!unlinked_.contains(record.file_name())) continue;
        std::unordered_map<std::string_view, const PrefixPath*> entries;
        for (const auto& entry : record.paths) entries.emplace(entry.path, &entry);
        for (const auto& path : record.files) {
            const auto owner = owners_.find(path);
            if (owner != owners_.end()) {
                keep_shared(*owner->second, path);
                continue;
            }
            const auto entry = entries.find(path);
            GPKG_CHECK(leave(record, path, entry == entries.end() ? nullptr : entry->second));
            if (path.ends_with(".py")) {
                const auto folder = parent_of(path);
                const auto stem = path.substr(folder.empty() ? 0 : folder.size() + 1);
                plan_.journal.caches.push_back(
                    {folder.empty() ? "__pycache__/" : folder + "/__pycache__/",
                     stem.substr(0, stem.size() - 2)});
            }
        }
    }
    plan_.cost.removed_files = plan_.journal.leaving.size();
    return {};
}

/// Files of staying packages come back from their unpacked package, where that still is.
void Planner::plan_restores() {
    for (const auto& [owner, path] : overwritten_) {
        if (arriving_.contains(path)) continue;
        LinkRequest request;
        request.record = owner->package;
        request.unpacked = owner->extracted_package_dir;
        auto package =
            plan_package(request, plan_.python, plan_.named_prefix, options_.compile_pyc);
        if (package) {
            package->request = nullptr;
            std::erase_if(package->items,
                          [&wanted = path](const LinkItem& item) { return item.target != wanted; });
        }
        if (package && !package->items.empty()) {
            plan_.packages.push_back(*std::move(package));
            continue;
        }
        // Better another package's file than none.
        if (const auto place = leaving_.find(path); place != leaving_.end())
            plan_.journal.saved.push_back({place->second, path});
        warn(fmt::format(
            "{} of {} was overwritten by a removed package and cannot be restored; reinstall {}",
            path,
            owner->package.distribution(),
            owner->package.name));
    }
}

}  // namespace gpkg
