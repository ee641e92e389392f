#pragma once

// Sharded repodata (CEP 16) of one subdir, written: shards/<sha256>.msgpack.zst, each with all
// records of one name, and repodata_shards.msgpack.zst, which names them. The same records give the
// same bytes. The reader is libcore/index/shards.hpp.

#include "libcore/indexing/index_memory.hpp"
#include "libcore/indexing/published.hpp"

#include <chrono>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace gpkg {

/// The packages of each name, and the file names of those that were removed.
struct NameGroup {
    std::vector<const PublishedPackage*> packages;
    std::vector<std::string_view> removed;
};
using NameGroups = std::map<std::string_view, NameGroup>;

/// Names without a package that stands in the index are none.
NameGroups group_by_name(const PublishedSubdir& subdir);

/// Changes with anything that the shard, or the lint of the name, is made of.
std::string digest_of_inputs(const NameGroup& group, int zstd_level);

/// The bytes of a shard.
std::string pack_shard(const NameGroup& group, int zstd_level);

class ShardFolder {
public:
    /// `folder` is that of the subdir.
    explicit ShardFolder(const fs::path& folder);
    /// Where they lie.
    static fs::path below(const fs::path& folder);

    /// Whether the shard is there, by its sha256 in hex.
    bool contains(const std::string& sha256) const { return found_.contains(sha256); }
    /// Writes it beside the others, to the disk if so asked, else once for all in `sync`.
    Result<void> write(const std::string& sha256, std::string_view bytes, bool to_disk) const;
    Result<void> sync() const;
    fs::path place_of(const std::string& sha256) const;
    /// Removes shards that none of `names` has, once they had no use for `grace`. `unused`
    /// remembers since when. How many were removed.
    std::size_t remove_unused(const std::map<std::string, IndexedName>& names,
                              std::map<std::string, std::int64_t>& unused,
                              std::int64_t now_ms,
                              std::chrono::milliseconds grace) const;

private:
    fs::path folder_;
    std::set<std::string> found_;
};

/// The bytes of repodata_shards.msgpack.zst. Every shard must have been written before.
std::string pack_shard_index(const PublishedSubdir& subdir,
                             const std::map<std::string, IndexedName>& names,
                             int zstd_level);

}  // namespace gpkg
