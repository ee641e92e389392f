#pragma once

// Fetching shards (CEP 16): of each name that a request can reach, and of no other, the records in
// every subdir. Which names those are, only the records tell: they are fetched step by step, all of
// one distance from the request together.
//
// In the cache folder a shard stands as shards/SHA256.msgpack.zst, written beside and renamed.
// What it is called is what it holds, so that processes share the folder without locks; each
// reader verifies it, and a damaged one is fetched anew.

#include "libcore/channel/fetch_index.hpp"
#include "libcore/index/dependency_names.hpp"
#include "libcore/net/download.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// The index of the shards of a subdir.
struct ShardedSubdir {
    Channel channel;
    std::string subdir;
    std::shared_ptr<const ShardIndex> index;
};

/// Reads what was fetched as `sharded`.
Result<ShardedSubdir> open_shard_index(const FetchedIndex& fetched);

/// The records of one name in one subdir. A subdir's records of a name are the same wherever the
/// hash is: what a caller has kept of them holds as long as the index names it.
struct ShardRef {
    std::size_t subdir = 0;  ///< its place among those given
    std::string_view name;
    ShardHash hash{};
};

struct ShardOptions {
    fs::path cache;            ///< that of the indexes
    std::size_t threads = 4;   ///< which decode
    TransferOptions transfer;  ///< progress items count within one step
    /// Asked before a shard is: the names on which its records depend, where the caller has them.
    std::function<std::optional<NameSet>(const ShardRef&)> known;
    /// Given each shard, one at a time, from any thread. An error ends it all.
    std::function<Result<void>(const ShardRef&, Shard)> on_shard;
};

class ShardFetcher {
public:
    ShardFetcher(Transport& transport,
                 std::span<const ShardedSubdir> subdirs,
                 ShardOptions options);

    /// Fetches the shards of `names`, wherever there are any, and returns the names on which their
    /// records depend. Integrity when a shard is not what the index says, also the second time.
    Result<NameSet> operator()(std::span<const std::string> names);

    struct Counts {
        std::size_t known = 0;  ///< the caller had them
        std::size_t cached = 0;
        std::size_t fetched = 0;
    };
    const Counts& counts() const { return counts_; }
    /// The subdir, among those given, of the shard for which the last call failed, if it was one.
    std::optional<std::size_t> failed() const { return failed_; }

private:
    struct Job {
        ShardRef ref;
        std::string hex;
        fs::path path;
    };
    class Decoding;

    Result<void> collect(std::span<const std::string> names,
                         NameSet& found,
                         std::vector<Job>& here,
                         std::vector<Job>& away);
    Result<void> fetch(std::span<const Job> jobs, Decoding& decoding);
    Result<std::vector<Job>> step(std::span<const Job> here,
                                  std::span<const Job> away,
                                  NameSet& found);
    std::string url_of(const Job& job) const;
    bool may_fetch(const Job& job) const;  ///< false: only a server has it, and this is offline

    Transport& transport_;
    std::span<const ShardedSubdir> subdirs_;
    ShardOptions options_;
    Counts counts_;
    std::optional<std::size_t> failed_;
};

/// Tells on which names the records of `names` depend.
using ExpandNames = std::function<Result<NameSet>(std::span<const std::string> names)>;

/// All names that can be reached from `roots`, these among them, sorted; `expand` is asked for
/// each once.
Result<std::vector<std::string>> close_over_names(std::span<const std::string> roots,
                                                  const ExpandNames& expand);

/// Removes shards that no index in the cache names and that nobody used for a week, indexes made of
/// shards that were replaced a day ago, and what killed processes left behind; at most once a day.
Result<void> remove_old_shards(const fs::path& cache, fs::file_time_type now);

}  // namespace gpkg
