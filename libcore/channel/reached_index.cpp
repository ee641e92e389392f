#include "libcore/channel/reached_index.hpp"

#include "libcore/channel/kept_subdir_internal.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

/// What is reached through all of them, and the shards that this needs.
class Reaching {
public:
    Reaching(Transport& transport,
             std::span<const FetchedIndex> fetched,
             std::span<SharedIndex> indexes,
             ReachedIndexOptions options);

    Result<void> operator()(std::span<const std::string> roots);
    /// The place, among the fetched, of the one whose shards cannot be had, after a failure.
    std::optional<std::size_t> failed() const { return failed_; }
    const std::vector<std::string>& notes() const { return notes_; }

private:
    Result<void> expand_whole(std::span<const std::string> names, NameSet& found) const;
    Result<bool> reach_kept(std::span<const std::string> roots) const;
    Result<void> open();
    Result<void> reach(std::span<const std::string> roots);
    Result<void> complete();
    Result<NameSet> ask(ShardFetcher& fetcher, std::span<const std::string> names);
    Result<void> look_up(std::span<const std::string> names);
    Result<void> fill(const std::function<Result<SharedIndex>(KeptSubdir&)>& make);

    Transport& transport_;
    std::span<const FetchedIndex> fetched_;
    std::span<SharedIndex> indexes_;
    ReachedIndexOptions options_;
    std::vector<ShardedSubdir> sharded_;
    std::vector<std::size_t> places_;  ///< of those among the fetched
    std::vector<KeptSubdir> subdirs_;
    NameSet reached_;
    std::optional<std::size_t> failed_;
    std::vector<std::string> notes_;
};

Reaching::Reaching(Transport& transport,
                   std::span<const FetchedIndex> fetched,
                   std::span<SharedIndex> indexes,
                   ReachedIndexOptions options)
    : transport_(transport), fetched_(fetched), indexes_(indexes), options_(std::move(options)) {
    for (std::size_t i = 0; i < fetched_.size(); ++i) {
        // The whole may stand in for it already.
        if (!fetched_[i].sharded || indexes_[i]) continue;
        places_.push_back(i);
        subdirs_.emplace_back(fetched_[i], options_.shards.cache);
    }
}

Result<void> Reaching::operator()(std::span<const std::string> roots) {
    if (subdirs_.empty()) return {};
    if (options_.only_roots) return look_up(roots);
    GPKG_TRY(const bool all_kept, reach_kept(roots));
    if (!all_kept) {
        GPKG_CHECK(open());
        GPKG_CHECK(reach(roots));
        GPKG_CHECK(complete());
    }
    return fill([&](KeptSubdir& subdir) -> Result<SharedIndex> {
        return all_kept ? subdir.kept_index() : subdir.finish(reached_, notes_);
    });
}

Result<void> Reaching::expand_whole(std::span<const std::string> names, NameSet& found) const {
    for (const auto& index : indexes_) {
        if (!index) continue;
        for (const auto& name : names) GPKG_CHECK(add_dependency_names(*index, name, found));
    }
    return {};
}

/// Whether all that can be reached is kept, found without a look at any index of shards.
Result<bool> Reaching::reach_kept(std::span<const std::string> roots) const {
    bool is_kept = std::all_of(subdirs_.begin(), subdirs_.end(), [](const KeptSubdir& subdir) {
        return subdir.is_current();
    });
    const auto expand = [&](std::span<const std::string> names) -> Result<NameSet> {
        NameSet found;
        for (const auto& name : names) {
            for (const auto& subdir : subdirs_) is_kept = is_kept && subdir.add_kept(name, found);
        }
        if (!is_kept) return NameSet{};
        GPKG_CHECK(expand_whole(names, found));
        return found;
    };
    if (is_kept) GPKG_CHECK(close_over_names(roots, expand));
    return is_kept;
}

Result<void> Reaching::open() {
    for (std::size_t i = 0; i < places_.size(); ++i) {
        GPKG_TRY(auto sharded, open_shard_index(fetched_[places_[i]]));
        subdirs_[i].compare_with(sharded.index);
        sharded_.push_back(std::move(sharded));
    }
    options_.shards.on_shard = [this](const ShardRef& ref, const Shard& shard) {
        return subdirs_[ref.subdir].add(ref, shard);
    };
    return {};
}

