#include "libcore/base/text.hpp"
#include "libcore/env/disk_internal.hpp"
#include "libcore/env/journal_internal.hpp"
#include "libcore/env/link_script_internal.hpp"
#include "libcore/env/order.hpp"
#include "libcore/env/recovery_internal.hpp"
#include "libcore/fs/file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fmt/format.h>
#include <system_error>

namespace gpkg {
namespace {

/// There from before the first file goes until nothing else is left.
constexpr const char* kMark = "conda-meta/.gpkg-removal";
constexpr const char* kMeta = "conda-meta";

/// A folder that cannot have another name but can be emptied: it comes from a lower layer of an
/// overlay, something is mounted there, the folder above is not this user's, or the other name
/// would be too long.
bool forbids_rename(int code) {
    return code == EXDEV || code == EBUSY || code == EACCES || code == EPERM || code == EROFS ||
           code == ENAMETOOLONG;
}

/// Everything in a folder but these names.
Result<void> remove_all_but(const fs::path& folder, const std::vector<std::string>& names) {
    GPKG_TRY(const auto paths, paths_in(folder));
    Result<void> result;
    for (const auto& path : paths) {
        if (std::find(names.begin(), names.end(), path.filename().native()) != names.end())
            continue;
        // What can be deleted is.
        if (auto removed = remove_tree(path); !removed && result) result = std::move(removed);
    }
    return result;
}

/// The lock goes last, so that others see that somebody is at work. A folder that cannot itself be
/// removed stays, empty.
Result<void> remove_locked(const fs::path& prefix, PrefixLock lock) {
    GPKG_CHECK(remove_all_but(prefix, {kMeta}));
    GPKG_CHECK(remove_all_but(prefix / kMeta, {fs::path(kMark).filename().native(), ".gpkg-lock"}));
    lock.release();
    GPKG_CHECK(remove_tree(prefix / kMeta));
    std::error_code ignored;
    fs::remove(prefix, ignored);
    return {};
}

/// Under its own name.
Result<void> remove_in_place(const fs::path& prefix, PrefixLock lock) {
    GPKG_CHECK(write_file_atomically(prefix / kMark, ""));
    return remove_locked(prefix, std::move(lock));
}

/// Another than those of earlier removals that could not delete everything.
fs::path free_grave(const fs::path& prefix) {
    for (int number = 1;; ++number) {
        auto grave = grave_path(prefix, number);
        if (!is_there(grave)) return grave;
    }
}

/// Something cannot be deleted once the environment has no name any more.
Error left_over(Error error, const fs::path& grave) {
    error.message += fmt::format("; the environment is removed, except for {}", grave.native());
    error.hint = "once that can be deleted (by its owner): gpkg clean --packages";
    return error;
}

/// A path of /proc/self/mountinfo: "\040" is a space there.
std::string mounted_path(std::string_view text) {
    std::string path;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size()) {
            const auto digit = [&](std::size_t at) { return text[i + at] - '0'; };
            path += static_cast<char>(digit(1) * 64 + digit(2) * 8 + digit(3));
            i += 3;
        } else {
            path += text[i];
        }
    }
    return path;
}

Result<void> check_nothing_mounted(const fs::path& prefix) {
    const auto mounts = read_file("/proc/self/mountinfo");
    if (!mounts) return {};  // a system without such a list
    for (const auto line : split(*mounts, '\n')) {
        const auto words = split(line, ' ');
        if (words.size() < 5) continue;
        const auto place = mounted_path(words[4]);
        if (place.starts_with(prefix.native() + "/"))
            return fail(
                ErrorKind::Conflict,
                fmt::format("{}: a file system is mounted there; its files would be deleted",
                            place),
                "unmount it first");
    }
    return {};
}

}  // namespace

bool is_half_removed(const fs::path& prefix) {
    return is_there(prefix / kMark) || (!is_there(prefix) && is_there(grave_path(prefix)));
}

Result<Recovery> finish_removal(const fs::path& prefix, const TransactionOptions& options) {
    GPKG_TRY(const bool begun, path_exists(prefix / kMark));
    if (begun) {
        GPKG_TRY(
            auto lock,
            PrefixLock::acquire(prefix, {options.lock_wait, options.cancelled, options.waiting}));
        GPKG_CHECK(remove_in_place(prefix, std::move(lock)));
        return Recovery::Completed;
    }
    auto recovery = Recovery::Nothing;
    for (int number = 1;; ++number) {
        const auto grave = grave_path(prefix, number);
        GPKG_TRY(const bool there, path_exists(grave));
        if (!there) return recovery;
        // What its owner has to delete is in nobody's way there.
        if (remove_tree(grave)) recovery = Recovery::Completed;
    }
}

Result<void> remove_prefix(const fs::path& named,
                           const TransactionOptions& options,
                           std::optional<PrefixLock> lock) {
    // Of a link the environment goes that it leads to, and then the link.
    std::error_code code;
    const auto prefix = fs::is_symlink(named, code) ? fs::canonical(named, code) : named;
    if (code) return pass(io_error(named.native(), "follow", code.value()));
    if (!options.override_frozen) GPKG_CHECK(check_not_frozen(prefix));
    GPKG_CHECK(check_nothing_mounted(prefix));
    if (!lock) {
        GPKG_CHECK(finish_removal(prefix, options));
        GPKG_TRY(
            lock,
            PrefixLock::acquire(prefix, {options.lock_wait, options.cancelled, options.waiting}));
    }
    GPKG_TRY(auto disk, Disk::open(prefix, options.fault));
    GPKG_CHECK(recover_locked(disk));
    GPKG_TRY(auto installed, read_records(prefix));
    for (const auto& record : dependents_first(std::move(installed)))
        GPKG_CHECK(run_pre_unlink_script(disk, record, options, options.warn));
    if (options.cancelled && options.cancelled())
        return fail(ErrorKind::Interrupted, "interrupted");
    // Renamed first: whatever happens next, there is no half environment under the name.
    const auto grave = free_grave(prefix);
    if (::rename(prefix.c_str(), grave.c_str()) == 0) {
        lock->moved_to(grave);
        if (auto removed = remove_locked(grave, *std::move(lock)); !removed) {
            static_cast<void>(remove_tree(grave / kMeta));
            return pass(left_over(std::move(removed).error(), grave));
        }
    } else if (forbids_rename(errno)) {
        GPKG_CHECK(remove_in_place(prefix, *std::move(lock)));
    } else {
        return pass(io_error(prefix.native(), "rename to " + grave.native(), errno));
    }
    if (named != prefix) fs::remove(named, code);
    if (code) return pass(io_error(named.native(), "remove", code.value()));
    return {};
}

}  // namespace gpkg
