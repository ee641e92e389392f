#include "cli/workflow/fetch.hpp"

#include "cli/workflow/progress.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/base/parallel.hpp"
#include "libcore/net/download.hpp"
#include "libcore/net/transport.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <fmt/format.h>
#include <mutex>
#include <thread>

namespace gpkg::cli {
namespace {

constexpr std::size_t kUnpackers = 2;

/// A failure about a downloaded file speaks of where that came from: the file is gone by then.
void name_by_url(Error& failure, const fs::path& file, const std::string& url) {
    const auto rename = [&](std::string& text) {
        const auto place = text.find(file.native());
        if (place != std::string::npos)
            text.replace(place, file.native().size(), without_secrets(url));
    };
    rename(failure.message);
    for (auto& step : failure.context) rename(step);
}

/// Unpacks archives as they arrive: in threads of its own or, where none are to be had, in add().
class Unpacking {
public:
    Unpacking(const PackageStore& store,
              const std::vector<PackageRecord>& records,
              std::vector<fs::path>& folders,
              bool records_are_bare,
              std::stop_source& stop)
        : store_(store),
          records_(records),
          folders_(folders),
          records_are_bare_(records_are_bare),
          stop_(stop),
          workers_(kUnpackers, [this] { work(); }) {}
    ~Unpacking() {
        {
            const std::lock_guard lock(mutex_);
            queue_.clear();
        }
        join();
    }
    Unpacking(const Unpacking&) = delete;
    Unpacking& operator=(const Unpacking&) = delete;

    /// The archive of records[index] is there. Its file is removed after unpacking if it is ours.
    void add(std::size_t index, fs::path archive, bool is_ours) {
        Job job{index, std::move(archive), is_ours};
        if (workers_.count() == 0) {
            if (!failure_) unpack(job);
            return;
        }
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(job));
        ready_.notify_one();
    }

    /// Waits for the rest; the first failure, if any.
    Result<void> finish() {
        join();
        if (failure_) return pass(*std::move(failure_));
        return {};
    }

    std::size_t done() {
        const std::lock_guard lock(mutex_);
        return done_;
    }

    bool is_failing() {
        const std::lock_guard lock(mutex_);
        return failure_.has_value();
    }

private:
    struct Job {
        std::size_t index = 0;
        fs::path archive;
        bool is_ours = false;
    };

    void join() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
            ready_.notify_all();
        }
        workers_.join();
    }

    void work() {
        for (;;) {
            Job job;
            {
                std::unique_lock lock(mutex_);
                ready_.wait(lock, [this] { return closed_ || !queue_.empty(); });
                if (queue_.empty() || failure_) return;
                job = std::move(queue_.front());
                queue_.pop_front();
            }
            unpack(job);
        }
    }

    void unpack(const Job& job) {
        StoreAddOptions options;
        options.archive_verified = job.is_ours;
        options.record_is_bare = records_are_bare_;
        options.cancelled = [this] { return stop_.stop_requested(); };
        auto folder = store_.add(job.archive, records_[job.index], options);
        std::error_code ignored;
        if (job.is_ours) fs::remove(job.archive, ignored);
        const std::lock_guard lock(mutex_);
        ++done_;
        if (folder) {
            folders_[job.index] = *std::move(folder);
        } else if (!failure_) {
            failure_ = std::move(folder).error();
            stop_.request_stop();  // nothing more need arrive
            if (job.is_ours) name_by_url(*failure_, job.archive, records_[job.index].url);
        }
    }

    const PackageStore& store_;
    const std::vector<PackageRecord>& records_;
    std::vector<fs::path>& folders_;
    bool records_are_bare_ = false;
    std::stop_source& stop_;
    std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<Job> queue_;
    bool closed_ = false;
    std::size_t done_ = 0;
    std::optional<Error> failure_;
    Workers workers_;  // last: they use all of the above
};

Result<void> check_offline(const std::vector<PackageRecord>& absent) {
    std::vector<std::string> names;
    for (const auto& record : absent) {
        if (!record.url.starts_with("file://")) names.push_back(record.fn);
    }
    if (names.empty()) return {};
    const auto shown = names.size() > 5 ? 5 : names.size();
    std::string list;
    for (std::size_t i = 0; i < shown; ++i) list += "\n  " + names[i];
    if (names.size() > shown) list += fmt::format("\n  and {} more", names.size() - shown);
    return fail(
        ErrorKind::Network,
        fmt::format("{} packages are not in the store, and --offline forbids to fetch them:{}",
                    names.size(),
                    list),
        "run the command once without --offline, or with --download-only");
}

