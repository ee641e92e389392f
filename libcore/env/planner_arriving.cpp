#include "libcore/base/prefix_path.hpp"
#include "libcore/env/planner_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>
#include <system_error>

namespace gpkg {
namespace {

bool is_compiled(std::string_view path) {
    return path.ends_with(".pyc") && path.find("__pycache__/") != std::string_view::npos;
}

}  // namespace

/// Two of the packages have the same path: the later one's is used.
Result<void> Planner::settle_clash(const PackagePlan& package, LinkItem& item) {
    const auto found = arriving_.find(item.target);
    if (found == arriving_.end()) return {};
    auto& earlier = item_at(found->second);
    const auto& other = plan_.packages[found->second.first];
    if ((earlier.kind == LinkKind::Folder) != (item.kind == LinkKind::Folder))
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: a folder in one of {} and {}, a file in the other",
                                item.target,
                                other.distribution,
                                package.distribution));
    earlier.skipped = true;
    if (item.kind == LinkKind::Folder) return {};
    const bool same = item.entry != nullptr && earlier.entry != nullptr &&
                      item.entry->sha256 == earlier.entry->sha256 && item.kind == earlier.kind &&
                      !item.entry->sha256.empty();
    if (!same)
        warn(fmt::format("{} is in both {} and {}; the latter's is used",
                         item.target,
                         other.distribution,
                         package.distribution));
    return {};
}

/// A folder stands where a file is to be: it may go if nothing stays in it.
Result<void> Planner::clear_folder(const PackagePlan& package, const LinkItem& item) {
    std::error_code code;
    for (fs::recursive_directory_iterator entry(transaction_.prefix / item.target, code), end;
         !code && entry != end;
         entry.increment(code)) {
        auto path = item.target + "/" +
                    entry->path().lexically_relative(transaction_.prefix / item.target).native();
        const bool folder = entry->is_directory(code) && !entry->is_symlink(code);
        if (!folder && !leaving_.contains(path)) {
            return fail(ErrorKind::Conflict,
                        fmt::format("{}: a folder that holds {}, in the way of a file of {}",
                                    (transaction_.prefix / item.target).native(),
                                    path,
                                    package.distribution),
                        "move it away and run the command again");
        }
    }
    if (code) return pass(io_error(transaction_.prefix / item.target, "look into", code.value()));
    leaving_.emplace(item.target, plan_.journal.leaving.size());
    plan_.journal.leaving.push_back(item.target);
    plan_.journal.arriving.push_back(item.target);
    return {};
}

/// Something is at the place of an arriving file that no package of this transaction takes away.
Result<void> Planner::check_taken(const PackagePlan& package,
                                  const LinkItem& item,
                                  const struct stat& found) {
    if (S_ISDIR(found.st_mode))
        return item.kind == LinkKind::Folder ? Result<void>() : clear_folder(package, item);
    const auto owner = owners_.find(item.target);
    if (owner != owners_.end()) {
        if (package.request != nullptr)
            warn(fmt::format("{} of {} is overwritten by {}",
                             item.target,
                             owner->second->package.distribution(),
                             package.distribution));
    } else if (!is_compiled(item.target)) {
        const auto* entry = item.entry;
        const bool same =
            entry != nullptr && S_ISREG(found.st_mode) && item.kind != LinkKind::Replace &&
            static_cast<std::uint64_t>(found.st_size) == entry->size_in_bytes &&
            sha256_of_file(transaction_.prefix / item.target).value_or("") == entry->sha256;
        if (!same && !transaction_.replaces_unowned) {
            unowned_.push_back(item.target);
            return {};
        }
    }
    leaving_.emplace(item.target, plan_.journal.leaving.size());
    plan_.journal.leaving.push_back(item.target);
    return {};
}

/// A soft link that comes with this transaction stands for a folder of other files.
Result<void> Planner::go_through_link(const PackagePlan& package,
                                      const std::string& folder,
                                      std::pair<std::size_t, std::size_t> place) {
    auto& link = item_at(place);
    const auto& owner = plan_.packages[place.first];
    if (link.kind == LinkKind::Folder || link.early) return {};
    const auto clash = [&]() -> Result<void> {
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: a file of {}, a folder of {}",
                                folder,
                                owner.distribution,
                                package.distribution));
    };
    if (link.kind != LinkKind::SoftLink) return clash();
    std::error_code code;
    const auto target = fs::read_symlink(owner.unpacked / link.source, code);
    if (code) return clash();
    const auto inside = (fs::path(parent_of(folder)) / target).lexically_normal().native();
    if (target.is_absolute() || !is_safe_relative(inside))
        return fail(ErrorKind::Integrity,
                    fmt::format("{}: a link of {} out of the environment, and a folder of {}",
                                folder,
                                owner.distribution,
                                package.distribution));
    link.early = true;
    return need_folder(package, inside.ends_with('/') ? parent_of(inside) : inside);
}

