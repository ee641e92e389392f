#pragma once

// The package store: unpacked packages, found by the checksum of their archive.
//
//     pkgs/<name>-<version>-<build>-<first 32 hex digits of the archive's sha256>/
//     pkgs/.md5/<md5>           the name of a folder, for records that know no sha256
//     pkgs/.tmp-<where>-<pid>-* work in progress, or what a killed process left
//
// There is no lock. A package is unpacked and verified in a private folder and then renamed, so a
// folder with the final name is whole; two processes that do the same both end with it. Finding a
// package here takes a fixed number of file operations, never a listing.
//
// Who may use the store's folder may use every package in it: see UnpackOptions::like.
//
// Below the store lie read-only layers: other gpkg stores (a site's, say), and conda's package
// caches, whose folders are used only when they belong to the same archive and prove unchanged.
//
// Nothing is synced. What was unpacked in the minute before a machine failed is verified once,
// before it is used; the time of pkgs/.written says up to when nothing can have been lost.

#include "libcore/fs/file.hpp"
#include "libcore/package/unpack.hpp"
#include "libcore/spec/package_record.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpkg {

struct StoreLayout {
    fs::path root;                 ///< this store's own folder (pkgs/), made when first needed
    std::vector<fs::path> layers;  ///< other gpkg stores, consulted in this order
    std::vector<fs::path> conda_caches;  ///< conda-format package folders (CONDA_PKGS_DIRS)
    std::int64_t booted = 0;  ///< when this machine was started, Unix seconds; 0: not known
};

/// Of this machine; 0 where the system does not tell.
std::int64_t boot_time();

struct StoreAddOptions {
    bool archive_verified = false;  ///< the caller compared size and checksum while downloading
    /// The record knows no more than file name, place and checksums; dependencies and the rest are
    /// taken from the package's own index.json.
    bool record_is_bare = false;
    std::function<bool()> cancelled{};
    /// Called with the files that had set-id bits, from the thread that adds.
    std::function<void(const std::vector<std::string>& paths)> on_lost_set_id{};
    std::shared_ptr<Allowance> allowance{};  ///< see UnpackOptions
};

struct StoredPackage {
    fs::path folder;
    PackageRecord record;  ///< from its info/repodata_record.json
};

/// What a folder costs, in what the file system has given to it, as du counts. Bytes of files with
/// further hard links elsewhere come back only when those go as well.
struct FolderUsage {
    std::uint64_t files = 0;  ///< inodes: files, links and folders
    std::uint64_t bytes = 0;
    std::uint64_t linked_files = 0;  ///< files that have hard links elsewhere: in use
    std::uint64_t freed_bytes = 0;   ///< bytes that removing the folder gives back
};

/// Functions are safe to call from several threads and processes at once.
class PackageStore {
public:
    explicit PackageStore(StoreLayout layout);
    ~PackageStore();
    PackageStore(PackageStore&&) noexcept;
    PackageStore& operator=(PackageStore&&) noexcept;

    const fs::path& root() const;

    /// Where the package lies unpacked, here or in a layer. Records without any checksum are never
    /// found: nothing tells that the folder holds what they mean.
    std::optional<fs::path> find(const PackageRecord& record) const;

    /// An archive of exactly this record in a conda cache, to be used instead of a download.
    std::optional<fs::path> find_archive(const PackageRecord& record) const;

    /// Unpacks `archive`, which must be what `record` says it is, and returns the folder. Already
    /// there, by this process or another: that folder. The archive is left where it is.
    Result<fs::path> add(const fs::path& archive,
                         const PackageRecord& record,
                         const StoreAddOptions& options = {}) const;

    /// The same while the archive still arrives. Who writes it compares it with the record's
    /// sha256, which must be known, and says that it is complete only where that is right; else
    /// nothing is added, and the error is Interrupted. What fails otherwise may succeed from the
    /// whole archive.
    Result<fs::path> add_arriving(const std::shared_ptr<ArrivingFile>& archive,
                                  const PackageRecord& record,
                                  const StoreAddOptions& options = {}) const;

    /// A private folder for unfinished work on the store's file system. What a killed process
    /// leaves of it is among the leftovers.
    Result<TemporaryFolder> workplace() const;

    /// Every package of this store's own folder, sorted by folder.
    Result<std::vector<StoredPackage>> list() const;
    /// Folders of it that have a package's name and no record that can be read, sorted: never
    /// found, and unpacked anew when the package is wanted.
    Result<std::vector<fs::path>> broken() const;
    /// find() passes this folder over from now on: a damaged one of a layer, which only its owner
    /// can remove, or any damaged one in a dry run.
    void avoid(const fs::path& folder) const;
    /// Takes one folder of this store away: its name goes first, then its files. Another user's
    /// that is not open to this one stays.
    Result<void> remove(const fs::path& folder) const;

    /// Broken packages, and unfinished work of processes that are gone; of unknown ones when older
    /// than a day.
    Result<std::vector<fs::path>> leftovers() const;
    /// Removes leftovers; returns what that freed.
    Result<FolderUsage> remove_leftovers() const;

private:
    using Unpack =
        std::function<Result<Unpacked>(const fs::path& folder, const UnpackOptions& how)>;
    Result<fs::path> put(const std::string& archive,
                         const PackageRecord& record,
                         const StoreAddOptions& options,
                         const Unpack& unpack) const;

    struct State;
    std::unique_ptr<State> state_;
};

Result<FolderUsage> folder_usage(const fs::path& folder);

}  // namespace gpkg
