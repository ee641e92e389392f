#include "libcore/base/digest.hpp"
#include "libcore/base/parallel.hpp"
#include "libcore/base/prefix_path.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/folders_internal.hpp"
#include "libcore/env/link_files_internal.hpp"
#include "libcore/env/link_script_internal.hpp"
#include "libcore/env/placeholder.hpp"
#include "libcore/env/second_names_internal.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <unistd.h>

namespace gpkg {
namespace {

/// Hard links and reflinks that do not work here; a copy does.
bool means_copy(int code) {
    return code == EXDEV || code == EPERM || code == EOPNOTSUPP || code == ENOTSUP ||
           code == ENOSYS || code == EMLINK || code == ENOTTY || code == EINVAL || code == EACCES;
}

struct Counts {
    std::atomic<std::uint64_t> hard_linked{0};
    std::atomic<std::uint64_t> reflinked{0};
    std::atomic<std::uint64_t> copied{0};
    std::atomic<std::uint64_t> copied_on_request{0};
    std::atomic<std::uint64_t> replaced{0};
    std::atomic<std::uint64_t> soft_linked{0};
};

/// What linking one package came to: packages may lie on different file systems.
struct Attempts {
    std::atomic<bool> hard_links_work{true};
    std::atomic<bool> reflinks_work{true};
    std::atomic<bool> hard_linked{false};
    std::atomic<bool> copied{false};
};

/// Files of one package, one after the other in one thread.
struct Piece {
    PackagePlan* package = nullptr;
    Attempts* attempts = nullptr;
    std::size_t first = 0;
    std::size_t last = 0;
};

class Linker {
public:
    Linker(Disk& disk, const TransactionOptions& options, const Plan& plan, std::size_t total)
        : disk_(disk),
          options_(options),
          named_prefix_(plan.named_prefix),
          attempts_(plan.packages.size()),
          second_names_(disk),
          total_(total) {}

    Result<void> make_folders(Plan& plan);
    /// The packages [first, last) of the plan.
    Result<void> link(Plan& plan, std::size_t first, std::size_t last);
    /// Where the file system has no symbolic links, files are copied in their place.
    Result<void> copy_refused_links(std::vector<std::string>& warnings);
    const Counts& counts() const { return counts_; }
    /// How the package at that place of the plan was linked.
    LinkType link_type(std::size_t place) const;
    /// Why files were copied; 0 when none was or a copy was asked for.
    int copy_reason() const { return copy_reason_; }
    std::vector<std::string> take_foreign() { return std::move(foreign_); }

private:
    Result<void> link_piece(const Piece& piece);
    Result<void> link_item(int source, const Piece& piece, LinkItem& item);
    Result<void> link_file(int source, const Piece& piece, LinkItem& item);
    Result<void> replace(int source, const PackagePlan& package, LinkItem& item);
    Result<void> soft_link(int source, const PackagePlan& package, const LinkItem& item);
    Result<void> check_size(int source, const PackagePlan& package, const LinkItem& item);
    Result<void> refuse(const PackagePlan& package, const LinkItem& item, int code);
    void report_progress(std::size_t done);
    Result<void> replace_in_pieces(const PackagePlan& package, LinkItem& item, mode_t mode);
    Result<void> no_link_to_folder(const PackagePlan& package, const LinkItem& item);
    struct RefusedLink {
        const PackagePlan* package = nullptr;
        const LinkItem* item = nullptr;
        std::string text;  ///< where it leads
    };
    Result<bool> copy_for_link(const RefusedLink& link);

    Disk& disk_;
    const TransactionOptions& options_;
    const fs::path& named_prefix_;
    std::vector<Attempts> attempts_;  ///< by place in the plan
    SecondNames second_names_;
    std::size_t total_;
    Counts counts_;
    std::atomic<int> copy_reason_{0};
    std::mutex mutex_;
    std::size_t done_ = 0;
    std::vector<std::string> foreign_;
    std::vector<RefusedLink> refused_links_;
};

Result<void> Linker::refuse(const PackagePlan& package, const LinkItem& item, int code) {
    if (code == EEXIST) {
        const std::lock_guard guard(mutex_);
        foreign_.push_back(item.target);
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: created by another process meanwhile",
                                (disk_.prefix() / item.target).native()),
                    "run the command again");
    }
    std::error_code ignored;
    const bool from_package = item.kind != LinkKind::EntryPoint;
    if (code == ENOENT && from_package && !is_there(package.unpacked / item.source))
        return fail(
            ErrorKind::NotFound,
            fmt::format("{}: {} is missing from the unpacked package",
                        package.unpacked.native(),
                        item.source),
            "run the command again; if it fails again, the store is damaged: gpkg repair --store");
    auto error = disk_.error(item.target, "link", code);
    if (code == EPERM)
        error.hint =
            "the file system may not allow permissions to be set (chmod): choose a path "
            "for the environment on another one";
    if (code == EXDEV)
        error.hint =
            "to copy files that cannot be linked: --link auto, or link: auto in the configuration";
    return pass(std::move(error));
}

