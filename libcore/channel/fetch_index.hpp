#pragma once

// Getting the indexes of channels: repodata.json.zst or repodata.json of a subdir (CEP 36), or the
// index of its shards (CEP 16), asked for with validators, cached, used offline. The bytes are
// handed on as they came; reading and judging them is index/.
//
// Shards are for large channels: where all of a subdir is a small file, that is one question and
// the answer, and shards are as many as packages depend on each other in a row. How large it is, is
// told by the head of the .zst.
//
// In the cache folder stand one state file (KEY.state.json) and the bytes it names
// (KEY-SHA256.json.zst), KEY being a hash of the subdir's URL, or of that of the index of shards:
// who wants shards and who wants the whole do not get in each other's way. Both are written beside
// and renamed, and the bytes before last are kept, so that processes can share the folder without
// locks.

#include "libcore/channel/channel.hpp"
#include "libcore/index/channel_relations.hpp"
#include "libcore/net/get.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace gpkg {

/// Where fetching and reading the whole takes about as long as fetching the shards of a large
/// request one after the other.
inline constexpr std::uint64_t kSmallIndex = std::uint64_t{2} << 20U;

struct TrustOptions;

struct IndexOptions {
    fs::path cache;
    /// Use the cached copy whatever its age, and fail without one; folders are read all the same.
    /// With transfer.offline, that is so of what needs the network.
    bool only_cached = false;
    std::uint64_t most_bytes = 4ULL << 30U;  ///< of a body as served
    bool shards = false;  ///< where a subdir has them and is not small, their index is fetched
    bool zst = true;      ///< repodata.json.zst is asked for
    std::uint64_t small = kSmallIndex;    ///< up to so many bytes of .zst a subdir is small
    const TrustOptions* trust = nullptr;  ///< of which channels indexes are signed; null: of none
    TransferOptions transfer;             ///< progress items count as the results do
    /// Seconds since 1970; empty: the system's clock.
    std::function<std::int64_t()> now;
};

class ChannelIndex;
class EarlyRecords;
struct CachedState;

struct FetchedIndex {
    Channel channel;
    std::string subdir;
    std::string url;       ///< of the file, without secrets
    fs::path path;         ///< of the bytes, zstd as .zst, else JSON; empty when `missing`
    std::string sha256;    ///< of the bytes; empty for local channels and when `missing`
    bool missing = false;  ///< the channel has no such subdir: as good as an empty one
    /// Of a `missing` one: the server did not say so, but refused access or sent a page.
    std::optional<Error> refusal{};
    bool sharded = false;        ///< the file is the index of shards
    ChannelRelations relations;  ///< what that declares; of others the index made of them tells
    bool from_cache = false;     ///< no byte of it was transferred now
    bool is_unanswered = false;  ///< the server was asked in vain: it is the copy from before
    /// For open_index: what was made of the bytes before, or what is read of them since they began
    /// to arrive. Null where there is none.
    std::shared_ptr<const ChannelIndex> index{};
    std::shared_ptr<EarlyRecords> early{};
    /// What is known of the cached copy that this one takes the place of; see forget_index.
    std::shared_ptr<const CachedState> before{};
    std::vector<std::string> warnings;
};

/// The indexes of every channel for every subdir, channels in the outer order, subdirs in the inner
/// one. A subdir that a channel lacks is `missing`. One that the server refuses while it has
/// another is missing too, with a warning; so is noarch where it sends a page. A channel that lacks
/// all is an error. What is transferred, but for indexes of shards, is read while it arrives.
Result<std::vector<FetchedIndex>> fetch_indexes(Transport& transport,
                                                std::span<const Channel> channels,
                                                std::span<const std::string> subdirs,
                                                const IndexOptions& options);

/// "for the folder c1, use -c ./c1", for a name that is also a folder here; else empty. `usage` is
/// the command or option that takes the channel.
std::string hint_at_folder(const Channel& channel, std::string_view usage);

/// Drops the cached copy, so that the next fetch gets the whole again: for bytes that turned out
/// not to be readable although they are as the server sent them. True where the copy before is back
/// in its place.
Result<bool> forget_index(const fs::path& cache, const FetchedIndex& index);

}  // namespace gpkg
