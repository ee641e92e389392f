// Shards, channeldata.json and the indexer's memory.
#include "libcore/base/digest.hpp"
#include "libcore/index/shards.hpp"
#include "libcore/indexing/shard_writer.hpp"
#include "tests/unit/indexing/indexed_channel.hpp"

#include <set>

using gpkg::tests::Channel;

namespace index_files_test {
namespace {

std::set<std::string> files_in(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
    return names;
}

gpkg::ShardIndex index_of(const Channel& channel, const std::string& subdir = "linux-64") {
    const auto file = "c/" + subdir + "/repodata_shards.msgpack.zst";
    auto read = gpkg::read_shard_index(channel.text(file), "http://h/" + file);
    if (!read) FAIL(read.error().to_string());
    CHECK(read->shard_folder() == "http://h/c/" + subdir + "/shards/");
    CHECK(read->notes().empty());
    return *std::move(read);
}

std::string file_of(const gpkg::ShardHash& hash) { return gpkg::to_hex(hash) + ".msgpack.zst"; }

/// The shard as the indexer of conda would read it: its msgpack as JSON.
Json shard_json(const Channel& channel, const std::string& name) {
    const auto index = index_of(channel);
    const auto* hash = index.find(name);
    REQUIRE(hash != nullptr);
    const auto packed = channel.text("c/linux-64/shards/" + file_of(*hash));
    CHECK(gpkg::hex_digest(gpkg::DigestKind::Sha256, packed) == gpkg::to_hex(*hash));
    const auto read = gpkg::read_shard(packed, name, "url");
    if (!read) FAIL(read.error().to_string());
    CHECK(read->notes.empty());
    return Json::from_msgpack(gpkg::zstd_decompress(packed, "shard", 0).value());
}

}  // namespace

TEST_CASE("each name has a shard with its records as they stand in repodata.json", "[build]") {
    const Channel channel;
    channel.add({});
    channel.add({{"version", "2"}}, "linux-64", true);
    channel.add({{"name", "b"}, {"schema_version", 3}});
    const auto about = channel.index().subdirs[0];
    CHECK(about.shards == 2);
    CHECK(about.shards_written == 2);
    CHECK(index_of(channel).entries().size() == 2);
    CHECK(index_of(channel, "noarch").entries().empty());

    const auto repodata = channel.json("c/linux-64/repodata.json");
    auto shard = shard_json(channel, "a");
    CHECK(shard.at("removed") == Json::array());
    CHECK_FALSE(shard.contains("v3"));
    for (const auto* key : {"packages", "packages.conda"}) {
        REQUIRE(shard.at(key).size() == 1);
        for (auto& [file, record] : shard.at(key).items()) {
            for (const auto* sum : {"md5", "sha256"}) {
                REQUIRE(record.at(sum).is_binary());
                record[sum] = gpkg::to_hex(record.at(sum).get_binary());
            }
        }
        CHECK(shard.at(key) == repodata.at(key));
    }
    const auto v3 = shard_json(channel, "b");
    CHECK(v3.at("packages.conda") == Json::object());
    CHECK(v3.at("v3").at("conda").at("b-1-h0_0").at("depends") == Json{R"(b[version=">=1"])"});
}

TEST_CASE("only the shards of names that changed are written", "[build]") {
    Channel channel;
    channel.add({});
    channel.add({{"name", "b"}});
    channel.index();
    const auto first = files_in(channel.at("c/linux-64/shards"));
    const auto index = channel.text("c/linux-64/repodata_shards.msgpack.zst");
    CHECK(channel.index().subdirs[0].shards_written == 0);
    CHECK(channel.text("c/linux-64/repodata_shards.msgpack.zst") == index);

    channel.add({{"version", "2"}});
    CHECK(channel.index().subdirs[0].shards_written == 1);
    CHECK(files_in(channel.at("c/linux-64/shards")).size() == 3);

    // What is gone is made again, the same.
    for (const auto& file : first) fs::remove(channel.at("c/linux-64/shards") / file);
    CHECK(channel.index().subdirs[0].shards_written == 1);
    fs::remove(channel.at("c/linux-64/.gpkg-index"));
    const auto before = files_in(channel.at("c/linux-64/shards"));
    CHECK(channel.index().subdirs[0].shards_written == 0);
    CHECK(files_in(channel.at("c/linux-64/shards")) == before);
}

TEST_CASE("a shard that no index names goes after a week", "[build]") {
    Channel channel;
    constexpr std::int64_t kWeek = std::int64_t{7} * 24 * 3600 * 1000;
    const auto shards = [&] { return files_in(channel.at("c/linux-64/shards")).size(); };
    channel.add({});
    channel.add({{"name", "b"}});
    channel.index();
    REQUIRE(gpkg::write_file_atomically(channel.at("c/linux-64/shards/notes.txt"), "mine"));
    CHECK(shards() == 3);

    // It was in use for a year: that it is old does not count.
    *channel.options.timestamp += 52 * kWeek;
    channel.add({{"version", "2"}});
    CHECK(channel.index().subdirs[0].shards_removed == 0);
    CHECK(shards() == 4);
    *channel.options.timestamp += kWeek - 1;
    CHECK(channel.index().subdirs[0].shards_removed == 0);
    CHECK(shards() == 4);
    *channel.options.timestamp += 1;
    CHECK(channel.index().subdirs[0].shards_removed == 1);
    CHECK(shards() == 3);
    // One that comes into use again stays.
    fs::remove(channel.at("c/linux-64/b-1-h0_0.conda"));
    channel.index();
    *channel.options.timestamp = 1000;
    channel.add({{"name", "b"}});
    const auto old = fs::last_write_time(channel.at("c/linux-64/b-1-h0_0.conda"));
    channel.index();
    *channel.options.timestamp += 60 * kWeek;
    channel.index();
    CHECK(index_of(channel).entries().size() == 2);
    CHECK(fs::last_write_time(channel.at("c/linux-64/b-1-h0_0.conda")) == old);
    CHECK(fs::exists(channel.at("c/linux-64/shards") / file_of(*index_of(channel).find("b"))));

    // At once where nobody is waited for.
    channel.options.unused_shards_for = {};
    channel.add({{"name", "b"}, {"version", "2"}});
    CHECK(channel.index().subdirs[0].shards_removed > 0);
    CHECK(shards() == 3);
}

TEST_CASE("channeldata.json tells of each name's newest package", "[build]") {
    const Channel channel;
    const std::string used = "{}";
    channel.add(
        {{"version", "1.10"}, {"license", "MIT"}, {"timestamp", 1700000000123}},
        "linux-64",
        false,
        used,
        {{"about.json", R"({"home": ["https://a", "https://b"], "summary": "new", "doc_url": 7})"},
         {"run_exports.json", "{}"}});
    channel.add({{"version", "1.9"}, {"timestamp", 1800000000}},
                "noarch",
                false,
                used,
                {{"about.json", R"({"summary": "old"})"}});
    channel.add({{"name", "b"}}, "noarch");
    channel.index();
    const auto data = channel.json("c/channeldata.json");
    CHECK(data.at("channeldata_version") == 1);
    CHECK(data.at("subdirs") == Json{"linux-64", "noarch"});
    CHECK(data.at("packages").size() == 2);
    CHECK(data.at("packages").at("b").at("subdirs") == Json{"noarch"});
    auto flags = data.at("packages").at("a");
    CHECK(flags == Json::parse(R"({"activate.d": false, "binary_prefix": false,
        "deactivate.d": false, "home": "https://a", "license": "MIT", "post_link": false,
        "pre_link": false, "pre_unlink": false, "run_exports": {"1.9": {"weak": ["a >=1"]}},
        "subdirs": ["linux-64", "noarch"], "summary": "new", "text_prefix": false,
        "timestamp": 1800000000, "version": "1.10"})"));
}

TEST_CASE("channeldata.json tells what linking a package does", "[build]") {
    const Channel channel;
    const std::string sum(64, '0');
    const auto entry = [&](const std::string& path, const std::string& more = "") {
        return R"({"_path": ")" + path + R"(", "path_type": "hardlink", "sha256": ")" + sum +
               R"(", "size_in_bytes": 1)" + more + "}";
    };
    channel.add(
        {},
        "linux-64",
        false,
        "{}",
        {{"paths.json",
          R"({"paths_version": 1, "paths": [)" +
              entry("lib/a.so", R"(, "prefix_placeholder": "/p", "file_mode": "binary")") + "," +
              entry("etc/conda/activate.d/a.sh") + "," + entry("bin/.a-post-link.sh") + "]}"}});
    channel.index();
    const auto told = channel.json("c/channeldata.json").at("packages").at("a");
    CHECK(told.at("binary_prefix") == true);
    CHECK(told.at("text_prefix") == false);
    CHECK(told.at("activate.d") == true);
    CHECK(told.at("deactivate.d") == false);
    CHECK(told.at("post_link") == true);
    CHECK(told.at("pre_unlink") == false);
}

