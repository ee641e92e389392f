#include "libcore/package/store.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/fs/system_user.hpp"
#include "libcore/fs/workplace.hpp"
#include "libcore/package/after_failure_internal.hpp"
#include "libcore/package/checksums.hpp"
#include "libcore/package/files_internal.hpp"
#include "libcore/package/info.hpp"
#include "libcore/package/shared_modes_internal.hpp"
#include "libcore/package/verify.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <set>
#include <sys/stat.h>
#include <system_error>

namespace gpkg {
namespace {

constexpr std::size_t kKeyDigits = 32;  // 128 bits: nobody finds a second archive for a key
constexpr const char* kRecordFile = "info/repodata_record.json";

std::string folder_name(const PackageRecord& record) {
    return fmt::format("{}-{}", record.distribution(), record.sha256.substr(0, kKeyDigits));
}

/// True for "...-<32 hex digits>".
bool is_folder_name(std::string_view name) {
    return name.size() > kKeyDigits + 1 && name.front() != '.' &&
           name[name.size() - kKeyDigits - 1] == '-' &&
           is_hex(name.substr(name.size() - kKeyDigits), kKeyDigits);
}

/// The record is written last, before the folder gets its name.
/// Empty is what a failing machine may leave of the record.
bool is_whole(const fs::path& folder) {
    const auto record = folder / kRecordFile;
    struct stat status {};
    return ::stat(record.c_str(), &status) == 0 && status.st_size > 0 &&
           ::faccessat(AT_FDCWD, record.c_str(), R_OK, 0) == 0;
}

std::optional<fs::path> find_by_sha256(const fs::path& root, const PackageRecord& record) {
    auto folder = root / folder_name(record);
    if (!is_whole(folder)) return std::nullopt;
    return folder;
}

fs::path alias_path(const fs::path& root, const std::string& md5) { return root / ".md5" / md5; }

std::optional<fs::path> find_by_md5(const fs::path& root, const PackageRecord& record) {
    const auto name = read_file(alias_path(root, record.md5));
    const auto start = record.distribution() + "-";
    if (!name || !is_folder_name(*name) || !name->starts_with(start) ||
        name->size() != start.size() + kKeyDigits || name->find('/') != std::string::npos)
        return std::nullopt;
    auto folder = root / *name;
    if (!is_whole(folder)) return std::nullopt;
    return folder;
}

/// The folders of a store that have a package's name, sorted.
Result<std::vector<fs::path>> package_folders(const fs::path& root) {
    std::vector<fs::path> folders;
    std::error_code code;
    for (fs::directory_iterator item(root, code), end; !code && item != end; item.increment(code)) {
        if (is_folder_name(item->path().filename().native())) folders.push_back(item->path());
    }
    if (code && code != std::errc::no_such_file_or_directory)
        return pass(io_error(root.native(), "list", code.value()));
    std::sort(folders.begin(), folders.end());
    return folders;
}

/// Fails for a folder that is no package, whatever its name.
Result<PackageRecord> record_of(const fs::path& folder) {
    GPKG_TRY(auto record, read_repodata_record(folder));
    if (folder_name(record) == folder.filename()) return record;
    return fail(ErrorKind::Integrity,
                fmt::format("{}: contains {}", folder.native(), record.distribution()));
}

/// In one gpkg store.
std::optional<fs::path> find_in(const fs::path& root, const PackageRecord& record) {
    if (!record.sha256.empty()) return find_by_sha256(root, record);
    if (!record.md5.empty()) return find_by_md5(root, record);
    return std::nullopt;
}

/// The same archive, as far as checksums tell.
bool same_archive(const PackageRecord& wanted, const PackageRecord& found) {
    if (wanted.distribution() != found.distribution()) return false;
    if (!wanted.sha256.empty()) return wanted.sha256 == found.sha256;
    return !wanted.md5.empty() && wanted.md5 == found.md5;
}

Result<void> compare_checksums(const fs::path& archive,
                               const PackageRecord& record,
                               const Checksums& sums) {
    const auto differs = [&](std::string_view what, const auto& found, const auto& wanted) {
        return fail(
            ErrorKind::Integrity,
            fmt::format("{}: {} is {}, expected {}", archive.native(), what, found, wanted));
    };
    if (record.size != 0 && record.size != sums.size)
        return differs("size", sums.size, record.size);
    if (!record.sha256.empty() && record.sha256 != sums.sha256)
        return differs("sha256", sums.sha256, record.sha256);
    if (!record.md5.empty() && record.md5 != sums.md5) return differs("md5", sums.md5, record.md5);
    return {};
}

/// The record with its sha256, once `archive` is known to be what it describes.
Result<PackageRecord> settle_record(const fs::path& archive,
                                    PackageRecord record,
                                    const StoreAddOptions& options) {
    GPKG_CHECK(check_distribution(record, archive.native()));
    if (options.archive_verified && !record.sha256.empty()) return record;
    GPKG_TRY(const auto sums, checksums_of(archive, options.cancelled));
    GPKG_CHECK(compare_checksums(archive, record, sums));
    record.sha256 = sums.sha256;
    record.md5 = sums.md5;
    record.size = sums.size;
    return record;
}

/// Not synced: a lost record is a package that is unpacked again.
Result<void> write_record(const fs::path& folder, std::string_view text, mode_t like) {
    const auto path = folder / kRecordFile;
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    constexpr mode_t kMode = 0644;
    Descriptor file(::open(path.c_str(), kFlags, kMode));
    if (!file || SharedModes(like).settle_file(file.get(), kMode) != 0 ||
        !write_fully(file.get(), text) || !file.close())
        return pass(io_error(path.native(), "write", errno));
    return {};
}

/// What is known from outside, put over what the package says of itself.
PackageRecord complete(const PackageRecord& bare, PackageRecord inside) {
    inside.fn = bare.fn;
    inside.url = bare.url;
    inside.channel = bare.channel;
    if (!bare.subdir.empty()) inside.subdir = bare.subdir;
    inside.md5 = bare.md5;
    inside.sha256 = bare.sha256;
    inside.size = bare.size;
    return inside;
}

/// Checks that the unpacked package is the one meant, and completes it with its record.
Result<void> sign_folder(const std::string& archive,
                         const fs::path& folder,
                         PackageRecord record,
                         bool is_bare,
                         mode_t like) {
    const auto unpacking = [&](Error error) {
        return pass(std::move(error).while_doing("unpacking " + archive));
    };
    auto read = read_index_json(folder);
    if (!read) return unpacking(std::move(read).error());
    auto inside = *std::move(read);
    // Of what will be made when it is linked: what cannot be made is not kept.
    auto link = inside.noarch == "python" ? read_link_json(folder) : LinkInfo();
    if (!link) return unpacking(std::move(link).error());
    if (inside.distribution() != record.distribution())
        return fail(
            ErrorKind::Integrity,
            fmt::format(
                "{}: contains {}, not {}", archive, inside.distribution(), record.distribution()));
    if (is_bare) record = complete(record, std::move(inside));
    GPKG_TRY(const auto index, read_info_text(folder, "index.json"));
    GPKG_TRY(const auto text, repodata_record_json(record, index.value_or("")));
    return write_record(folder, text, like);
}

mode_t mode_of_folder(const fs::path& folder) {
    struct stat status {};
    return ::stat(folder.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
}

/// See alias_path().
Result<void> write_alias(const fs::path& root, const std::string& md5, std::string_view name) {
    constexpr mode_t kMode = 0644;
    const auto path = alias_path(root, md5);
    const SharedModes modes(mode_of_folder(root));
    const auto folder = path.parent_path();
    const bool made = ::mkdir(folder.c_str(), modes.folder()) == 0;
    if (made && modes.settle_folder(AT_FDCWD, folder.c_str()) != 0)
        return pass(io_error(folder.native(), "create the folder", errno));
    GPKG_TRY(auto file, NewFile::make(path));
    if (modes.settle_file(file.fd(), kMode) != 0)
        return pass(io_error(path.native(), "write", errno));
    GPKG_CHECK(file.write(name));
    return file.finish(false);
}

/// What only the owner of a package can do.
Error not_ours(const fs::path& folder, std::string_view doing, std::string_view remedy) {
    struct stat status {};
    std::string owner = "another user";
    if (::stat(folder.c_str(), &status) == 0) {
        const auto user = system_user(status.st_uid);
        owner = user ? user->name : fmt::format("user {}", status.st_uid);
    }
    return {ErrorKind::Io,
            fmt::format("{}: cannot {}: no permission (owner: {})", folder.native(), doing, owner),
            fmt::format("{} can {}", owner, remedy),
            {}};
}

/// Gives the finished folder its name. A folder that has it already is the work of another process
/// and kept, unless it is not whole.
Result<void> publish(const fs::path& finished,
                     const fs::path& final_path,
                     const fs::path& workplace) {
    for (int attempt = 0; attempt < 3; ++attempt) {
        if (::rename(finished.c_str(), final_path.c_str()) == 0) return {};
        const int code = errno;
        if (code != ENOTEMPTY && code != EEXIST && code != ENOTDIR)
            return pass(io_error(final_path.native(), "store the package", code));
        if (is_whole(final_path)) return {};
        const auto aside = workplace / fmt::format("broken-{}", attempt);
        ::rename(final_path.c_str(), aside.c_str());
    }
    if (::faccessat(AT_FDCWD, (final_path / kRecordFile).c_str(), R_OK, 0) != 0 && errno == EACCES)
        return pass(
            not_ours(final_path,
                     "use the package",
                     "run chmod -R go+rX on the folder; or use your own store: set cache_dir"));
    return fail(ErrorKind::Io,
                fmt::format("{}: cannot store the package: the folder exists and is incomplete",
                            final_path.native()));
}

}  // namespace

struct PackageStore::State {
    StoreLayout layout;
    std::once_flag settled;
    std::mutex mutex;
    std::map<fs::path, bool> unharmed;  ///< folders of conda caches that were verified
    std::set<fs::path> avoided;

