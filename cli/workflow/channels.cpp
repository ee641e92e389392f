#include "cli/workflow/channels.hpp"

#include "cli/workflow/channel_rules.hpp"
#include "cli/workflow/notices.hpp"
#include "cli/workflow/progress.hpp"
#include "cli/workflow/settings.hpp"
#include "cli/workflow/trace.hpp"
#include "libcore/base/parallel.hpp"
#include "libcore/channel/open_index.hpp"
#include "libcore/channel/relations.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::cli {

Channels::Channels(Context& context,
                   std::shared_ptr<Transport> transport,
                   std::span<const std::string> subdirs,
                   bool offline,
                   Extent extent)
    : context_(context),
      transport_(std::move(transport)),
      subdirs_(subdirs.begin(), subdirs.end()),
      offline_(offline),
      extent_(extent) {}

Result<Channels> Channels::fetch(Context& context,
                                 std::span<const Channel> wanted,
                                 std::span<const std::string> subdirs,
                                 bool offline,
                                 Extent extent) {
    for (const auto& line : context.config.unheeded) context.out.warn_once(line);
    warn_of_shared_secrets(context);
    GPKG_CHECK(check_allowed(context, wanted));  // before anybody asks for their notices
    GPKG_TRY(auto transport, open_transport(context));
    Channels channels(context, std::move(transport), subdirs, offline, extent);
    const Phase phase(context.out, "repodata");
    channels.notices_ = std::make_unique<NoticeWatch>(context, wanted, offline);
    GPKG_CHECK(channels.settle(wanted));
    // Now: a failure to decide would have no place for them, and may come of what they tell.
    for (const auto& index : channels.indexes_) {
        if (!index) continue;
        for (const auto& note : index->notes()) context.out.warn(note);
    }
    return channels;
}

/// Finds the channels that come along, and puts all into their order.
Result<void> Channels::settle(std::span<const Channel> wanted) {
    RelationOptions options;
    options.most_depth =
        static_cast<std::size_t>(context_.config.channel_relations_max_depth.value);
    options.context = channel_context(context_);
    GPKG_CHECK(add(wanted, false));
    const auto load = [&](std::span<const Channel> step) -> Result<std::vector<Declarations>> {
        std::vector<Channel> more(step.begin(), step.end());
        std::erase_if(more, [&](auto& one) { return place_of(one) < channels_.size(); });
        GPKG_CHECK(add(more, true));
        std::vector<Declarations> declared;
        for (const auto& channel : step) {
            auto& of_channel = declared.emplace_back();
            for (std::size_t i = 0; i < subdirs_.size(); ++i) {
                const auto place = place_of(channel) * subdirs_.size() + i;
                of_channel.push_back(indexes_[place] ? indexes_[place]->relations()
                                                     : fetched_[place].relations);
            }
        }
        return declared;
    };
    GPKG_TRY(auto related, relate_channels(wanted, load, options));
    for (const auto& line : related.added) context_.out.note(line);
    for (const auto& line : related.ignored) context_.out.note(line);

    std::vector<FetchedIndex> fetched;
    std::vector<SharedIndex> indexes;
    for (const auto& channel : related.channels) {
        const auto first = place_of(channel) * subdirs_.size();
        for (auto place = first; place < first + subdirs_.size(); ++place) {
            fetched.push_back(std::move(fetched_[place]));
            indexes.push_back(std::move(indexes_[place]));
        }
    }
    channels_ = std::move(related.channels);
    fetched_ = std::move(fetched);
    indexes_ = std::move(indexes);
    return {};
}

std::size_t Channels::place_of(const Channel& channel) const {
    return static_cast<std::size_t>(std::find(channels_.begin(), channels_.end(), channel) -
                                    channels_.begin());
}

Result<std::vector<FetchedIndex>> Channels::fetch_allowed(std::span<const Channel> channels) const {
    GPKG_CHECK(check_allowed(context_, channels));
    return fetch_indexes_of(channels, subdirs_, extent_ == Extent::Named, false);
}

/// Fetches the indexes of more channels and opens those that are whole.
Result<void> Channels::add(std::span<const Channel> channels, bool come_along) {
    if (channels.empty()) return {};
    auto fetched = fetch_allowed(channels);
    if (!fetched) {
        auto error = std::move(fetched).error();
        if (come_along && error.kind != ErrorKind::Interrupted)
            error.hint += fmt::format(
                "{}another channel refers to this one; gpkg config set channel_relations_max_depth "
                "0 "
                "ignores such relations",
                error.hint.empty() ? "" : "; ");
        return pass(std::move(error));
    }
    for (const auto& index : *fetched) {
        if (context_.out.verbosity() > 0 && !index.missing)
            context_.out.note(fmt::format("{}: {}",
                                          index.url,
                                          index.from_cache           ? "cached"
                                          : is_local_file(index.url) ? "read"
                                                                     : "downloaded"));
    }
    std::vector<Result<SharedIndex>> read(fetched->size());
    for_each_index(read.size(), read.size(), [&](std::size_t i) {
        read[i] = (*fetched)[i].sharded
                      ? SharedIndex()
                      : open_index((*fetched)[i], cache(), context_.stop_or_unread);
    });
    // All that is damaged is dropped before the first failure is told.
    for (std::size_t i = 0; i < read.size(); ++i)
        read[i] = or_before(std::move(read[i]), (*fetched)[i]);
    for (auto& index : read) {
        if (!index) return pass(std::move(index).error());
        indexes_.push_back(*std::move(index));
    }
    channels_.insert(channels_.end(), channels.begin(), channels.end());
    std::move(fetched->begin(), fetched->end(), std::back_inserter(fetched_));
    return {};
}

