#include "libcore/channel/fetch_shards.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/parallel.hpp"
#include "libcore/channel/shard_cache_internal.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <fmt/format.h>
#include <unordered_map>

namespace gpkg {
namespace {

/// Shards are small: what counts is how many are on their way.
constexpr std::size_t kParallel = 32;
/// Of a shard as served.
constexpr std::uint64_t kMostIndexBytes = std::uint64_t{32} << 20U;
constexpr auto kTouchEvery = std::chrono::hours(24);

/// So that it is not taken for an unused one. Once a day is enough, and saves a slow disk writes.
void mark_used(const fs::path& path) {
    std::error_code code;
    const auto now = fs::file_time_type::clock::now();
    const auto time = fs::last_write_time(path, code);
    if (!code && now - time > kTouchEvery) fs::last_write_time(path, now, code);
}

}  // namespace

Result<ShardedSubdir> open_shard_index(const FetchedIndex& fetched) {
    GPKG_TRY(const auto bytes, read_file(fetched.path));
    GPKG_TRY(auto index, read_shard_index(bytes, fetched.url));
    return ShardedSubdir{
        fetched.channel, fetched.subdir, std::make_shared<const ShardIndex>(std::move(index))};
}

/// Reads, verifies and decodes shards while others are still on their way.
class ShardFetcher::Decoding {
public:
    Decoding(const ShardFetcher& fetcher, NameSet& found) : fetcher_(fetcher), found_(found) {}

    void add(const Job& job) {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(&job);
        changed_.notify_one();
    }
    void close() {
        const std::lock_guard lock(mutex_);
        is_closed_ = true;
        changed_.notify_all();
    }
    /// Until it is closed and nothing is left, or something failed.
    void work() {
        while (const auto* job = next()) {
            auto done = decode(*job);
            const std::lock_guard lock(mutex_);
            if (done || failure_) continue;
            failure_ = std::move(done).error();
            failed_ = job->ref.subdir;
        }
    }
    bool has_failed() const {
        const std::lock_guard lock(mutex_);
        return failure_.has_value();
    }
    /// In which subdir something failed, once all is done.
    std::optional<std::size_t> failed() const { return failed_; }
    /// What was in the cache and is not what it should be; or the first failure.
    Result<std::vector<Job>> finish() && {
        if (failure_) return pass(*std::move(failure_));
        return std::move(damaged_);
    }

private:
    const Job* next() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !waiting_.empty() || is_closed_ || failure_; });
        if (waiting_.empty() || failure_) return nullptr;
        const auto* job = waiting_.front();
        waiting_.pop_front();
        return job;
    }

    Result<void> decode(const Job& job) {
        auto bytes = read_file(job.path);
        // Another process may have removed it; and fetching mends also what cannot be read.
        if (!bytes || hex_digest(DigestKind::Sha256, *bytes) != job.hex) {
            const std::lock_guard lock(mutex_);
            damaged_.push_back(job);
            return {};
        }
        mark_used(job.path);
        GPKG_TRY(auto shard,
                 read_shard(*bytes, job.ref.name, without_secrets(fetcher_.url_of(job))));
        auto names = dependency_names(shard);
        const std::lock_guard lock(giving_);
        found_.merge(names);
        if (!fetcher_.options_.on_shard) return {};
        return fetcher_.options_.on_shard(job.ref, std::move(shard));
    }

    const ShardFetcher& fetcher_;
    NameSet& found_;
    std::mutex giving_;  ///< one shard at a time is handed on
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<const Job*> waiting_;
    std::vector<Job> damaged_;
    std::optional<Error> failure_;
    std::optional<std::size_t> failed_;
    bool is_closed_ = false;
};

ShardFetcher::ShardFetcher(Transport& transport,
                           std::span<const ShardedSubdir> subdirs,
                           ShardOptions options)
    : transport_(transport), subdirs_(subdirs), options_(std::move(options)) {
    options_.transfer.parallel = std::max(options_.transfer.parallel, kParallel);
}

std::string ShardFetcher::url_of(const Job& job) const {
    const auto& subdir = subdirs_[job.ref.subdir];
    return subdir.channel.with_credentials(
        fmt::format("{}{}{}", subdir.index->shard_folder(), job.hex, shard_cache::kShard));
}

bool ShardFetcher::may_fetch(const Job& job) const {
    return !options_.transfer.offline || !needs_network(transport_.mirrors(), url_of(job));
}

