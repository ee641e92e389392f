#pragma once

// The indexer: from the packages of a channel folder to the files that clients read. Written per
// subdir, each atomically, the same packages giving the same bytes: repodata.json and .zst (CEP 36,
// 48), run_exports.json (CEP 12), and variants.json and .zst, gpkg's own: what info/hash_input.json
// says of each package that has one with something in it (docs/indexing.md).

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpkg {

struct IndexerOptions {
    /// Unix milliseconds: indexed_timestamp of packages that are new (CEP 47). Absent: now.
    std::optional<std::int64_t> timestamp;
    int zstd_level = 16;
    int jobs = 1;
    std::function<bool()> cancelled;
};

struct SubdirSummary {
    std::string subdir;
    std::size_t packages = 0;  ///< in the index
    std::size_t read = 0;      ///< opened, because they were new or had changed
};

/// A package file that something is wrong with.
struct FaultyPackage {
    fs::path file;
    std::string reason;
};

struct IndexSummary {
    std::vector<SubdirSummary> subdirs;
    /// Damaged, or not what their file name says: they are in none of the indexes.
    std::vector<FaultyPackage> refused;
    /// They are in the indexes, but not all that is said of them.
    std::vector<FaultyPackage> odd;
};

class SubdirIndexer;

/// For who adds packages to a channel and wants to know, time and again, what is in it now. Keeps
/// in memory what it found; opens only what is new.
class ChannelIndexer {
public:
    explicit ChannelIndexer(fs::path channel, IndexerOptions options = {});
    ~ChannelIndexer();
    ChannelIndexer(const ChannelIndexer&) = delete;
    ChannelIndexer& operator=(const ChannelIndexer&) = delete;

    /// Looks for packages that came, went or changed since; true when there are any.
    Result<bool> look();
    /// The repodata.json of what was found; empty for a subdir that the channel lacks.
    std::string repodata(const std::string& subdir) const;
    /// Writes the indexes of what was found.
    Result<IndexSummary> write();

private:
    fs::path channel_;
    IndexerOptions options_;
    std::map<std::string, std::unique_ptr<SubdirIndexer>> subdirs_;
};

/// Indexes every subdir of the channel; `noarch` always exists afterwards. Keeps from an index that
/// is there when packages appeared and which were withdrawn ("removed"). What is known of unchanged
/// files is kept in <subdir>/.gpkg-index.json.
Result<IndexSummary> index_channel(const fs::path& channel, const IndexerOptions& options = {});

}  // namespace gpkg