    bool is_avoided(const fs::path& folder) {
        const std::lock_guard lock(mutex);
        return avoided.contains(folder);
    }

    /// Before the first package is looked for or added.
    void settle() {
        std::call_once(settled, [this] {
            const auto packages = [this] {
                return package_folders(layout.root).value_or(std::vector<fs::path>());
            };
            settle_after_failure(layout.root, layout.booted, packages, kRecordFile);
        });
    }

    /// Verifies a folder once; a cache is not expected to change under a running command.
    bool is_unharmed(const fs::path& folder) {
        {
            const std::lock_guard lock(mutex);
            if (const auto known = unharmed.find(folder); known != unharmed.end())
                return known->second;
        }
        const bool good = verify_unpacked(folder).has_value();
        const std::lock_guard lock(mutex);
        return unharmed[folder] = good;
    }
};

PackageStore::PackageStore(StoreLayout layout) : state_(std::make_unique<State>()) {
    state_->layout = std::move(layout);
}
PackageStore::~PackageStore() = default;
PackageStore::PackageStore(PackageStore&&) noexcept = default;
PackageStore& PackageStore::operator=(PackageStore&&) noexcept = default;

const fs::path& PackageStore::root() const { return state_->layout.root; }

std::optional<fs::path> PackageStore::find(const PackageRecord& record) const {
    if (!check_distribution(record, record.fn)) return std::nullopt;
    state_->settle();
    if (auto folder = find_in(root(), record); folder && !state_->is_avoided(*folder))
        return folder;
    for (const auto& layer : state_->layout.layers) {
        auto folder = find_in(layer, record);
        if (folder && !state_->is_avoided(*folder)) return folder;
    }
    for (const auto& cache : state_->layout.conda_caches) {
        auto folder = cache / record.distribution();
        if (!is_whole(folder)) continue;
        const auto found = read_repodata_record(folder);
        if (found && same_archive(record, *found) && !state_->is_avoided(folder) &&
            state_->is_unharmed(folder))
            return folder;
    }
    return std::nullopt;
}

std::optional<fs::path> PackageStore::find_archive(const PackageRecord& record) const {
    if (record.sha256.empty() && record.md5.empty()) return std::nullopt;
    if (!is_safe_relative(record.fn) || record.fn.find('/') != std::string::npos)
        return std::nullopt;
    for (const auto& cache : state_->layout.conda_caches) {
        auto archive = cache / record.fn;
        std::error_code code;
        const auto size = fs::file_size(archive, code);
        if (code || (record.size != 0 && size != record.size)) continue;
        const auto sums = checksums_of(archive, {});
        if (sums && compare_checksums(archive, record, *sums)) return archive;
    }
    return std::nullopt;
}

/// Unpacks into a folder of the store, unless it is there.
Result<fs::path> PackageStore::put(const std::string& archive,
                                   const PackageRecord& record,
                                   const StoreAddOptions& options,
                                   const Unpack& unpack) const {
    state_->settle();
    auto final_path = root() / folder_name(record);
    if (is_whole(final_path)) return final_path;
    GPKG_TRY(const auto workplace, this->workplace());
    const auto folder = workplace.path() / "package";
    UnpackOptions how;
    how.cancelled = options.cancelled;
    how.allowance = options.allowance;
    how.like = mode_of_folder(root());
    GPKG_TRY(const auto unpacked, unpack(folder, how));
    GPKG_CHECK(sign_folder(archive, folder, record, options.record_is_bare, how.like));
    GPKG_CHECK(publish(folder, final_path, workplace.path()));
    if (options.on_lost_set_id && !unpacked.lost_set_id.empty())
        options.on_lost_set_id(unpacked.lost_set_id);
    return final_path;
}

Result<fs::path> PackageStore::add_arriving(const std::shared_ptr<ArrivingFile>& archive,
                                            const PackageRecord& record,
                                            const StoreAddOptions& options) const {
    GPKG_CHECK(check_distribution(record, record.fn));
    const auto unpack = [&](const fs::path& folder, const UnpackOptions& how) -> Result<Unpacked> {
        GPKG_TRY(auto unpacked, unpack_package(archive, record.fn, record.size, folder, how));
        if (archive->wait_for_all()) return unpacked;
        return fail(ErrorKind::Interrupted, record.fn + ": download failed");
    };
    return put(record.fn, record, options, unpack);
}

Result<fs::path> PackageStore::add(const fs::path& archive,
                                   const PackageRecord& wanted,
                                   const StoreAddOptions& options) const {
    if (auto folder = find(wanted)) return *std::move(folder);
    GPKG_TRY(const auto record, settle_record(archive, wanted, options));
    const auto unpack = [&](const fs::path& folder, const UnpackOptions& how) {
        return unpack_package(archive, folder, how);
    };
    GPKG_TRY(const auto final_path, put(archive.native(), record, options, unpack));
    if (wanted.sha256.empty() && !wanted.md5.empty())
        GPKG_CHECK(write_alias(root(), record.md5, final_path.filename().native()));
    return final_path;
}

Result<std::vector<StoredPackage>> PackageStore::list() const {
    GPKG_TRY(const auto folders, package_folders(root()));
    std::vector<StoredPackage> packages;
    for (const auto& folder : folders) {
        if (auto record = record_of(folder)) packages.push_back({folder, *std::move(record)});
    }
    return packages;
}

Result<std::vector<fs::path>> PackageStore::broken() const {
    GPKG_TRY(auto folders, package_folders(root()));
    const auto is_package = [](const fs::path& folder) { return record_of(folder).has_value(); };
    folders.erase(std::remove_if(folders.begin(), folders.end(), is_package), folders.end());
    return folders;
}

void PackageStore::avoid(const fs::path& folder) const {
    const std::lock_guard lock(state_->mutex);
    state_->avoided.insert(folder);
}

Result<void> PackageStore::remove(const fs::path& folder) const {
    if (folder.parent_path() != root() || !is_folder_name(folder.filename().native()))
        return fail(
            ErrorKind::Usage,
            fmt::format(
                "{}: not a folder of the package store {}", folder.native(), root().native()));
    // Nothing is made for that: it has to work where there is no room.
    static std::atomic<unsigned> number{0};
    fs::path aside;
    int code = 0;
    do {
        aside = root() / fmt::format("{}removed{}", workplace_stem(), number++);
        code = ::rename(folder.c_str(), aside.c_str()) == 0 ? 0 : errno;
    } while (code == EEXIST || code == ENOTEMPTY);
    if (code == 0) {
        auto removed = remove_tree(aside);
        // Before anything was taken out of it: what another made under a umask is a package still.
        if (!removed && is_whole(aside) && ::rename(aside.c_str(), folder.c_str()) == 0)
            return pass(not_ours(folder, "remove it", "remove it, or run chmod -R g+w"));
        return removed;
    }
    if (code == ENOENT) return {};
    // A folder of a lower layer of an overlay can only be emptied where it is, and so one whose
    // other name finds no room: without its record it is no package any more, and what is left of
    // it a leftover.
    if (code == EPERM || code == EACCES)
        return pass(
            not_ours(folder, "remove it", "remove it with gpkg repair --store or gpkg clean"));
    if (code != EXDEV && code != ENOSPC && code != EDQUOT)
        return pass(io_error(folder.native(), "remove", code));
    GPKG_CHECK(remove_tree(folder / kRecordFile));
    return remove_tree(folder);
}

Result<TemporaryFolder> PackageStore::workplace() const {
    return TemporaryFolder::make(root(), workplace_stem());
}

Result<std::vector<fs::path>> PackageStore::leftovers() const {
    GPKG_TRY(auto found, broken());
    auto abandoned = abandoned_workplaces(root());
    found.insert(found.end(), abandoned.begin(), abandoned.end());
    std::sort(found.begin(), found.end());
    return found;
}

Result<FolderUsage> PackageStore::remove_leftovers() const {
    GPKG_TRY(const auto paths, leftovers());
    FolderUsage total;
    for (const auto& path : paths) {
        GPKG_TRY(const auto usage, folder_usage(path));
        GPKG_CHECK(remove_tree(path));
        total.files += usage.files;
        total.bytes += usage.bytes;
        total.linked_files += usage.linked_files;
        total.freed_bytes += usage.freed_bytes;
    }
    return total;
}

}  // namespace gpkg
