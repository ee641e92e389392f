#include "libcore/base/prefix_path.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/planner_internal.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <system_error>

namespace gpkg {
namespace {

/// Empty where it is no link.
std::string read_link_target(const fs::path& path) {
    std::error_code code;
    return fs::read_symlink(path, code).native();
}

bool is_in_meta(std::string_view path) {
    // There are file systems to which case does not matter.
    return to_lower(path.substr(0, path.find('/'))) == "conda-meta";
}

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
        return fail(
            ErrorKind::Conflict,
            fmt::format("{}: conflict between {} and {}: a folder in one, a file in the other",
                        item.target,
                        other.distribution,
                        package.distribution));
    earlier.skipped = true;
    if (item.kind == LinkKind::Folder) return {};
    const bool same = item.entry != nullptr && earlier.entry != nullptr &&
                      item.entry->sha256 == earlier.entry->sha256 && item.kind == earlier.kind &&
                      !item.entry->sha256.empty();
    if (!same)
        warn(fmt::format("{} is in both {} and {}; the file of the latter is used",
                         item.target,
                         other.distribution,
                         package.distribution));
    return {};
}

/// A folder stands where a file is to be: it may go if nothing stays in it.
Result<void> Planner::clear_folder(const PackagePlan& package, const std::string& at) {
    std::error_code code;
    for (fs::recursive_directory_iterator entry(transaction_.prefix / at, code), end;
         !code && entry != end;
         entry.increment(code)) {
        auto path = at + "/" + entry->path().lexically_relative(transaction_.prefix / at).native();
        const bool folder = entry->is_directory(code) && !entry->is_symlink(code);
        if (code) break;
        if (!folder && !leaving_.contains(path)) {
            return fail(ErrorKind::Conflict,
                        fmt::format("{}: this folder contains {} and blocks a file of {}",
                                    (transaction_.prefix / at).native(),
                                    path,
                                    package.distribution),
                        "move it away and run the command again");
        }
    }
    if (code) return pass(io_error(transaction_.prefix / at, "list", code.value()));
    take_out(at);
    plan_.journal.arriving.push_back(at);
    return {};
}

/// Something is at the place of an arriving file that no package of this transaction takes away.
Result<void> Planner::check_taken(const PackagePlan& package,
                                  const LinkItem& item,
                                  const std::string& at,
                                  const struct stat& found) {
    if (S_ISDIR(found.st_mode))
        return item.kind == LinkKind::Folder ? Result<void>() : clear_folder(package, at);
    if (const auto* owner = owner_of(at)) {
        if (package.request != nullptr)
            warn(fmt::format("{} of {} is overwritten by {}",
                             item.target,
                             owner->package.distribution(),
                             package.distribution));
    } else if (!is_compiled(item.target)) {
        const auto* entry = item.entry;
        const bool same = entry != nullptr && S_ISREG(found.st_mode) &&
                          item.kind != LinkKind::Replace &&
                          static_cast<std::uint64_t>(found.st_size) == entry->size_in_bytes &&
                          sha256_of_file(transaction_.prefix / at).value_or("") == entry->sha256;
        if (!same && !transaction_.replaces_unowned) {
            unowned_.push_back(at);
            return {};
        }
    }
    take_out(at);
    return {};
}

/// A soft link that comes with this transaction stands for a folder of other files. It leads where
/// the kernel will find it to lead: what ".." means depends on the links before it.
Result<std::string> Planner::go_through_link(const PackagePlan& package,
                                             const std::string& folder,
                                             const std::string& parent) {
    const auto place = arriving_.at(folder);
    auto& link = item_at(place);
    const auto& owner = plan_.packages[place.first];
    const auto target = read_link_target(owner.unpacked / link.source);
    if (link.kind != LinkKind::SoftLink || target.empty())
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: a file in {}, but a folder in {}",
                                folder,
                                owner.distribution,
                                package.distribution));
    const auto outside = [&] {
        return fail(
            ErrorKind::Integrity,
            fmt::format("{}: a link of {} leads out of the environment, but {} has files in it",
                        folder,
                        owner.distribution,
                        package.distribution));
    };
    if (target.starts_with('/')) return outside();
    auto here = parent;
    for (const auto part : split(target, '/')) {
        if (part.empty() || part == ".") continue;
        if (part != "..") {
            GPKG_TRY(here, need_folder(package, joined_path(here, part)));
        } else if (here.empty()) {
            return outside();
        } else {
            here = parent_of(here);
        }
    }
    link.early = true;
    return here;
}