Result<NameSet> Reaching::ask(ShardFetcher& fetcher, std::span<const std::string> names) {
    auto found = fetcher(names);
    if (!found && fetcher.failed()) failed_ = places_[*fetcher.failed()];
    return found;
}

Result<void> Reaching::reach(std::span<const std::string> roots) {
    options_.shards.known = [this](const ShardRef& ref) { return subdirs_[ref.subdir].known(ref); };
    ShardFetcher fetcher(transport_, sharded_, options_.shards);
    const auto expand = [&](std::span<const std::string> names) -> Result<NameSet> {
        GPKG_TRY(auto found, ask(fetcher, names));
        GPKG_CHECK(expand_whole(names, found));
        return found;
    };
    GPKG_TRY(const auto names, close_over_names(roots, expand));
    reached_.insert(names.begin(), names.end());
    return {};
}

/// Where anything was new, what was kept goes into the new index as well.
Result<void> Reaching::complete() {
    std::vector<NameSet> left(subdirs_.size());
    NameSet names;
    for (std::size_t i = 0; i < subdirs_.size(); ++i) {
        if (!subdirs_[i].is_new()) continue;
        subdirs_[i].add_left(reached_, options_.most_kept, left[i]);
        names.insert(left[i].begin(), left[i].end());
    }
    if (names.empty()) return {};
    options_.shards.known = [&](const ShardRef& ref) -> std::optional<NameSet> {
        if (left[ref.subdir].contains(std::string(ref.name))) return std::nullopt;
        return NameSet{};
    };
    ShardFetcher fetcher(transport_, sharded_, options_.shards);
    const std::vector<std::string> all(names.begin(), names.end());
    GPKG_CHECK(ask(fetcher, all));
    return {};
}

/// For only_roots.
Result<void> Reaching::look_up(std::span<const std::string> names) {
    const bool all_kept = std::all_of(subdirs_.begin(), subdirs_.end(), [&](const auto& subdir) {
        return subdir.is_current() && std::all_of(names.begin(), names.end(), [&](auto& name) {
                   return subdir.is_kept(name);
               });
    });
    if (!all_kept) {
        GPKG_CHECK(open());
        ShardFetcher fetcher(transport_, sharded_, options_.shards);
        GPKG_CHECK(ask(fetcher, names));
    }
    return fill([&](KeptSubdir& subdir) -> Result<SharedIndex> {
        return all_kept ? subdir.kept_index() : subdir.finish_unkept();
    });
}

/// A failure leaves them all as they are.
Result<void> Reaching::fill(const std::function<Result<SharedIndex>(KeptSubdir&)>& make) {
    std::vector<SharedIndex> made(subdirs_.size());
    for (std::size_t i = 0; i < subdirs_.size(); ++i) {
        GPKG_TRY(made[i], make(subdirs_[i]));
    }
    for (std::size_t i = 0; i < subdirs_.size(); ++i) indexes_[places_[i]] = std::move(made[i]);
    return {};
}

/// Whether the whole may have what the shards lack.
bool is_about_shards(const Error& error) {
    return error.kind == ErrorKind::Integrity || error.kind == ErrorKind::NotFound ||
           error.kind == ErrorKind::NoChannel || error.kind == ErrorKind::Network ||
           error.kind == ErrorKind::Unsupported;
}

}  // namespace

Result<std::vector<std::string>> open_reached(Transport& transport,
                                              std::span<const FetchedIndex> fetched,
                                              std::span<SharedIndex> indexes,
                                              std::span<const std::string> roots,
                                              const ReachedIndexOptions& options) {
    std::vector<std::string> notes;
    for (;;) {
        Reaching reaching(transport, fetched, indexes, options);
        auto reached = reaching(roots);
        if (reached) {
            notes.insert(notes.end(), reaching.notes().begin(), reaching.notes().end());
            return notes;
        }
        auto error = std::move(reached).error();
        const auto place = reaching.failed();
        if (!place || !options.open_whole || !is_about_shards(error)) return pass(std::move(error));
        auto whole = options.open_whole(*place);
        if (!whole)
            return pass(whole.error().kind == ErrorKind::Interrupted ? whole.error() : error);
        indexes[*place] = *std::move(whole);
        notes.push_back(fmt::format("{}; using the full repodata instead", error.message));
    }
}

}  // namespace gpkg
