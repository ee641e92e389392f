// Shards against the whole, of one channel on a server: shard_bench URL NAME... What a command does
// until there are records to solve with: from nothing; with the files cached, and nothing made of
// them; with all that an earlier command left.

#include "libcore/channel/open_index.hpp"
#include "libcore/channel/reached_index.hpp"

#include <chrono>
#include <fmt/format.h>
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

/// The number of records in the indexes.
Result<std::size_t> run(const Channel& channel,
                        std::span<const std::string> roots,
                        const IndexOptions& options) {
    const auto transport = make_transport();
    const std::vector channels{channel};
    const auto subdirs = subdirs_for("linux-64");
    GPKG_TRY(const auto fetched, fetch_indexes(*transport, channels, subdirs, options));
    std::vector<SharedIndex> indexes(fetched.size());
    for (std::size_t i = 0; i < fetched.size(); ++i) {
        if (fetched[i].sharded) continue;
        GPKG_TRY(indexes[i], open_index(fetched[i], options.cache));
    }
    ReachedIndexOptions reach;
    reach.shards.cache = options.cache;
    GPKG_CHECK(open_reached(*transport, fetched, indexes, roots, reach));
    std::size_t records = 0;
    for (const auto& index : indexes) records += index->record_count();
    return records;
}

void forget_what_was_made(const fs::path& cache) {
    std::vector<fs::path> made;
    for (const auto& entry : fs::recursive_directory_iterator(cache)) {
        const auto& extension = entry.path().extension();
        if (extension == ".index" || extension == ".kept") made.push_back(entry.path());
    }
    for (const auto& path : made) fs::remove(path);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        fmt::print(stderr, "usage: shard_bench URL NAME...\n");
        return 2;
    }
    const auto channel = Channel::parse(argv[1], {});
    const std::vector<std::string> roots(argv + 2, argv + argc);
    fmt::print("{:8} {:8} {:>9} {:>9} {:>8}\n", "way", "state", "wall ms", "cpu ms", "records");
    for (const bool shards : {false, true}) {
        const auto cache = TemporaryFolder::make(fs::temp_directory_path());
        if (!channel || !cache) return 1;
        IndexOptions options;
        options.cache = cache->path();
        options.shards = shards;
        options.small = 0;
        for (const std::string_view state : {"nothing", "cached", "kept"}) {
            if (state == "cached") forget_what_was_made(cache->path());
            const auto cpu = cpu_ms();
            const auto start = Clock::now();
            const auto records = run(*channel, roots, options);
            const std::chrono::duration<double, std::milli> wall = Clock::now() - start;
            if (!records) {
                fmt::print(stderr, "{}\n", records.error().to_string());
                return 1;
            }
            fmt::print("{:8} {:8} {:9.1f} {:9.1f} {:8}\n",
                       shards ? "shards" : "whole",
                       state,
                       wall.count(),
                       cpu_ms() - cpu,
                       *records);
        }
    }
    return 0;
}