Result<void> Planner::need_folder(const PackagePlan& package, const std::string& folder) {
    if (folder.empty() || folder == "." || folders_needed_.contains(folder)) return {};
    GPKG_CHECK(need_folder(package, parent_of(folder)));
    folders_needed_.insert(folder);
    if (const auto place = arriving_.find(folder); place != arriving_.end()) {
        GPKG_CHECK(go_through_link(package, folder, place->second));
        if (item_at(place->second).kind != LinkKind::Folder) return {};
    }
    const auto refuse = [&](std::string_view why) -> Result<void> {
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: {}, and {} has files in it",
                                (transaction_.prefix / folder).native(),
                                why,
                                package.distribution),
                    "move it away and run the command again");
    };
    const bool goes = leaving_.contains(folder);
    const bool below_fresh = fresh_.contains(parent_of(folder));
    switch (below_fresh ? FolderState::Missing : folders_->state(folder)) {
    case FolderState::There: return {};
    case FolderState::LinkedInside:
        if (!goes) return {};
        break;
    case FolderState::Missing: break;
    case FolderState::LinkedOutside:
        if (!goes) return refuse("a link out of the environment");
        break;
    case FolderState::NotAFolder:
        if (!goes && owners_.contains(folder))
            return refuse("a file of " + owners_.at(folder)->package.distribution());
        if (!goes) return refuse("a file of no package");
        break;
    case FolderState::Unwritable: return refuse("this user may not write there");
    }
    fresh_.insert(folder);
    plan_.journal.arriving_folders.push_back(folder);
    return {};
}

Result<void> Planner::check_place(const PackagePlan& package, LinkItem& item) {
    GPKG_CHECK(need_folder(package, parent_of(item.target)));
    if (item.kind == LinkKind::Folder) return need_folder(package, item.target);
    if (plan_.creating || leaving_.contains(item.target)) return {};
    struct stat found {};
    const bool below_fresh = fresh_.contains(parent_of(item.target));
    if (!below_fresh && disk_->look(item.target, found) == 0)
        return check_taken(package, item, found);
    plan_.journal.arriving.push_back(item.target);
    return {};
}

Result<void> Planner::plan_arriving() {
    const auto index = [&](std::size_t p) -> Result<void> {
        auto& package = plan_.packages[p];
        for (std::size_t i = 0; i < package.items.size(); ++i) {
            auto& item = package.items[i];
            if (!simdjson::validate_utf8(item.target))
                return fail(ErrorKind::Unsupported,
                            fmt::format("{}: a file name that is not UTF-8", package.distribution));
            GPKG_CHECK(settle_clash(package, item));
            arriving_[item.target] = {p, i};
        }
        return {};
    };
    for (std::size_t p = 0; p < plan_.packages.size(); ++p) GPKG_CHECK(index(p));
    const auto planned = plan_.packages.size();
    plan_restores();
    for (std::size_t p = planned; p < plan_.packages.size(); ++p) GPKG_CHECK(index(p));

    for (auto& package : plan_.packages) {
        for (auto& item : package.items) {
            if (!item.skipped) GPKG_CHECK(check_place(package, item));
        }
    }
    if (!unowned_.empty()) {
        const auto shown = std::min<std::size_t>(unowned_.size(), 3);
        const std::vector<std::string> first(unowned_.begin(),
                                             unowned_.begin() + static_cast<std::ptrdiff_t>(shown));
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: {} of no package in the way: {}{}",
                                transaction_.prefix.native(),
                                unowned_.size() == 1 ? std::string("a file")
                                                     : fmt::format("{} files", unowned_.size()),
                                fmt::join(first, ", "),
                                unowned_.size() > shown ? ", ..." : ""),
                    "move what is yours away; pip's packages go with pip uninstall");
    }
    return {};
}

}  // namespace gpkg
