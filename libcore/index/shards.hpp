#pragma once

// Reads sharded repodata (CEP 16): the index of a subdir's shards, and shards, each with all
// records of one name. Nothing the bytes say is trusted further than repodata.json would be.

#include "libcore/index/channel_index.hpp"
#include "libcore/index/channel_relations.hpp"
#include "libcore/index/index_record.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// sha256 of a shard as it is served.
using ShardHash = std::array<std::uint8_t, 32>;

class ShardIndex {
public:
    struct Entry {
        std::string_view name;
        ShardHash hash{};
    };

    /// Nothing: the subdir has no such package.
    const ShardHash* find(std::string_view name) const;
    /// Sorted by name.
    std::span<const Entry> entries() const { return entries_; }
    /// As the channel wrote it; empty: next to the index.
    std::string_view base_url() const { return base_url_; }
    /// Where the shards are, with a '/' at its end.
    const std::string& shard_folder() const { return shard_folder_; }
    const ChannelRelations& relations() const { return relations_; }
    /// What the user should hear about it, without its URL.
    const std::vector<std::string>& notes() const { return notes_; }

private:
    friend class ShardIndexReader;
    std::unique_ptr<const std::string> text_;  ///< what the names borrow from
    std::vector<Entry> entries_;
    std::string base_url_;
    std::string shard_folder_;
    ChannelRelations relations_;
    std::vector<std::string> notes_;
};

/// Reads `packed`, the bytes of a repodata_shards.msgpack.zst at `url`. Unsupported when only a
/// newer gpkg can; Integrity when it is damaged, or its URLs lead astray.
Result<ShardIndex> read_shard_index(std::string_view packed, std::string_view url);

/// The records of one name. They borrow from the shard, also when it is moved.
struct Shard {
    std::unique_ptr<const std::string> text;
    std::deque<std::string> digests;  ///< those that were written in hex
    std::vector<IndexRecord> records;
    std::vector<std::string_view> removed;  ///< file names of withdrawn artifacts
    std::vector<std::string> notes;         ///< records that are left out, without the URL
};

/// Reads `packed`, the bytes of a shard, which must be about `name` and nothing else. Refused is
/// what repodata.json is refused for; the error names `url`.
Result<Shard> read_shard(std::string_view packed, std::string_view name, std::string_view url);

}  // namespace gpkg