Result<std::vector<FetchedIndex>> Channels::fetch_indexes_of(std::span<const Channel> channels,
                                                             std::span<const std::string> subdirs,
                                                             bool shards,
                                                             bool only_cached) const {
    IndexOptions options;
    options.cache = cache();
    options.only_cached = only_cached;
    options.shards = shards && context_.config.repodata_use_shards.value;
    options.zst = context_.config.repodata_use_zst.value;
    GPKG_TRY(const auto trust, trust_options(context_));
    options.trust = &trust;
    options.transfer.offline = offline_;
    options.transfer.stop = context_.stop_or_unread;
    Progress progress(context_.out);
    options.transfer.on_wait = WaitWarnings(context_.out, progress);
    options.transfer.on_progress = [&](const TransferProgress& step) {
        progress.bytes(
            "indexes", step.item, channels.size() * subdirs.size(), step.done, step.total);
    };
    GPKG_TRY(auto fetched, fetch_indexes(*transport_, channels, subdirs, options));
    progress.clear();
    if (context_.out.verbose()) {
        for (const auto& channel : channels) {
            if (trust.roots.contains(channel.base_url()))
                context_.out.note_once(fmt::format("signature of {} verified", channel.name()));
        }
    }
    for (const auto& index : fetched) {
        for (const auto& warning : index.warnings) context_.out.warn(warning);
    }
    return fetched;
}

bool Channels::are_whole() const {
    const auto is_sharded = [](const FetchedIndex& index) { return index.sharded; };
    return std::none_of(fetched_.begin(), fetched_.end(), is_sharded);
}

std::vector<std::string> Channels::unanswered() const {
    std::vector<std::string> urls;
    for (const auto& index : fetched_) {
        if (index.is_unanswered) urls.push_back(index.url);
    }
    return urls;
}

Result<std::vector<std::string>> Channels::names() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < fetched_.size(); ++i) {
        if (indexes_[i]) {
            for (const auto name : indexes_[i]->names()) names.emplace_back(name);
        } else {
            GPKG_TRY(const auto shards, open_shard_index(fetched_[i]));
            for (const auto& entry : shards.index->entries()) names.emplace_back(entry.name);
        }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

Result<std::vector<SharedIndex>> Channels::reach(std::span<const std::string> roots) const {
    auto indexes = open(roots, false);
    notices_->show();
    return indexes;
}

Result<std::vector<SharedIndex>> Channels::look_up(std::span<const std::string> names) const {
    auto indexes = open(names, true);
    notices_->show();
    return indexes;
}

Result<std::vector<SharedIndex>> Channels::open(std::span<const std::string> names,
                                                bool only_these) const {
    auto indexes = indexes_;
    if (are_whole()) return indexes;
    ReachedIndexOptions options;
    options.only_roots = only_these;
    options.open_whole = [&](std::size_t place) { return open_in_place_of_shards(place); };
    options.shards.cache = cache();
    options.shards.transfer.offline = offline_;
    options.shards.transfer.stop = context_.stop_or_unread;
    Progress progress(context_.out);
    options.shards.transfer.on_wait = WaitWarnings(context_.out, progress);
    GPKG_TRY(const auto notes, open_reached(*transport_, fetched_, indexes, names, options));
    progress.clear();
    for (const auto& note : notes) context_.out.warn(note);
    for (std::size_t i = 0; i < indexes.size(); ++i) {
        if (indexes_[i]) continue;
        for (const auto& note : indexes[i]->notes()) context_.out.warn(note);
    }
    // A cache that cannot be tidied costs space, not the answer.
    (void)remove_old_shards(cache(), fs::file_time_type::clock::now());
    return indexes;
}

Result<SharedIndex> Channels::open_in_place_of_shards(std::size_t place) const {
    GPKG_TRY(auto fetched, fetch_whole(fetched_[place], false));
    return or_before(open_index(fetched, cache(), context_.stop_or_unread), fetched);
}

/// The whole index of one channel and subdir.
Result<FetchedIndex> Channels::fetch_whole(const FetchedIndex& place, bool only_cached) const {
    const std::span channel(&place.channel, 1);
    const std::span subdir(&place.subdir, 1);
    GPKG_TRY(auto fetched, fetch_indexes_of(channel, subdir, false, only_cached));
    return std::move(fetched.front());
}

/// Bytes that turn out not to be an index, although they are as the server sent them, are dropped:
/// the next run fetches them, and the copy before serves this one.
Result<SharedIndex> Channels::or_before(Result<SharedIndex> index, FetchedIndex& fetched) const {
    if (index || fetched.channel.is_local() || index.error().kind == ErrorKind::Interrupted)
        return index;
    GPKG_TRY(const bool is_back, forget_index(cache(), fetched));
    if (!is_back) return index;
    context_.out.warn(index.error().message + "; using the previous copy");
    GPKG_TRY(fetched, fetch_whole(fetched, true));
    return open_index(fetched, cache(), context_.stop_or_unread);
}

}  // namespace gpkg::cli