Result<void> Linker::make_folders(Plan& plan) {
    std::map<std::string, std::pair<PackagePlan*, LinkItem*>> links;
    for (auto& package : plan.packages) {
        for (auto& item : package.items) {
            if (item.early && !item.skipped) links.emplace(item.target, std::pair(&package, &item));
        }
    }
    for (const auto& folder : plan.journal.arriving_folders) {
        const int code = disk_.make_folder(folder);
        // Two may be one, where case does not matter.
        if (code != 0 && code != EEXIST) return pass(disk_.error(folder, "make", code));
    }
    // Some lie behind others, whose paths begin theirs.
    for (const auto& [path, link] : links) {
        const auto [package, item] = link;
        GPKG_TRY(const auto source, open_folder(package->unpacked));
        GPKG_CHECK(soft_link(source.get(), *package, *item));
    }
    return {};
}

/// What is tried for a file, one after the other.
std::span<const LinkMethod> methods_for(LinkMethod asked, const PackagePlan& package) {
    using enum LinkMethod;
    static constexpr std::array kReflinkFirst = {Reflink, HardLink, Copy};
    static constexpr std::array kHardLinkFirst = {HardLink, Reflink, Copy};
    switch (asked) {
    case Auto: break;
    case HardLink: return std::span(kHardLinkFirst).first(1);
    case Reflink: return std::span(kReflinkFirst).first(1);
    case Copy: return std::span(kHardLinkFirst).last(1);
    }
    return package.reflinks_first ? std::span(kReflinkFirst) : std::span(kHardLinkFirst);
}

Result<void> Linker::link_file(int source, const Piece& piece, LinkItem& item) {
    const auto& package = *piece.package;
    auto& attempts = *piece.attempts;
    item.sha256 = item.entry->sha256;
    const bool asks_copy = item.kind == LinkKind::CopyOnly || options_.link == LinkMethod::Copy;
    int code = 0;
    for (const auto method : methods_for(asks_copy ? LinkMethod::Copy : options_.link, package)) {
        switch (method) {
        case LinkMethod::Auto: continue;
        case LinkMethod::HardLink:
            if (!attempts.hard_links_work) continue;
            code = disk_.hard_link(source, item.source, item.target);
            if (code == 0) {
                ++counts_.hard_linked;
                attempts.hard_linked = true;
                return {};
            }
            copy_reason_ = code;
            // Too many links to one file says nothing of the next.
            if (means_copy(code) && code != EMLINK) attempts.hard_links_work = false;
            break;
        case LinkMethod::Reflink:
            if (!attempts.reflinks_work) continue;
            code = second_names_.make(item.target, [&](const std::string& name) {
                return disk_.reflink(source, item.source, name);
            });
            if (code == 0) {
                ++counts_.reflinked;
                return {};
            }
            if (means_copy(code)) attempts.reflinks_work = false;
            break;
        case LinkMethod::Copy:
            code = second_names_.make(item.target, [&](const std::string& name) {
                return disk_.copy(source, item.source, name);
            });
            if (code != 0) break;
            ++(asks_copy ? counts_.copied_on_request : counts_.copied);
            attempts.copied = true;
            return {};
        }
        if (!means_copy(code)) break;
    }
    return refuse(package, item, code);
}

LinkType Linker::link_type(std::size_t place) const {
    const auto& attempts = attempts_[place];
    return attempts.copied && !attempts.hard_linked ? LinkType::Copy : LinkType::HardLink;
}

