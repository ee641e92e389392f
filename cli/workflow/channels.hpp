#pragma once

// The channels that a command works with: those the user named and those that come along (CEP 42),
// in their order. Their indexes are fetched when it is made. Where channels offer shards (CEP 16),
// records are fetched when somebody says of which names.

#include "cli/context.hpp"
#include "cli/workflow/notices.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/channel/fetch_index.hpp"
#include "libcore/channel/reached_index.hpp"
#include "libcore/net/transport.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gpkg::cli {

/// Which records of channels a command can name before it sees any.
enum class Extent {
    Named,  ///< by the names of packages: shards are used where there are any
    Whole,  ///< all: whole indexes are fetched
};

class Channels {
public:
    /// Warnings go to the user, as do channels that come along.
    static Result<Channels> fetch(Context& context,
                                  std::span<const Channel> wanted,
                                  std::span<const std::string> subdirs,
                                  bool offline,
                                  Extent extent);

    /// The most important first.
    const std::vector<Channel>& list() const { return channels_; }
    /// Whether all records are here already.
    bool are_whole() const;
    /// The indexes that a server was asked for in vain, by their URLs: what is here of them is what
    /// was there before.
    std::vector<std::string> unanswered() const;
    /// Every name that any of them has records of, sorted.
    Result<std::vector<std::string>> names() const;
    /// The indexes of every channel and subdir, with all records of names that can be reached from
    /// `roots`; what is whole has more.
    Result<std::vector<SharedIndex>> reach(std::span<const std::string> roots) const;
    /// The same with the records of `names`, whatever they depend on.
    Result<std::vector<SharedIndex>> look_up(std::span<const std::string> names) const;

private:
    Channels(Context& context,
             std::shared_ptr<Transport> transport,
             std::span<const std::string> subdirs,
             bool offline,
             Extent extent);
    Result<std::vector<FetchedIndex>> fetch_indexes_of(std::span<const Channel> channels,
                                                       std::span<const std::string> subdirs,
                                                       bool shards,
                                                       bool only_cached) const;
    Result<std::vector<FetchedIndex>> fetch_allowed(std::span<const Channel> channels) const;
    Result<FetchedIndex> fetch_whole(const FetchedIndex& place, bool only_cached) const;
    Result<SharedIndex> or_before(Result<SharedIndex> index, FetchedIndex& fetched) const;
    Result<void> add(std::span<const Channel> channels, bool come_along);
    std::size_t place_of(const Channel& channel) const;
    Result<void> settle(std::span<const Channel> wanted);
    Result<std::vector<SharedIndex>> open(std::span<const std::string> names,
                                          bool only_these) const;
    Result<SharedIndex> open_in_place_of_shards(std::size_t place) const;
    fs::path cache() const { return context_.config.index_cache(); }

    Context& context_;
    std::shared_ptr<Transport> transport_;
    std::vector<std::string> subdirs_;
    bool offline_;
    Extent extent_;
    std::vector<Channel> channels_;
    /// By channel, then by subdir. What is sharded has no index yet.
    std::vector<FetchedIndex> fetched_;
    std::vector<SharedIndex> indexes_;
    std::unique_ptr<NoticeWatch> notices_;  ///< shown once records are fetched
};

}  // namespace gpkg::cli