TEST_CASE("a memory that is damaged is read anew and changes nothing", "[build]") {
    const Channel channel;
    channel.add({});
    channel.add({{"name", "b"}, {"schema_version", 3}}, "linux-64", true);
    channel.index();
    const auto memory = channel.at("c/linux-64/.gpkg-index");
    const auto good = channel.text("c/linux-64/.gpkg-index");
    const auto repodata = channel.text("c/linux-64/repodata.json");
    CHECK(channel.index().subdirs[0].read == 0);
    CHECK(channel.text("c/linux-64/.gpkg-index") == good);
    auto flipped = good;
    flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 1);
    for (const auto& bad :
         {good.substr(0, good.size() / 2), flipped, std::string(), std::string(100, '\0')}) {
        REQUIRE(gpkg::write_file_atomically(memory, bad));
        CHECK(channel.index().subdirs[0].read == 2);
        CHECK(channel.text("c/linux-64/repodata.json") == repodata);
        CHECK(channel.text("c/linux-64/.gpkg-index") == good);
    }
}

TEST_CASE("what somebody else wrote into repodata.json counts, what vanished is remembered",
          "[build]") {
    Channel channel;
    channel.add({});
    channel.index();
    channel.options.timestamp = 5000;
    auto edited = channel.json("c/linux-64/repodata.json");
    edited["packages.conda"]["a-1-h0_0.conda"]["indexed_timestamp"] = 7;
    REQUIRE(gpkg::write_file_atomically(channel.at("c/linux-64/repodata.json"), edited.dump()));
    const auto dated = [&] {
        return channel.json("c/linux-64/repodata.json")
            .at("packages.conda")
            .at("a-1-h0_0.conda")
            .at("indexed_timestamp")
            .get<int>();
    };
    CHECK(channel.index().subdirs[0].read == 0);
    CHECK(dated() == 7);
    fs::remove(channel.at("c/linux-64/repodata.json"));
    channel.index();
    CHECK(dated() == 7);
}

