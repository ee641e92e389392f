// make_plan: what leaves, what arrives, what is in the way. Every refusal that can be known is
// given here, before the first change.

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/folders_internal.hpp"
#include "libcore/env/link_plan_internal.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <simdjson.h>
#include <sys/statvfs.h>
#include <system_error>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>

namespace gpkg {
namespace {

/// Packages of the new environment that stay, by path.
using Owners = std::unordered_map<std::string_view, const PrefixRecord*>;

class Planner {
public:
    Planner(const Transaction& transaction, const TransactionOptions& options)
        : transaction_(transaction), options_(options) {
        for (const auto& record : transaction.unlink) unlinked_.insert(record.file_name());
    }

    Result<Plan> make();

private:
    Result<void> read_prefix();
    Result<void> check_records();
    Result<void> check_python();
    Result<void> plan_packages();
    Result<void> plan_leaving();
    Result<void> leave(const PrefixRecord& record, const std::string& path, std::int64_t written);
    void keep_shared(const PrefixRecord& owner, const std::string& path);
    void plan_restores();
    Result<void> plan_arriving();
    Result<void> settle_clash(const PackagePlan& package, LinkItem& item);
    Result<void> check_place(const PackagePlan& package, LinkItem& item);
    Result<void> check_taken(const PackagePlan& package,
                             const LinkItem& item,
                             const struct stat& found);
    Result<void> clear_folder(const PackagePlan& package, const LinkItem& item);
    Result<void> need_folder(const PackagePlan& package, const std::string& folder);
    Result<void> go_through_link(const PackagePlan& package,
                                 const std::string& folder,
                                 std::pair<std::size_t, std::size_t> place);
    Result<void> check_case();
    Result<void> check_space();
    void plan_emptied();
    void plan_records();
    void warn(std::string text) { plan_.cost.warnings.push_back(std::move(text)); }
    LinkItem& item_at(std::pair<std::size_t, std::size_t> place) {
        return plan_.packages[place.first].items[place.second];
    }

    const Transaction& transaction_;
    const TransactionOptions& options_;
    Plan plan_;
    std::optional<Disk> disk_;
    std::optional<Folders> folders_;
    std::unordered_set<std::string> unlinked_;  ///< file names of records
    std::vector<const PrefixRecord*> staying_;
    Owners owners_;
    std::unordered_map<std::string, std::size_t> leaving_;  ///< path -> place
    /// Files of staying packages that a leaving one had overwritten.
    std::vector<std::pair<const PrefixRecord*, std::string>> overwritten_;
    /// The item that has a path in the end.
    std::unordered_map<std::string_view, std::pair<std::size_t, std::size_t>> arriving_;
    std::set<std::string> folders_needed_;
    std::unordered_set<std::string> fresh_;  ///< of these, the ones that will be made
    std::vector<std::string> unowned_;       ///< files in the way that belong to nobody
};

Result<void> Planner::read_prefix() {
    std::error_code code;
    const auto status = fs::symlink_status(transaction_.prefix, code);
    plan_.creating = status.type() == fs::file_type::not_found;
    if (plan_.creating) {
        folders_.emplace(nullptr);
        return {};
    }
    GPKG_TRY(disk_, Disk::open(transaction_.prefix, {}));
    folders_.emplace(&*disk_);
    for (const auto* folder : {"", "conda-meta"}) {
        const auto state = folders_->state(folder);
        if (state == FolderState::Unwritable)
            return fail(ErrorKind::Io,
                        fmt::format("{}: this user may not write there",
                                    (transaction_.prefix / folder).native()));
        if (state == FolderState::NotAFolder || state == FolderState::LinkedOutside)
            return fail(ErrorKind::Conflict,
                        fmt::format("{}: not a folder of this prefix",
                                    (transaction_.prefix / folder).native()));
    }
    if (folders_->state("conda-meta") == FolderState::Missing) return {};
    GPKG_TRY(plan_.installed, read_records(transaction_.prefix));
    return {};
}

Result<void> Planner::check_records() {
    const auto changed = [&](std::string_view what) -> Result<void> {
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: the environment is not what this change was made for: {}",
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
        if (!names.insert(request.record.name).second)
            return changed(fmt::format("{} is installed already", request.record.name));
    }
    for (const auto& respecified : transaction_.respecify) {
        if (!names.contains(respecified.name))
            return changed(fmt::format("{} is not installed", respecified.name));
    }
    for (const auto* record : staying_) {
        for (const auto& path : record->files) owners_.emplace(path, record);
    }
    return {};
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
                        fmt::format("{}: {} must be linked anew for python {}",
                                    transaction_.prefix.native(),
                                    record->package.distribution(),
                                    plan_.python->version));
    }
    return {};
}

