#include "cli/workflow/fetch.hpp"

#include "cli/workflow/channel_rules.hpp"
#include "cli/workflow/progress.hpp"
#include "cli/workflow/settings.hpp"
#include "cli/workflow/trace.hpp"
#include "cli/workflow/unpacking.hpp"
#include "libcore/fs/workplace.hpp"
#include "libcore/net/download.hpp"
#include "libcore/net/transport.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <thread>

namespace gpkg::cli {
namespace {

Result<void> check_offline(const std::vector<PackageRecord>& absent, Transport& transport) {
    std::vector<std::string> names;
    for (const auto& record : absent) {
        if (needs_network(transport.mirrors(), record.url)) names.push_back(record.fn);
    }
    if (names.empty()) return {};
    const auto shown = names.size() > 5 ? 5 : names.size();
    std::string list;
    for (std::size_t i = 0; i < shown; ++i) list += "\n  " + names[i];
    if (names.size() > shown) list += fmt::format("\n  and {} more", names.size() - shown);
    return fail_offline(ErrorKind::Network,
                        fmt::format("--offline: {} package{} not in the package store:{}",
                                    names.size(),
                                    names.size() == 1 ? "" : "s",
                                    list),
                        "run the command without --offline once (--download-only only downloads)");
}

/// What vouches for a package of a signed channel is the checksum in its index.
Result<void> check_vouched(const Context& context, const std::vector<PackageRecord>& records) {
    GPKG_TRY(const auto trust, trust_options(context));
    for (const auto& record : records) {
        if (!record.sha256.empty() || !trust.roots.contains(record.channel)) continue;
        return distrust(
            TrustFault::Missing,
            fmt::format("{}: cannot be verified: its record in the signed channel {} has no sha256",
                        record.fn,
                        record.channel));
    }
    return {};
}

/// The hint of a wrong checksum, where a signed channel vouches for the right one.
Result<void> distrust_wrong_file(const Context& context,
                                 const PackageRecord& record,
                                 Error& error) {
    if (error.kind != ErrorKind::Integrity) return {};
    GPKG_TRY(const auto trust, trust_options(context));
    if (trust.roots.contains(record.channel))
        error.hint =
            "the file is not the one that was signed: do not use it, and tell the channel's "
            "operator; "
            "for the operator: restore the file, or raise the build number and index again";
    return {};
}

/// Positions in `records`, the largest first: it takes longest from its first byte to its last
/// file, and the others come and are unpacked meanwhile.
std::vector<std::size_t> by_size(const std::vector<PackageRecord>& records) {
    std::vector<std::size_t> order(records.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return records[a].size > records[b].size;
    });
    return order;
}

/// "3 downloaded, 2 read from local channels"
std::string read_text(const std::vector<Download>& downloads) {
    const auto local = static_cast<std::size_t>(std::ranges::count_if(
        downloads, [](const Download& download) { return is_local_file(download.url); }));
    std::vector<std::string> texts;
    if (downloads.size() > local)
        texts.push_back(fmt::format("{} downloaded", downloads.size() - local));
    if (local > 0) texts.push_back(fmt::format("{} read from local channels", local));
    return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

PackageStore open_store(const Context& context) {
    StoreLayout layout;
    layout.root = context.config.package_store();
    layout.layers = context.config.store_layers.value;
    layout.conda_caches = context.config.conda_pkgs_dirs.value;
    layout.booted = boot_time();
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
    Phase phase(context.out, "fetch");
    phase.add(fmt::format(
        "in the package store: {} of {}", records.size() - absent.size(), records.size()));
    if (absent.empty()) return folders;
    GPKG_CHECK(check_allowed(context, absent));
    GPKG_TRY(const auto transport, open_transport(context));
    if (how.offline) GPKG_CHECK(check_offline(absent, *transport));

    // What killed commands left there goes first.
    GPKG_TRY(const auto arriving, make_workplace(store.root()));
    std::stop_source stop;
    const std::stop_callback on_signal(context.stop, [&] { stop.request_stop(); });
    StoreAddOptions adding;
    adding.record_is_bare = how.records_are_bare;
    adding.allowance = how.allowance;
    Unpacking unpacking(store, absent, adding, stop);
    std::vector<Download> downloads;
    std::vector<std::size_t> download_of;
    std::uint64_t total = 0;
    for (const auto i : by_size(absent)) {
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
        download.on_body = [&unpacking, i](const auto&, auto archive) {
            unpacking.arrives(i, std::move(archive));
        };
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
    options.offline = how.offline;
    options.stop = stop.get_token();
    options.on_wait = WaitWarnings(context.out, progress);
    options.on_progress = [&](const TransferProgress& step) {
        received[step.item] = step.done;
        show();
    };
    std::optional<std::size_t> failed;
    options.on_failed = [&](std::size_t item) { failed = item; };
    options.on_finished = [&](std::size_t item) {
        ++finished;
        unpacking.add(download_of[item], downloads[item].destination, true);
        show();
    };
    phase.add(read_text(downloads));
    auto downloaded = download_all(*transport, downloads, options);
    if (!downloaded && downloaded.error().kind == ErrorKind::NotFound &&
        downloaded.error().hint.empty())
        downloaded.error().hint = how.if_gone;
    if (!downloaded && failed)
        GPKG_CHECK(distrust_wrong_file(context, absent[download_of[*failed]], downloaded.error()));
    if (unpacking.is_failing()) {
        GPKG_CHECK(unpacking.finish());
    }
    GPKG_CHECK(downloaded);
    while (context.out.draws_progress() && unpacking.done() < absent.size() &&
           !unpacking.is_failing()) {
        progress.count("unpacking", unpacking.done(), absent.size(), "packages");
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    GPKG_TRY(auto unpacked, unpacking.finish());
    phase.add(fmt::format("{} unpacked", absent.size()));
    for (const auto& warning : unpacking.warnings()) context.out.warn(warning);
    for (std::size_t i = 0; i < absent.size(); ++i) folders[position[i]] = std::move(unpacked[i]);
    return folders;
}

}  // namespace gpkg::cli
