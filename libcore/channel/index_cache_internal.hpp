#pragma once

// The cached copy of one subdir's index, or of the index of its shards, and what is known about it.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/index/channel_index.hpp"
#include "libcore/index/channel_relations.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gpkg {

/// What KEY.state.json says. Times are seconds since 1970.
struct CachedState {
    std::string url;   ///< of the repodata file, without secrets
    std::string file;  ///< name of the bytes in the cache folder
    std::uint64_t size = 0;
    std::string sha256;
    std::string etag;
    std::string last_modified;
    std::optional<std::int64_t> max_age;  ///< seconds the server allowed
    std::int64_t checked_at = 0;          ///< when the server last confirmed it
    bool missing = false;                 ///< the server has no such subdir
    std::int64_t zst_absent_at = 0;       ///< when it had no .zst; 0: it has, or nobody asked
    std::int64_t shards_absent_at = 0;    ///< when it had no shards; 0: likewise
    ChannelRelations relations;           ///< what an index of shards declares
    std::string statement;                ///< by which it was verified, where the channel is signed
};

/// What an index made of bytes with this checksum, in hex, has as origin.
IndexOrigin origin_of(std::string_view sha256);

/// What the names of all files begin with that are kept of a URL.
std::string cache_key(std::string_view url);

class IndexCache {
public:
    /// `url` is that of the subdir, or of the index of its shards, without secrets.
    IndexCache(fs::path folder, std::string_view url);

    /// Nothing when there is no state, or none that can be read.
    std::optional<CachedState> load() const;
    Result<void> save(const CachedState& state) const;
    Result<void> forget() const;

    fs::path path_of(const CachedState& state) const { return folder_ / state.file; }
    /// Where a transfer may put bytes that are not yet known.
    fs::path incoming() const;
    /// Renames `incoming` to its name in the cache, which ends in `extension`, and fills file, size
    /// and sha256 of `state`.
    Result<void> adopt(const fs::path& incoming,
                       const std::string& sha256,
                       std::string_view extension,
                       CachedState& state) const;

    struct Bytes {
        enum class Condition { Absent, Damaged, Whole } condition = Condition::Absent;
        std::shared_ptr<const ChannelIndex> index;  ///< made of them earlier; may be null
    };
    /// Whether the bytes are those that `state` describes. Where an index was made of them that
    /// can be opened, their size is proof enough.
    Bytes check(const CachedState& state, const IndexSource& source) const;

    /// Where the ChannelIndex made of the bytes with that checksum belongs.
    fs::path index_file(std::string_view sha256) const;
    /// Removes what belongs to earlier bytes, but for the youngest of it, which another process may
    /// be about to open, and what processes that were killed left behind a day ago.
    void prune(std::string_view sha256) const;

private:
    std::string generation(std::string_view sha256) const;

    fs::path folder_;
    std::string key_;
};

}  // namespace gpkg