Result<void> Linker::replace(int source, const PackagePlan& package, LinkItem& item) {
    struct stat status {};
    if (::fstatat(source, item.source.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
        return refuse(package, item, errno);
    const auto& entry = *item.entry;
    const auto file = package.unpacked / item.source;
    if (entry.mode == FileMode::Binary && static_cast<std::uint64_t>(status.st_size) > kMostHeld) {
        GPKG_TRY(
            const auto changes,
            changes_in_binary(file, entry.prefix_placeholder, named_prefix_.native(), entry.path));
        const int code = second_names_.make(item.target, [&](const std::string& name) {
            return disk_.copy_changed(source, item.source, name, changes, status.st_mode & 07777);
        });
        if (code != 0) return refuse(package, item, code);
        GPKG_TRY(item.sha256, sha256_of_file(disk_.prefix() / item.target));
        ++counts_.replaced;
        return {};
    }
    if (static_cast<std::uint64_t>(status.st_size) > kMostHeld)
        return replace_in_pieces(package, item, status.st_mode & 07777);
    GPKG_TRY(const auto text, bytes_with_prefix(entry, file, named_prefix_));
    const int code = second_names_.make(item.target, [&](const std::string& name) {
        return disk_.write(name, text, status.st_mode & 07777);
    });
    if (code != 0) return refuse(package, item, code);
    item.sha256 = hex_digest(DigestKind::Sha256, text);
    ++counts_.replaced;
    return {};
}

/// A text that is too large to be held.
Result<void> Linker::replace_in_pieces(const PackagePlan& package, LinkItem& item, mode_t mode) {
    const auto file = package.unpacked / item.source;
    const auto& placeholder = item.entry->prefix_placeholder;
    GPKG_CHECK(check_growth(file, placeholder, named_prefix_.native(), file.native()));
    Result<int> written = 0;
    const int code = second_names_.make(item.target, [&](const std::string& name) {
        return disk_.write_pieces(name, mode, [&](const Disk::Put& put) {
            written = replace_in_text_file(file, placeholder, named_prefix_.native(), put);
            return written.value_or(EIO);
        });
    });
    if (!written) return pass(std::move(written).error());
    if (code != 0) return refuse(package, item, code);
    GPKG_TRY(item.sha256, sha256_of_file(disk_.prefix() / item.target));
    ++counts_.replaced;
    return {};
}

/// The file system has no symbolic links.
bool has_no_soft_links(int code) {
    return code == EPERM || code == EOPNOTSUPP || code == ENOSYS || code == EINVAL;
}

Result<void> Linker::soft_link(int source, const PackagePlan& package, const LinkItem& item) {
    std::array<char, PATH_MAX> target{};
    const auto size = ::readlinkat(source, item.source.c_str(), target.data(), target.size());
    if (size < 0) return refuse(package, item, errno);
    const auto text = link_with_prefix(
        *item.entry, {target.data(), static_cast<std::size_t>(size)}, named_prefix_);
    const int code = second_names_.make(
        item.target, [&](const std::string& name) { return disk_.symlink(text, name); });
    if (has_no_soft_links(code) && !item.early) {
        const std::lock_guard guard(mutex_);
        refused_links_.push_back({&package, &item, text});
        return {};
    }
    if (has_no_soft_links(code)) return no_link_to_folder(package, item);
    if (code != 0) return refuse(package, item, code);
    ++counts_.soft_linked;
    return {};
}

Result<void> Linker::no_link_to_folder(const PackagePlan& package, const LinkItem& item) {
    return fail(ErrorKind::Unsupported,
                fmt::format("{}: this file system has no symbolic links, and {} needs one to a "
                            "folder here",
                            (disk_.prefix() / item.target).native(),
                            package.distribution),
                "choose a path for the environment on another file system");
}

/// Copies a file in the place of a link to it. False where the link leads to nothing (yet).
Result<bool> Linker::copy_for_link(const RefusedLink& link) {
    auto text = std::string_view(link.text);
    const auto inside = named_prefix_.native() + "/";
    const bool is_absolute = text.starts_with('/');
    if (text.starts_with(inside))
        text.remove_prefix(inside.size());
    else if (is_absolute)
        return false;
    const auto file =
        normal_inside(joined_path(is_absolute ? "" : parent_of(link.item->target), text));
    struct stat status {};
    const int found = file ? disk_.look(*file, status) : ENOENT;
    if (is_absent(found)) return false;
    if (found != 0) return pass(disk_.error(*file, "access", found));
    if (S_ISDIR(status.st_mode)) return pass(no_link_to_folder(*link.package, *link.item).error());
    const int code = second_names_.make(link.item->target, [&](const std::string& name) {
        return disk_.copy(disk_.root(), *file, name);
    });
    if (code != 0) return pass(refuse(*link.package, *link.item, code).error());
    return true;
}

Result<void> Linker::copy_refused_links(std::vector<std::string>& warnings) {
    const auto all = refused_links_.size();
    // A link may lead to another one, whose copy comes first then.
    for (std::size_t before = all + 1; !refused_links_.empty() && refused_links_.size() < before;) {
        before = refused_links_.size();
        std::vector<RefusedLink> left;
        for (const auto& link : refused_links_) {
            GPKG_TRY(const bool copied, copy_for_link(link));
            if (!copied) left.push_back(link);
        }
        refused_links_ = std::move(left);
    }
    if (all == 0) return {};
    warnings.push_back(fmt::format("{}: this file system has no symbolic links: {} copied instead",
                                   disk_.prefix().native(),
                                   count_text(all - refused_links_.size(), "file")));
    if (!refused_links_.empty())
        warnings.push_back(
            fmt::format("{}: {} left out that lead to no file of the environment, "
                        "such as {}",
                        disk_.prefix().native(),
                        count_text(refused_links_.size(), "symbolic link"),
                        refused_links_.front().item->target));
    return {};
}

/// A machine that fails may leave files of the store empty that were written shortly before.
Result<void> Linker::check_size(int source, const PackagePlan& package, const LinkItem& item) {
    struct stat status {};
    const auto size = item.entry->size_in_bytes;
    if (size == 0 || ::fstatat(source, item.source.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        static_cast<std::uint64_t>(status.st_size) == size)
        return {};
    return fail(ErrorKind::Integrity,
                fmt::format("{}: has {} bytes, but its package records {}",
                            (package.unpacked / item.source).native(),
                            status.st_size,
                            size),
                "to remove damaged packages from the store: gpkg repair --store");
}

Result<void> Linker::link_item(int source, const Piece& piece, LinkItem& item) {
    const auto& package = *piece.package;
    switch (item.kind) {
    case LinkKind::Link:
    case LinkKind::CopyOnly:
        GPKG_CHECK(check_size(source, package, item));
        return link_file(source, piece, item);
    case LinkKind::Replace:
        GPKG_CHECK(check_size(source, package, item));
        return replace(source, package, item);
    case LinkKind::SoftLink:
        item.sha256 = item.entry->sha256;
        return item.early ? Result<void>() : soft_link(source, package, item);
    case LinkKind::EntryPoint: {
        const int code = second_names_.make(item.target, [&](const std::string& name) {
            return disk_.write(name, item.content, 0755);
        });
        if (code != 0) return refuse(package, item, code);
        item.sha256 = hex_digest(DigestKind::Sha256, item.content);
        return {};
    }
    case LinkKind::Folder:
    case LinkKind::Pyc: return {};
    }
    return {};
}

void Linker::report_progress(std::size_t done) {
    if (!options_.progress) return;
    const std::lock_guard guard(mutex_);
    done_ += done;
    options_.progress("linking", done_, total_);
}

Result<void> Linker::link_piece(const Piece& piece) {
    if (options_.cancelled && options_.cancelled())
        return fail(ErrorKind::Interrupted, "interrupted");
    auto source = open_folder(piece.package->unpacked);
    if (!source)
        return fail(
            ErrorKind::NotFound,
            fmt::format("{}: the unpacked package was removed", piece.package->unpacked.native()),
            "run the command again");
    for (std::size_t i = piece.first; i < piece.last; ++i) {
        auto& item = piece.package->items[i];
        if (!item.skipped) GPKG_CHECK(link_item(source->get(), piece, item));
    }
    report_progress(piece.last - piece.first);
    return {};
}

Result<void> Linker::link(Plan& plan, std::size_t first, std::size_t last) {
    static constexpr std::size_t kPieceSize = 64;
    std::vector<Piece> pieces;
    for (std::size_t p = first; p < last; ++p) {
        auto& package = plan.packages[p];
        for (std::size_t i = 0; i < package.items.size(); i += kPieceSize)
            pieces.push_back(
                {&package, &attempts_[p], i, std::min(i + kPieceSize, package.items.size())});
    }
    std::atomic<std::size_t> next{0};
    std::optional<Error> failure;
    const auto work = [&] {
        for (;;) {
            const auto i = next++;
            if (i >= pieces.size()) return;
            auto done = link_piece(pieces[i]);
            if (done) continue;
            next = pieces.size();
            const std::lock_guard guard(mutex_);
            if (!failure) failure = std::move(done).error();
        }
    };
    run_in_parallel(std::min<std::size_t>(options_.threads, pieces.size()), work);
    if (failure) return pass(std::move(*failure));
    return {};
}

PrefixPathType path_type_of(LinkKind kind) {
    switch (kind) {
    case LinkKind::SoftLink: return PrefixPathType::SoftLink;
    case LinkKind::Folder: return PrefixPathType::Directory;
    case LinkKind::EntryPoint: return PrefixPathType::UnixPythonEntryPoint;
    case LinkKind::Pyc: return PrefixPathType::PycFile;
    case LinkKind::Link:
    case LinkKind::CopyOnly:
    case LinkKind::Replace: break;
    }
    return PrefixPathType::HardLink;
}

}  // namespace

Result<void> link_files(Disk& disk,
                        Plan& plan,
                        const TransactionOptions& options,
                        TransactionReport& report,
                        std::vector<std::string>& foreign) {
    std::size_t total = 0;
    for (const auto& package : plan.packages) total += package.items.size();
    Linker linker(disk, options, plan, total);
    const auto all = [&]() -> Result<void> {
        GPKG_CHECK(linker.make_folders(plan));
        // A pre-link script sees the packages before its own linked, and nothing after them.
        std::size_t first = 0;
        for (std::size_t p = 0; p < plan.packages.size(); ++p) {
            const auto& package = plan.packages[p];
            if (package.request == nullptr) continue;
            const auto script = link_script_path(package.request->record.name, "pre-link");
            if (!package.brings(script)) continue;
            GPKG_CHECK(linker.link(plan, first, p));
            first = p;
            GPKG_CHECK(run_link_script(
                disk, {&package.request->record, "pre-link", package.unpacked / script}, options));
        }
        GPKG_CHECK(linker.link(plan, first, plan.packages.size()));
        return linker.copy_refused_links(report.warnings);
    };
    auto done = all();
    if (disk.has_refused_modes())
        report.warnings.push_back(
            fmt::format("{}: this file system does not allow permissions to be set (chmod); files "
                        "have the mode that it gives them",
                        disk.prefix().native()));
    const auto& counts = linker.counts();
    report.hard_linked = counts.hard_linked;
    report.reflinked = counts.reflinked;
    report.copied = counts.copied;
    report.copied_on_request = counts.copied_on_request;
    report.replaced = counts.replaced;
    report.soft_linked = counts.soft_linked;
    foreign = linker.take_foreign();
    report.copy_reason = linker.copy_reason();
    for (std::size_t p = 0; p < plan.packages.size(); ++p)
        plan.packages[p].link_type = linker.link_type(p);
    return done;
}

PrefixRecord installed_record(const PackagePlan& package) {
    PrefixRecord record;
    record.package = package.request->record;
    record.link_source = package.unpacked;
    record.link_type = package.link_type;
    record.requested_specs = package.request->requested_specs;
    record.extracted_package_dir = package.unpacked;
    record.files.reserve(package.items.size());
    record.paths.reserve(package.items.size());
    for (const auto& item : package.items) {
        record.files.push_back(item.target);
        PrefixPath path;
        path.path = item.target;
        path.type = path_type_of(item.kind);
        // A link has no content of its own; what it leads to may be rewritten for the prefix.
        if (item.kind != LinkKind::SoftLink) path.sha256_in_prefix = item.sha256;
        if (item.entry != nullptr) {
            path.sha256 = item.entry->sha256;
            path.size = item.entry->size_in_bytes;
            path.prefix_placeholder = item.entry->prefix_placeholder;
            path.binary = item.entry->mode == FileMode::Binary;
            path.no_link = item.entry->no_link;
        } else if (item.kind == LinkKind::EntryPoint) {
            path.size = item.size;
        }
        record.paths.push_back(std::move(path));
    }
    return record;
}

}  // namespace gpkg