/// What vouches for a package of a signed channel is the checksum in its index.
Result<void> check_vouched(const Context& context, const std::vector<PackageRecord>& records) {
    GPKG_TRY(const auto trust, trust_options(context));
    for (const auto& record : records) {
        if (!record.sha256.empty() || !trust.roots.contains(record.channel)) continue;
        return distrust(
            TrustFault::Missing,
            fmt::format("{}: its record has no sha256, and trusted_keys says that {} is "
                        "signed: nothing vouches for this package",
                        record.fn,
                        record.channel));
    }
    return {};
}

}  // namespace

PackageStore open_store(const Context& context) {
    StoreLayout layout;
    layout.root = context.config.package_store();
    layout.layers = context.config.store_layers.value;
    layout.conda_caches = context.config.conda_pkgs_dirs.value;
    return PackageStore(std::move(layout));
}

std::vector<PackageRecord> missing(const PackageStore& store,
                                   const std::vector<PackageRecord>& records) {
    std::vector<PackageRecord> absent;
    std::copy_if(
        records.begin(), records.end(), std::back_inserter(absent), [&](const auto& record) {
            return !store.find(record);
        });
    return absent;
}

std::string url_with_credentials(const PackageRecord& record,
                                 const std::vector<Channel>& channels) {
    for (const auto& channel : channels) {
        if (channel.base_url() == record.channel) return channel.with_credentials(record.url);
    }
    return record.url;
}

Result<std::vector<fs::path>> make_available(Context& context,
                                             const PackageStore& store,
                                             const std::vector<PackageRecord>& records,
                                             const std::vector<Channel>& channels,
                                             const FetchOptions& how) {
    GPKG_CHECK(check_vouched(context, records));
    std::vector<fs::path> folders(records.size());
    std::vector<PackageRecord> absent;
    std::vector<std::size_t> position;  // of each absent record
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (auto found = store.find(records[i])) {
            folders[i] = *std::move(found);
        } else {
            absent.push_back(records[i]);
            position.push_back(i);
        }
    }
    if (absent.empty()) return folders;
    if (how.offline) GPKG_CHECK(check_offline(absent));

    GPKG_TRY(const auto arriving, store.workplace());
    std::vector<fs::path> unpacked(absent.size());
    std::stop_source stop;
    const std::stop_callback on_signal(context.stop, [&] { stop.request_stop(); });
    Unpacking unpacking(store, absent, unpacked, how.records_are_bare, stop);
    std::vector<Download> downloads;
    std::vector<std::size_t> download_of;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < absent.size(); ++i) {
        const auto& record = absent[i];
        if (auto archive = store.find_archive(record)) {
            unpacking.add(i, *std::move(archive), false);
            continue;
        }
        Download download;
        download.url = url_with_credentials(record, channels);
        download.destination = arriving.path() / fmt::format("{}-{}", i, record.fn);
        download.sha256 = record.sha256;
        download.md5 = record.md5;
        download.size = record.size;
        downloads.push_back(std::move(download));
        download_of.push_back(i);
        total += record.size;
    }

    Progress progress(context.out);
    std::vector<std::uint64_t> received(downloads.size());
    std::size_t finished = 0;
    const auto show = [&] {
        std::uint64_t sum = 0;
        for (const auto bytes : received) sum += bytes;
        progress.bytes("fetching", finished, downloads.size(), sum, total);
    };
    DownloadOptions options;
    options.parallel = static_cast<std::size_t>(context.config.download_threads.value);
    options.stop = stop.get_token();
    options.on_wait = WaitWarnings(context.out, progress);
    options.on_progress = [&](const TransferProgress& step) {
        received[step.item] = step.done;
        show();
    };
    options.on_finished = [&](std::size_t item) {
        ++finished;
        unpacking.add(download_of[item], downloads[item].destination, true);
        show();
    };
    GPKG_TRY(const auto transport, open_transport(context));
    const auto downloaded = download_all(*transport, downloads, options);
    if (unpacking.is_failing()) GPKG_CHECK(unpacking.finish());
    GPKG_CHECK(downloaded);
    while (context.out.draws_progress() && unpacking.done() < absent.size() &&
           !unpacking.is_failing()) {
        progress.count("unpacking", unpacking.done(), absent.size(), "packages");
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    GPKG_CHECK(unpacking.finish());
    for (std::size_t i = 0; i < absent.size(); ++i) folders[position[i]] = std::move(unpacked[i]);
    return folders;
}

}  // namespace gpkg::cli
