#pragma once

// What the indexer remembers of one subdir, so that only what changed costs time. A file of our
// own, with a checksum: one that is damaged or of another gpkg counts for none, and costs no more
// than reading the packages again. Lines of fields with tabs between, because reading JSON would
// take most of the time of a run.

#include "libcore/indexing/indexed_package.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace gpkg {

/// Tells whether a file is still the one that was written.
struct FileStamp {
    std::uint64_t size = 0;
    std::int64_t changed_ns = 0;
    std::uint64_t inode = 0;

    /// Nothing when there is no regular file.
    static std::optional<FileStamp> of(const fs::path& file);
    friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// What was made of all packages of one name.
struct IndexedName {
    std::string inputs;    ///< digest of all that it was made of
    std::string shard;     ///< sha256 of the shard, in hex
    std::string findings;  ///< of the lint: a JSON list
};

struct IndexMemory {
    std::map<std::string, IndexedPackage> packages;     ///< by file name, before patches
    std::set<std::string> withdrawn;                    ///< file names that stand in "removed"
    std::map<std::string, IndexedName> names;           ///< by package name
    std::map<std::string, std::int64_t> unused_shards;  ///< sha256 -> unused since, Unix ms
    /// Of the repodata that dates and withdrawals were written to, or read from.
    std::optional<FileStamp> repodata;
};

/// In the folder of the subdir.
inline constexpr const char* kMemoryName = ".gpkg-index";

/// Empty when there is none.
IndexMemory read_index_memory(const fs::path& file);
Result<void> write_index_memory(const fs::path& file, const IndexMemory& memory);

}  // namespace gpkg
