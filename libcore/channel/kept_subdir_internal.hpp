#pragma once

// What is kept of one sharded subdir between commands: an index of the records that were needed,
// and the list of what it is complete for (see reached_index.hpp).

#include "libcore/channel/fetch_shards.hpp"
#include "libcore/channel/reached_index.hpp"
#include "libcore/index/index_writer.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// The list of a subdir: a heading, then what holds for one index of shards, then what lasts.
struct KeptList {
    using Hashes = std::map<std::string, ShardHash, std::less<>>;

    std::string index_sha256;  ///< of the index of shards with which it was last compared
    NameSet absent;            ///< names that this one does not have
    std::string about;         ///< what the index of shards says beside its records
    Hashes hashes;

    std::string to_string() const;
    static std::optional<KeptList> parse(std::string_view text);
};

/// One sharded subdir: what was kept of it, and what is made of it now.
class KeptSubdir {
public:
    KeptSubdir(const FetchedIndex& fetched, const fs::path& cache);

    /// Whether all in the list holds as it stands.
    bool is_current() const { return kept_index_ && kept_.index_sha256 == sha256_; }
    const SharedIndex& kept_index() const { return kept_index_; }
    bool is_kept(std::string_view name) const {
        return kept_.hashes.contains(name) || kept_.absent.contains(std::string(name));
    }
    /// Adds the names on which the records of `name` depend; false when that is not kept. For one
    /// that is current.
    bool add_kept(std::string_view name, NameSet& to) const;

    void compare_with(std::shared_ptr<const ShardIndex> shards);
    /// On which names the records of `ref` depend, where they are kept.
    std::optional<NameSet> known(const ShardRef& ref) const;
    Result<void> add(const ShardRef& ref, const Shard& shard);
    bool is_new() const { return !made_.empty() || !kept_index_; }
    /// What is kept, still right, and not yet made anew: all of it that is in `reached`, and what
    /// is here of the rest unless that is more than `most`.
    void add_left(const NameSet& reached, std::size_t most, NameSet& to) const;
    Result<SharedIndex> finish(const NameSet& reached, std::vector<std::string>& notes);
    /// Of what was added alone, kept nowhere.
    Result<SharedIndex> finish_unkept();

private:
    void load();
    Result<SharedIndex> make(const KeptList& list, std::vector<std::string>& notes);
    Result<std::string> written(const IndexOrigin& origin);
    SharedIndex shared(ChannelIndex index) const;
    fs::path list_file() const;
    fs::path index_file(std::string_view lasting) const;

    IndexSource source_;
    fs::path shards_file_;
    std::string sha256_;
    fs::path cache_;
    std::string key_;
    std::shared_ptr<const ShardIndex> shards_;
    std::string about_;
    KeptList kept_;
    SharedIndex kept_index_;  ///< complete for the names in `kept_.hashes`
    KeptList::Hashes made_;
    IndexWriter writer_;
    std::vector<std::string> left_out_;
};

}  // namespace gpkg