TEST_CASE("shards tell which packages of their name are withdrawn", "[build]") {
    const Channel channel;
    channel.add({});
    channel.add({{"version", "2"}});
    channel.add({{"name", "b"}});
    channel.index();
    auto edited = channel.json("c/linux-64/repodata.json");
    edited["removed"] = {"a-2-h0_0.conda", "b-1-h0_0.conda"};
    REQUIRE(gpkg::write_file_atomically(channel.at("c/linux-64/repodata.json"), edited.dump()));
    CHECK(channel.index().subdirs[0].packages == 1);
    CHECK(index_of(channel).find("b") == nullptr);
    const auto shard = shard_json(channel, "a");
    CHECK(shard.at("removed") == Json{"a-2-h0_0.conda"});
    CHECK(shard.at("packages.conda").size() == 1);
}

TEST_CASE("the level of compression changes the bytes, not what they say", "[build]") {
    Channel channel;
    channel.add({});
    channel.index();
    const auto hash = *index_of(channel).find("a");
    const auto shard = shard_json(channel, "a");
    channel.options.zstd_level = 1;
    CHECK(channel.index().subdirs[0].shards_written == 1);
    CHECK(*index_of(channel).find("a") != hash);
    CHECK(shard_json(channel, "a") == shard);
}

}  // namespace index_files_test
