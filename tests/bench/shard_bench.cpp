// Shards against the whole, of one channel on a server: shard_bench URL NAME... Each way from
// nothing; with the files cached; and with what was made of them at hand as well.

#include "libcore/channel/shards.hpp"
#include "libcore/index/repodata.hpp"

#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <sys/resource.h>

using namespace gpkg;
using Clock = std::chrono::steady_clock;

namespace {

double cpu_ms() {
    struct rusage used {};
    getrusage(RUSAGE_SELF, &used);
    const auto ms = [](const timeval& t) {
        return 1e3 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_usec);
    };
    return ms(used.ru_utime) + ms(used.ru_stime);
}

/// What one command has, and the next may know.
struct World {
    IndexOptions options;
    std::map<ShardHash, NameSet> names;  ///< on which the records of a shard depend
};

struct Tally {
    std::size_t shards = 0;
    std::size_t records = 0;
    std::size_t steps = 0;
    std::size_t requests = 0;
};

Result<ChannelIndex> finished(IndexWriter writer, const IndexSource& source) {
    std::string bytes;
    GPKG_CHECK(write_index(std::move(writer), {}, source, [&](std::string_view part) {
        bytes += part;
        return Result<void>{};
    }));
    return ChannelIndex::from_bytes(std::move(bytes), source);
}

/// The shards that `roots` reach, made into indexes unless the world knows them all.
Result<void> take_shards(Transport& transport,
                         std::span<const FetchedIndex> fetched,
                         std::span<const std::string> roots,
                         World& world,
                         Tally& tally) {
    std::vector<ShardedSubdir> subdirs;
    std::vector<IndexWriter> writers;
    for (const auto& index : fetched) {
        GPKG_TRY(auto subdir, open_shard_index(index));
        subdirs.push_back(std::move(subdir));
        writers.emplace_back(fs::temp_directory_path());
    }
    ShardOptions options;
    options.cache = world.options.cache;
    options.known = [&](const ShardRef& ref) -> std::optional<NameSet> {
        const auto found = world.names.find(ref.hash);
        if (found == world.names.end()) return std::nullopt;
        return found->second;
    };
    std::map<ShardHash, NameSet> names;
    options.on_shard = [&](const ShardRef& ref, const Shard& shard) -> Result<void> {
        ++tally.shards;
        tally.records += shard.records.size();
        names[ref.hash] = dependency_names(shard);
        for (const auto& record : shard.records) GPKG_CHECK(writers[ref.subdir].add(record));
        return {};
    };
    ShardFetcher fetcher(transport, subdirs, options);
    GPKG_CHECK(close_over_names(roots, [&](std::span<const std::string> step) {
        ++tally.steps;
        return fetcher(step);
    }));
    tally.requests += fetcher.counts().fetched;
    if (tally.shards > 0) world.names = std::move(names);
    for (std::size_t i = 0; i < writers.size() && tally.shards > 0; ++i) {
        const IndexSource source{fetched[i].channel.base_url(), fetched[i].subdir, fetched[i].url};
        GPKG_CHECK(finished(std::move(writers[i]), source));
    }
    return {};
}

/// One command's worth, up to the records being there to be solved with.
Result<Tally> run(const Channel& channel, std::span<const std::string> roots, World& world) {
    Tally tally;
    const auto transport = make_transport();
    const std::vector channels{channel};
    const auto subdirs = subdirs_for("linux-64");
    GPKG_TRY(const auto fetched, fetch_indexes(*transport, channels, subdirs, world.options));
    tally.requests = fetched.size();
    if (world.options.shards) {
        GPKG_CHECK(take_shards(*transport, fetched, roots, world, tally));
        return tally;
    }
    for (const auto& index : fetched) {
        if (index.from_cache) continue;  // made before
        const IndexSource source{index.channel.base_url(), index.subdir, index.url};
        GPKG_TRY(const auto read, read_repodata_file(index.path, source));
        tally.records += read.record_count();
    }
    return tally;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        fmt::print(stderr, "usage: shard_bench URL NAME...\n");
        return 2;
    }
    const auto channel = Channel::parse(argv[1], {});
    const std::vector<std::string> roots(argv + 2, argv + argc);
    fmt::print("{:8} {:8} {:>9} {:>9} {:>7} {:>8} {:>6} {:>9}\n",
               "way",
               "state",
               "wall ms",
               "cpu ms",
               "shards",
               "records",
               "steps",
               "requests");
    for (const bool shards : {false, true}) {
        const auto cache = TemporaryFolder::make(fs::temp_directory_path());
        if (!channel || !cache) return 1;
        World world;
        world.options.cache = cache->path();
        world.options.shards = shards;
        world.options.small = 0;
        for (const auto* state : {"nothing", "cached", "known"}) {
            if (state == std::string_view("cached")) world.names.clear();
            const auto cpu = cpu_ms();
            const auto start = Clock::now();
            const auto tally = run(*channel, roots, world);
            const std::chrono::duration<double, std::milli> wall = Clock::now() - start;
            if (!tally) {
                fmt::print(stderr, "{}\n", tally.error().to_string());
                return 1;
            }
            fmt::print("{:8} {:8} {:9.1f} {:9.1f} {:7} {:8} {:6} {:9}\n",
                       shards ? "shards" : "whole",
                       state,
                       wall.count(),
                       cpu_ms() - cpu,
                       tally->shards,
                       tally->records,
                       tally->steps,
                       tally->requests);
        }
    }
    return 0;
}