Result<NameSet> ShardFetcher::operator()(std::span<const std::string> names) {
    NameSet found;
    std::vector<Job> here;
    std::vector<Job> away;
    failed_.reset();
    GPKG_CHECK(collect(names, found, here, away));
    GPKG_TRY(auto damaged, step(here, away, found));
    counts_.cached += here.size() - damaged.size();
    counts_.fetched += away.size() + damaged.size();
    if (damaged.empty()) return found;
    for (const auto& job : damaged) {
        if (may_fetch(job)) continue;
        failed_ = job.ref.subdir;
        return fail_offline(ErrorKind::NotFound,
                            fmt::format("--offline: {} is damaged", job.path.native()),
                            "run the command once with a network, without --offline");
    }
    GPKG_TRY(auto again, step({}, damaged, found));
    if (again.empty()) return found;
    return fail(
        ErrorKind::Io,
        fmt::format("{}: reads back other data than was written", again.front().path.native()),
        "check the disk");
}

/// Sorts the shards of `names` into those that are here and those that are not.
Result<void> ShardFetcher::collect(std::span<const std::string> names,
                                   NameSet& found,
                                   std::vector<Job>& here,
                                   std::vector<Job>& away) {
    for (const auto& name : names) {
        for (std::size_t i = 0; i < subdirs_.size(); ++i) {
            const auto* hash = subdirs_[i].index->find(name);
            if (hash == nullptr) continue;
            Job job{{i, name, *hash}, to_hex(*hash), {}};
            if (options_.known) {
                if (auto known = options_.known(job.ref)) {
                    found.merge(*known);
                    ++counts_.known;
                    continue;
                }
            }
            job.path = shard_cache::shard_file(options_.cache, job.hex);
            std::error_code code;
            const bool is_here = fs::exists(job.path, code);
            if (!is_here && !may_fetch(job)) {
                failed_ = i;
                return fail_offline(
                    ErrorKind::NotFound,
                    fmt::format("--offline: {}: the repodata of {} is not in the cache",
                                subdirs_[i].channel.subdir_url(subdirs_[i].subdir),
                                name),
                    "run the command once with a network, without --offline");
            }
            (is_here ? here : away).push_back(std::move(job));
        }
    }
    return {};
}

/// Decodes the jobs, having fetched those that are away. Returns those that turn out damaged.
Result<std::vector<ShardFetcher::Job>> ShardFetcher::step(std::span<const Job> here,
                                                          std::span<const Job> away,
                                                          NameSet& found) {
    Decoding decoding(*this, found);
    for (const auto& job : here) decoding.add(job);
    Result<void> fetched;
    {
        const auto work = [&] { decoding.work(); };
        const auto jobs = here.size() + away.size();
        Workers others(std::min(jobs > 4 ? options_.threads : 0, jobs), work);
        if (!away.empty()) fetched = fetch(away, decoding);
        decoding.close();
        work();
    }
    if (decoding.failed()) failed_ = decoding.failed();
    if (!fetched) return pass(std::move(fetched).error());
    return std::move(decoding).finish();
}

Result<void> ShardFetcher::fetch(std::span<const Job> jobs, Decoding& decoding) {
    // Two subdirs may have one shard in common.
    std::vector<Download> downloads;
    std::vector<std::vector<const Job*>> waiting;
    std::unordered_map<std::string_view, std::size_t> by_hash;
    for (const auto& job : jobs) {
        const auto [found, is_new] = by_hash.emplace(job.hex, downloads.size());
        if (is_new) {
            auto& download = downloads.emplace_back();
            download.url = url_of(job);
            download.destination = job.path;
            download.sha256 = job.hex;
            download.most_bytes = kMostIndexBytes;
            waiting.emplace_back();
        }
        waiting[found->second].push_back(&job);
    }
    DownloadOptions options;
    static_cast<TransferOptions&>(options) = options_.transfer;
    std::stop_source give_up;
    const std::stop_callback chained(options.stop, [&] { give_up.request_stop(); });
    options.stop = give_up.get_token();
    options.on_finished = [&](std::size_t item) {
        for (const auto* job : waiting[item]) decoding.add(*job);
        if (decoding.has_failed()) give_up.request_stop();
    };
    options.on_failed = [&](std::size_t item) { failed_ = waiting[item].front()->ref.subdir; };
    auto done = download_all(transport_, downloads, options);
    if (done || decoding.has_failed()) return {};  // its failure is the one to tell
    auto error = std::move(done).error();
    if (error.kind == ErrorKind::NotFound && error.hint.empty())
        error.hint = "the server lacks a shard that its index lists; try again in a minute";
    return pass(std::move(error));
}

Result<std::vector<std::string>> close_over_names(std::span<const std::string> roots,
                                                  const ExpandNames& expand) {
    NameSet seen(roots.begin(), roots.end());
    std::vector<std::string> step(seen.begin(), seen.end());
    while (!step.empty()) {
        // In an order that does not depend on hashes, so that a run can be repeated.
        std::sort(step.begin(), step.end());
        GPKG_TRY(const auto found, expand(step));
        step.clear();
        for (const auto& name : found) {
            if (seen.insert(name).second) step.push_back(name);
        }
    }
    std::vector<std::string> names(seen.begin(), seen.end());
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace gpkg