Result<void> Planner::plan_packages() {
    const auto compile = options_.compile_pyc;
    for (const auto& request : transaction_.link) {
        auto package = plan_package(request, plan_.python, transaction_.prefix, compile);
        if (!package)
            return pass(std::move(package).error().while_doing(
                fmt::format("preparing {}", request.record.distribution())));
        plan_.packages.push_back(*std::move(package));
    }
    return {};
}

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

/// The time a record was written, after all of its files: what is younger was changed by others.
std::int64_t installed_at(const Disk& disk, const PrefixRecord& record) {
    struct stat status {};
    if (disk.look("conda-meta/" + record.file_name(), status) != 0) return 0;
    return status.st_mtim.tv_sec + 1;
}

Result<void> Planner::leave(const PrefixRecord& record,
                            const std::string& path,
                            std::int64_t written) {
    if (leaving_.contains(path)) return {};
    const auto above = folders_->state(parent_of(path));
    if (above == FolderState::LinkedOutside) {
        warn(fmt::format("{} of {} is left alone: a link leads out of the environment",
                         path,
                         record.package.distribution()));
        return {};
    }
    struct stat status {};
    if (disk_->look(path, status) != 0) return {};
    if (above == FolderState::Unwritable)
        return fail(ErrorKind::Io,
                    fmt::format("{}: this user may not write there",
                                (transaction_.prefix / path).parent_path().native()));
    if (S_ISDIR(status.st_mode)) {
        plan_.journal.emptied.push_back(path);
        return {};
    }
    if (S_ISREG(status.st_mode) && status.st_mtim.tv_sec > written) {
        const auto entry = std::find_if(record.paths.begin(),
                                        record.paths.end(),
                                        [&](const PrefixPath& p) { return p.path == path; });
        if (entry != record.paths.end() && !entry->sha256_in_prefix.empty()) {
            const auto found = sha256_of_file(transaction_.prefix / path);
            if (found && *found != entry->sha256_in_prefix)
                warn(fmt::format("{} of {} was changed after it was installed; the change is lost",
                                 path,
                                 record.package.distribution()));
        }
    }
    leaving_.emplace(path, plan_.journal.leaving.size());
    plan_.journal.leaving.push_back(path);
    return {};
}