/// Sees that a folder will be there for files of the package. Returns where in the prefix that
/// really is, every link on the way followed.
Result<std::string> Planner::need_folder(const PackagePlan& package, const std::string& folder) {
    if (folder.empty()) return folder;
    const auto [known, is_new] = folders_needed_.try_emplace(folder);
    if (known->second) return *known->second;
    if (!is_new)
        return fail(ErrorKind::Integrity,
                    fmt::format("{}: a link of {} is broken, but {} has files in it",
                                folder,
                                plan_.packages[arriving_.at(folder).first].distribution,
                                package.distribution));
    GPKG_TRY(const auto parent, need_folder(package, parent_of(folder)));
    GPKG_TRY(auto real, place_folder(package, folder, parent));
    if (is_in_meta(real) && !is_in_meta(folder))
        return fail(
            ErrorKind::Integrity,
            fmt::format("{}: a link to the reserved folder conda-meta, but {} has files in it",
                        (transaction_.prefix / folder).native(),
                        package.distribution));
    folders_needed_[folder] = real;
    return real;
}

/// `parent` is where the folder's parent really is.
Result<std::string> Planner::place_folder(const PackagePlan& package,
                                          const std::string& folder,
                                          const std::string& parent) {
    const auto arriving = arriving_.find(folder);
    if (arriving != arriving_.end() && item_at(arriving->second).kind != LinkKind::Folder)
        return go_through_link(package, folder, parent);
    if (parent != parent_of(folder))
        return need_folder(package, joined_path(parent, file_name_of(folder)));
    const auto refuse = [&](std::string_view why) {
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: {}; {} has files in it",
                                (transaction_.prefix / folder).native(),
                                why,
                                package.distribution),
                    "move it away and run the command again");
    };
    const bool goes = leaving_.contains(folder);
    const bool below_fresh = fresh_.contains(parent);
    auto state = FolderState::Missing;
    if (!below_fresh) {
        GPKG_TRY(state, folders_->state(folder));
    }
    switch (state) {
    case FolderState::There: return folder;
    case FolderState::LinkedInside:
        if (!goes) return folders_->linked_to(folder);
        break;
    case FolderState::Missing: break;
    case FolderState::LinkedOutside:
        if (!goes) return refuse("a link that leads out of the environment");
        break;
    case FolderState::NotAFolder:
        if (!goes && owners_.contains(folder))
            return refuse("a file of package " + owners_.at(folder)->package.distribution());
        if (!goes) return refuse("a file that belongs to no package");
        break;
    case FolderState::Unwritable: return refuse("no write permission");
    }
    fresh_.insert(folder);
    plan_.journal.arriving_folders.push_back(folder);
    return folder;
}

Result<void> Planner::check_place(const PackagePlan& package, LinkItem& item) {
    GPKG_TRY(const auto folder, need_folder(package, parent_of(item.target)));
    if (item.kind == LinkKind::Folder) {
        GPKG_CHECK(need_folder(package, item.target));
        return {};
    }
    const auto place = joined_path(folder, file_name_of(item.target));
    if (leaving_.contains(place)) return {};
    struct stat found {};
    const bool below_fresh = plan_.creating || fresh_.contains(folder);
    const int code = below_fresh ? ENOENT : disk_->look(place, found);
    if (code == 0) return check_taken(package, item, place, found);
    if (!is_absent(code)) return pass(disk_->error(place, "access", code));
    plan_.journal.arriving.push_back(place);
    return {};
}

Result<void> Planner::plan_arriving() {
    const auto index = [&](std::size_t p) -> Result<void> {
        auto& package = plan_.packages[p];
        for (std::size_t i = 0; i < package.items.size(); ++i) {
            auto& item = package.items[i];
            if (!is_utf8(item.target))
                return fail(ErrorKind::Unsupported,
                            fmt::format("{}: contains a file name that is not UTF-8",
                                        package.distribution));
            GPKG_CHECK(settle_clash(package, item));
            arriving_[item.target] = {p, i};
        }
        return {};
    };
    for (std::size_t p = 0; p < plan_.packages.size(); ++p) GPKG_CHECK(index(p));
    const auto planned = plan_.packages.size();
    bring_back_from_links();
    GPKG_CHECK(plan_restores());
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
        return fail(
            ErrorKind::Conflict,
            fmt::format("{}: {} in the way: {}{}",
                        transaction_.prefix.native(),
                        unowned_.size() == 1 ? std::string("a file that belongs to no package is")
                                             : fmt::format("{} files that belong to no package are",
                                                           unowned_.size()),
                        fmt::join(first, ", "),
                        unowned_.size() > shown ? ", ..." : ""),
            "move your own files away; remove packages of pip with pip uninstall");
    }
    return {};
}

}  // namespace gpkg
