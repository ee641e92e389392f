#pragma once

// From shards to ChannelIndexes that hold what a request can reach. What was made of shards is kept
// as a mapped file, with a list of the names it is complete for and the hash of each one's shard:
// as long as the channel names the same hashes, the next request decodes nothing; and as long as
// its index of shards is the same altogether, not even that is read.
//
// In the cache folder: shards/KEY.kept, the list, names the index by its own checksum,
// shards/KEY-SHA256.index. Both are written beside and renamed, and the index before the last is
// left alone, so that processes share the folder without locks.

#include "libcore/channel/fetch_shards.hpp"
#include "libcore/index/channel_index.hpp"

#include <memory>

namespace gpkg {

using SharedIndex = std::shared_ptr<const ChannelIndex>;

struct ReachedIndexOptions {
    ShardOptions shards;  ///< without `known` and `on_shard`
    /// What other requests reached is kept as well, up to so many names: making an index anew costs
    /// what all in it cost.
    std::size_t most_kept = 4000;
    /// The records of the roots and of nothing else. What is kept is used and stays as it is.
    bool only_roots = false;
    /// Opens the whole of a subdir, by its place among the fetched, whose shards cannot be had. It
    /// then stands in for them, and the user hears of it; where it fails, the shards' error counts.
    std::function<Result<SharedIndex>(std::size_t place)> open_whole;
};

/// Fills `indexes`, which stand as `fetched` does: those of subdirs that are not `sharded` are
/// there; the others become indexes of all records of the names that can be reached from `roots`,
/// through any of them. They know every name of their subdir. Returns what the user should hear.
Result<std::vector<std::string>> open_reached(Transport& transport,
                                              std::span<const FetchedIndex> fetched,
                                              std::span<SharedIndex> indexes,
                                              std::span<const std::string> roots,
                                              const ReachedIndexOptions& options);

}  // namespace gpkg
