#pragma once

// What the tests of shards share.

#include "libcore/channel/fetch_shards.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_server.hpp"
#include "tests/support/shards.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <optional>

namespace gpkg::tests {

using Names = std::vector<std::string>;

inline const Names kSubdirs{"linux-64", "noarch"};

/// A shard of one record that depends on `depends`.
inline std::string shard_of(const std::string& name, const Names& depends) {
    nlohmann::json shard;
    shard["packages"] = nlohmann::json::object();
    shard["packages.conda"][name + "-1-0.conda"] = {{"name", name},
                                                    {"version", "1"},
                                                    {"build", "0"},
                                                    {"build_number", 0},
                                                    {"depends", depends}};
    return tests::packed_shard(shard);
}

/// The names of which shards were given, as "subdir/name", sorted.
struct Given {
    Names shards;
    std::size_t records = 0;
};

/// A channel with shards on a server of its own, and a cache.
struct ShardedChannel {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    std::optional<HttpServer> server{folder.path() / "served"};
    std::unique_ptr<Transport> transport = make_transport();
    std::string base = server->url("/chan");
    IndexOptions options;
    ShardOptions shard_options;
    std::int64_t time = 1'000'000;
    nlohmann::json info{{"base_url", "./"}, {"shards_base_url", "./shards/"}};
    std::map<std::string, std::string> hashes;  ///< "subdir/name" -> hex
    Given given;
    ShardFetcher::Counts counts;

    ShardedChannel() {
        options.cache = folder.path() / "cache";
        options.shards = true;
        options.small = 0;
        options.transfer.retry = {2, std::chrono::milliseconds(1), std::chrono::milliseconds(10)};
        options.now = [this] { return time; };
    }
    void put(const std::string& name, std::string_view bytes) {
        REQUIRE(write_file_atomically(folder.path() / "served/chan" / name, bytes));
    }
    void remove(const std::string& name) { fs::remove(folder.path() / "served/chan" / name); }
    void put_plain(const std::string& subdir, const std::string& text = R"({"packages": {}})") {
        put(subdir + "/repodata.json", text);
        put(subdir + "/repodata.json.zst", zstd_compress(text, 3));
    }
    void put_shards(const std::string& subdir, const std::map<std::string, std::string>& shards) {
        std::map<std::string, std::string> index;
        for (const auto& [name, bytes] : shards) {
            index[name] = hex_digest(DigestKind::Sha256, bytes);
            hashes[fmt::format("{}/{}", subdir, name)] = index[name];
            put(fmt::format("{}/shards/{}.msgpack.zst", subdir, index[name]), bytes);
        }
        put(subdir + "/repodata_shards.msgpack.zst", tests::packed_shard_index(index, info));
    }
    /// What most tests use: a -> b, d; b -> c (noarch), __glibc; both subdirs have b.
    void put_channel() {
        put_plain("linux-64");
        put_plain("noarch");
        put_shards("linux-64",
                   {{"a", shard_of("a", {"b >=1", "d"})},
                    {"b", shard_of("b", {"c", "__glibc >=2"})},
                    {"unrelated", shard_of("unrelated", {})}});
        put_shards(
            "noarch",
            {{"b", shard_of("b", {"e"})}, {"c", shard_of("c", {"a"})}, {"e", shard_of("e", {})}});
    }
    std::string shard_path(const std::string& which) const {
        return "/chan/" + which.substr(0, which.find('/')) + "/shards/" + hashes.at(which) +
               ".msgpack.zst";
    }
    fs::path cached_shard(const std::string& which) const {
        return options.cache / "shards" / (hashes.at(which) + ".msgpack.zst");
    }

    Result<std::vector<FetchedIndex>> fetch_index(const Names& subdirs = kSubdirs) {
        server->forget_requests();
        const std::vector channels{Channel::parse(base, {}).value()};
        return fetch_indexes(*transport, channels, subdirs, options);
    }
    FetchedIndex fetch_noarch() { return fetch_index({"noarch"}).value().front(); }

    /// The whole way: indexes, then all that can be reached from `roots`.
    Result<Names> reach(const Names& roots) {
        GPKG_TRY(const auto fetched, fetch_index());
        std::vector<ShardedSubdir> subdirs;
        for (const auto& index : fetched) {
            if (!index.sharded) continue;
            GPKG_TRY(auto subdir, open_shard_index(index));
            subdirs.push_back(std::move(subdir));
        }
        given = {};
        auto asking = shard_options;
        asking.cache = options.cache;
        asking.transfer = options.transfer;
        if (!asking.on_shard) {
            asking.on_shard = [&](const ShardRef& ref, const Shard& shard) -> Result<void> {
                given.shards.push_back(subdirs[ref.subdir].subdir + "/" + std::string(ref.name));
                given.records += shard.records.size();
                return {};
            };
        }
        ShardFetcher fetcher(*transport, subdirs, asking);
        auto names = close_over_names(roots, std::ref(fetcher));
        counts = fetcher.counts();
        std::sort(given.shards.begin(), given.shards.end());
        return names;
    }
    /// Paths asked for since the last fetch of indexes began.
    Names asked() const {
        Names targets;
        for (const auto& request : server->requests()) targets.push_back(request.target);
        return targets;
    }
};

}  // namespace gpkg::tests