Result<void> Planner::plan_leaving() {
    for (const auto& record : plan_.installed) {
        if (!unlinked_.contains(record.file_name())) continue;
        const auto written = installed_at(*disk_, record);
        for (const auto& path : record.files) {
            const auto owner = owners_.find(path);
            if (owner != owners_.end()) {
                keep_shared(*owner->second, path);
                continue;
            }
            GPKG_CHECK(leave(record, path, written));
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
            plan_package(request, plan_.python, transaction_.prefix, options_.compile_pyc);
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
        warn(
            fmt::format("{} of {} was overwritten by a package that is now removed, and could "
                        "not be restored; reinstall {}",
                        path,
                        owner->package.distribution(),
                        owner->package.name));
    }
}

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

bool is_compiled(std::string_view path) {
    return path.ends_with(".pyc") && path.find("__pycache__/") != std::string_view::npos;
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
    const auto place = plan_.journal.leaving.size();
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
        if (!same && options_.unowned == UnownedFiles::Refuse) {
            unowned_.push_back(item.target);
            return {};
        }
        if (!same) {
            auto name = item.target + ".gpkg-saved";
            for (int n = 2; disk_->exists(name); ++n)
                name = fmt::format("{}.gpkg-saved-{}", item.target, n);
            warn(fmt::format("{} belongs to no package; kept as {}", item.target, name));
            plan_.journal.saved.push_back({place, std::move(name)});
        }
    }
    leaving_.emplace(item.target, place);
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

/// The path with the case of its last letters turned, to see whether it names the same thing.
bool ignores_case(fs::path folder) {
    std::error_code code;
    while (!folder.empty() && folder != folder.root_path()) {
        auto name = folder.filename().native();
        bool letters = false;
        for (char& c : name) {
            const bool lower = c >= 'a' && c <= 'z';
            if (!lower && !(c >= 'A' && c <= 'Z')) continue;
            c = static_cast<char>(lower ? c - 32 : c + 32);
            letters = true;
        }
        if (letters && fs::exists(folder, code))
            return fs::equivalent(folder, folder.parent_path() / name, code);
        folder = folder.parent_path();
    }
    return false;
}

Result<void> Planner::check_case() {
    if (!ignores_case(transaction_.prefix)) return {};
    std::unordered_map<std::string, std::string_view> seen;
    for (const auto& [path, place] : arriving_) {
        const auto [other, fresh] = seen.emplace(to_lower(path), path);
        if (!fresh)
            return fail(ErrorKind::Unsupported,
                        fmt::format("{}: {} and {} are one file on this file system",
                                    transaction_.prefix.native(),
                                    std::min(other->second, path),
                                    std::max(other->second, path)));
    }
    return {};
}

fs::path nearest_folder(fs::path path) {
    std::error_code code;
    while (!fs::is_directory(path, code) && path.has_parent_path() && path != path.parent_path())
        path = path.parent_path();
    return path;
}

Result<void> Planner::check_space() {
    auto& cost = plan_.cost;
    const auto folder = nearest_folder(transaction_.prefix);
    struct stat here {};
    if (::stat(folder.c_str(), &here) != 0) return pass(io_error(folder, "look at", errno));
    for (const auto& package : plan_.packages) {
        struct stat there {};
        if (::stat(package.unpacked.c_str(), &there) != 0)
            return pass(io_error(package.unpacked, "look at", errno));
        const bool shares = here.st_dev == there.st_dev && options_.link != LinkMethod::Copy;
        for (const auto& item : package.items) {
            if (item.skipped) continue;
            ++cost.files;
            if (item.kind == LinkKind::Folder) continue;
            if (item.kind == LinkKind::Link && shares && options_.link != LinkMethod::Reflink)
                continue;
            ++cost.new_inodes;
            if (item.kind == LinkKind::SoftLink || (item.kind == LinkKind::Link && shares))
                continue;
            cost.new_bytes += item.size;
        }
    }
    cost.new_inodes += plan_.journal.arriving_folders.size() + plan_.packages.size();

    struct statvfs system {};
    if (::statvfs(folder.c_str(), &system) != 0) return {};
    const auto free_bytes = std::uint64_t{system.f_bavail} * system.f_frsize;
    if (cost.new_bytes > free_bytes)
        return fail(ErrorKind::Io,
                    fmt::format("{}: needs {} bytes, the file system has {} left",
                                transaction_.prefix.native(),
                                cost.new_bytes,
                                free_bytes),
                    "free some space (gpkg clean) and run the command again");
    // Some file systems count no inodes and say 0 of 0.
    if (system.f_files != 0 && cost.new_inodes > system.f_favail)
        return fail(ErrorKind::Io,
                    fmt::format("{}: needs {} files, the file system allows {} more",
                                transaction_.prefix.native(),
                                cost.new_inodes,
                                system.f_favail),
                    "free some space (gpkg clean) and run the command again");
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

std::string dist_text(const PackageRecord& record) {
    return fmt::format("{}/{}::{}", record.channel, record.subdir, record.distribution());
}

void Planner::plan_records() {
    auto& journal = plan_.journal;
    std::set<std::string> written;
    for (const auto& request : transaction_.link)
        written.insert(request.record.distribution() + ".json");
    for (const auto* record : staying_) {
        for (const auto& respecified : transaction_.respecify) {
            if (respecified.name == record->package.name) written.insert(record->file_name());
        }
    }
    if (transaction_.state) written.insert("gpkg.json");
    if (!transaction_.variables.empty()) written.insert("state");
    for (const auto& record : transaction_.unlink) {
        if (!written.contains(record.file_name())) journal.dropped.push_back(record.file_name());
    }
    journal.records.assign(written.begin(), written.end());

    auto entry = transaction_.history;
    entry.time = history_time();
    entry.added.clear();
    entry.removed.clear();
    for (const auto& record : transaction_.unlink)
        entry.removed.push_back(dist_text(record.package));
    for (const auto& request : transaction_.link) entry.added.push_back(dist_text(request.record));
    const auto history = read_file(transaction_.prefix / "conda-meta/history");
    journal.history_size = history ? history->size() : 0;
    journal.history_block = to_text(entry);
    if (history && !history->empty() && !history->ends_with('\n'))
        journal.history_block.insert(0, 1, '\n');
}

Result<Plan> Planner::make() {
    GPKG_CHECK(read_prefix());
    GPKG_CHECK(check_records());
    GPKG_CHECK(check_python());
    GPKG_CHECK(plan_packages());
    if (!plan_.creating) GPKG_CHECK(plan_leaving());
    GPKG_CHECK(plan_arriving());
    GPKG_CHECK(check_case());
    GPKG_CHECK(check_space());
    plan_emptied();
    plan_records();
    plan_.journal.made_prefix = plan_.creating;
    return std::move(plan_);
}

}  // namespace

Result<Plan> make_plan(const Transaction& transaction, const TransactionOptions& options) {
    if (!transaction.prefix.is_absolute())
        return fail(ErrorKind::Usage,
                    fmt::format("{}: a prefix is an absolute path", transaction.prefix.native()));
    if (!options.override_frozen) GPKG_CHECK(check_not_frozen(transaction.prefix));
    return Planner(transaction, options).make();
}

}  // namespace gpkg
