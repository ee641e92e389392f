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
    if (found) take_out(real_place(path));
    coming_back_[&owner].insert(path);
}

void Planner::take_out(const std::string& place) {
    if (leaving_.emplace(place, plan_.journal.leaving.size()).second)
        plan_.journal.leaving.push_back(place);
}

Result<void> Planner::leave(const PrefixRecord& record,
                            const std::string& path,
                            const PrefixPath* entry) {
    const auto place = real_place(path);
    if (leaving_.contains(place)) return {};
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
        plan_.journal.emptied.push_back(place);
        return {};
    }
    if (entry != nullptr) {
        GPKG_TRY(const bool changed, is_changed(transaction_.prefix, record, *entry));
        if (changed) warn(lost_change({record.package.distribution(), path}));
    }
    take_out(place);
    return {};
}

Result<void> Planner::plan_leaving() {
    for (const auto& record : plan_.installed) {
        if (!unlinked_.contains(record.file_name())) continue;
        std::unordered_map<std::string_view, const PrefixPath*> entries;
        for (const auto& entry : record.paths) entries.emplace(entry.path, &entry);
        for (const auto& path : record.files) {
            if (const auto* owner = owner_of(real_place(path))) {
                keep_shared(*owner, path);
                continue;
            }
            const auto entry = entries.find(path);
            GPKG_CHECK(leave(record, path, entry == entries.end() ? nullptr : entry->second));
            if (path.ends_with(".py")) {
                const auto place = real_place(path);
                const auto folder = parent_of(place);
                const auto stem = place.substr(folder.empty() ? 0 : folder.size() + 1);
                plan_.journal.caches.push_back(
                    {folder.empty() ? "__pycache__/" : folder + "/__pycache__/",
                     stem.substr(0, stem.size() - 2)});
            }
        }
    }
    plan_.cost.removed_files = plan_.journal.leaving.size();
    return {};
}

/// A link to a folder leaves, or will lead elsewhere: what staying packages have behind it is moved
/// out of that folder, and comes back at the path that its record has.
void Planner::bring_back_from_links() {
    for (const auto& link : linked_folders_) {
        if (!leaving_.contains(link) || is_same_link(link)) continue;
        for (const auto* record : staying_) {
            for (const auto& path : record->files) {
                if (!path.starts_with(link + "/")) continue;
                const auto place = real_place(path);
                if (!owners_.contains(place)) take_out(place);
                coming_back_[record].insert(path);
            }
        }
    }
}

/// Whether a package of the transaction has the same link at this path.
bool Planner::is_same_link(const std::string& link) {
    const auto arriving = arriving_.find(link);
    if (arriving == arriving_.end()) return false;
    const auto& item = item_at(arriving->second);
    if (item.kind != LinkKind::SoftLink) return false;
    std::error_code code;
    const auto before = fs::read_symlink(transaction_.prefix / link, code);
    const auto& unpacked = plan_.packages[arriving->second.first].unpacked;
    return !code && fs::read_symlink(unpacked / item.source, code) == before;
}

Result<void> Planner::plan_restores() {
    for (const auto& [owner, paths] : coming_back_) {
        std::set<std::string> wanted;
        for (const auto& path : paths) {
            if (!arriving_.contains(path)) wanted.insert(path);
        }
        GPKG_CHECK(restore(*owner, std::move(wanted)));
    }
    return {};
}

/// Files of a staying package come back from their unpacked package, where that still is.
Result<void> Planner::restore(const PrefixRecord& owner, std::set<std::string> wanted) {
    LinkRequest request;
    request.record = owner.package;
    request.unpacked = owner.extracted_package_dir;
    auto package = plan_package(request, plan_.python, plan_.named_prefix, options_.compile_pyc);
    if (package) {
        package->request = nullptr;
        std::erase_if(package->items,
                      [&](const LinkItem& item) { return !wanted.contains(item.target); });
        for (const auto& item : package->items) wanted.erase(item.target);
        if (!package->items.empty()) plan_.packages.push_back(*std::move(package));
    }
    for (const auto& path : wanted) GPKG_CHECK(keep_moved_out(owner, path));
    return {};
}

/// Better the file that was moved out than none: another package's, or its own from behind a link.
Result<void> Planner::keep_moved_out(const PrefixRecord& owner, const std::string& path) {
    const auto place = real_place(path);
    if (const auto out = leaving_.find(place); out != leaving_.end())
        plan_.journal.saved.push_back({out->second, path});
    if (place != path) {
        PackagePlan package;
        package.distribution = owner.package.distribution();
        return need_folder(package, parent_of(path)).map([](const auto&) {});
    }
    warn(fmt::format(
        "{} of {} was overwritten by a removed package and cannot be restored; reinstall {}",
        path,
        owner.package.distribution(),
        owner.package.name));
    return {};
}

}  // namespace gpkg
