#include "libcore/channel/fetch_shards.hpp"

#include "tests/unit/channel/sharded_channel.hpp"

#include <atomic>
#include <fmt/format.h>
#include <fstream>
#include <thread>

using namespace gpkg;
using namespace std::chrono_literals;
using nlohmann::json;
using tests::HttpServer;
using tests::Names;
using tests::shard_of;
using Fixture = tests::ShardedChannel;

namespace fetch_shards_test {
namespace {

const std::string kIndex = "/chan/noarch/repodata_shards.msgpack.zst";
const std::string kZst = "/chan/noarch/repodata.json.zst";
const std::string kJson = "/chan/noarch/repodata.json";

}  // namespace

TEST_CASE("shards are for what is not small", "[channel]") {
    Fixture f;
    f.put_channel();
    const auto zst = fs::file_size(f.folder.path() / "served/chan/noarch/repodata.json.zst");

    SECTION("small: the whole file, and nothing else is asked for") {
        f.options.small = zst;
        const auto index = f.fetch_noarch();
        CHECK_FALSE(index.sharded);
        CHECK(index.url == f.base + "/noarch/repodata.json.zst");
        CHECK(f.asked() == Names{kZst});
        // Confirmed, then grown beyond.
        CHECK(f.fetch_noarch().from_cache);
        f.put_plain("noarch", R"({"packages": {}, "info": {"subdir": "noarch", "x": "abcdefg"}})");
        CHECK(f.fetch_noarch().sharded);
        CHECK(f.asked() == Names{kZst, kIndex});
    }
    SECTION("large: the shards, and the file no more") {
        f.options.small = zst - 1;
        const auto index = f.fetch_noarch();
        CHECK(index.sharded);
        CHECK(index.url == f.base + "/noarch/repodata_shards.msgpack.zst");
        CHECK(index.warnings.empty());
        CHECK(read_shard_index(read_file(index.path).value(), index.url));
        CHECK(index.sha256 == sha256_of_file(index.path).value());
        const auto again = f.fetch_noarch();
        CHECK(again.from_cache);
        CHECK(again.sharded);
        CHECK(again.sha256 == index.sha256);
        CHECK(f.asked() == Names{kIndex});
        CHECK(f.server->requests()[0].headers.count("if-none-match") == 1);
    }
    SECTION("not wanted: never asked for") {
        f.options.shards = false;
        CHECK_FALSE(f.fetch_noarch().sharded);
        CHECK(f.asked() == Names{kZst});
    }
    SECTION("no more wanted: the whole file again") {
        CHECK(f.fetch_noarch().sharded);
        f.options.shards = false;
        CHECK_FALSE(f.fetch_noarch().sharded);
        CHECK(f.server->requests()[0].headers.count("if-none-match") == 0);
    }
    SECTION("local channels are read where they are") {
        f.base = (f.folder.path() / "served/chan").native();
        CHECK_FALSE(f.fetch_noarch().sharded);
    }
}

TEST_CASE("who wants shards and who wants the whole do not disturb each other", "[channel]") {
    Fixture f;
    f.put_channel();
    REQUIRE(f.fetch_noarch().sharded);
    f.options.shards = false;
    REQUIRE_FALSE(f.fetch_noarch().sharded);
    for (const bool shards : {true, false, true, false}) {
        f.options.shards = shards;
        const auto index = f.fetch_noarch();
        CHECK(index.from_cache);
        CHECK(index.sharded == shards);
        CHECK(f.asked() == Names{shards ? kIndex : kZst});
    }
    // Each can be forgotten alone.
    const auto whole = f.fetch_noarch();
    REQUIRE(forget_index(f.options.cache, whole));
    f.options.transfer.offline = true;
    f.options.shards = true;
    const auto sharded = f.fetch_noarch();
    CHECK(sharded.sharded);
    REQUIRE(forget_index(f.options.cache, sharded));
    CHECK(f.fetch_index({"noarch"}).error().kind == ErrorKind::NotFound);
}

TEST_CASE("offline the whole does where there are no shards", "[channel]") {
    Fixture f;
    f.put_channel();
    f.options.shards = false;
    REQUIRE(f.fetch_index());
    f.options.shards = true;
    f.options.transfer.offline = true;
    CHECK_FALSE(f.fetch_noarch().sharded);
    // And a server without them takes what is here of the whole.
    f.options.transfer.offline = false;
    f.options.small = 1 << 20;
    CHECK(f.fetch_noarch().from_cache);
    f.options.small = 0;
    CHECK(f.fetch_noarch().from_cache);
}

TEST_CASE("a page in place of shards says that there are none", "[channel]") {
    Fixture f;
    f.put_plain("noarch");
    f.options.small = 0;
    f.server->reply(kIndex, {.body = "<html>there is no such thing</html>"});
    const auto index = f.fetch_noarch();
    CHECK_FALSE(index.sharded);
    CHECK_FALSE(index.missing);
    CHECK(index.warnings.empty());
}

TEST_CASE("what an index of shards declares is known without reading it", "[channel]") {
    Fixture f;
    f.put_plain("noarch");
    f.info["channel_relations"] = {{"base", "../below"}, {"overrides", "../above"}};
    f.put_shards("noarch", {{"a", shard_of("a", {})}});
    const ChannelRelations declared{"../below", "../above"};
    CHECK(f.fetch_noarch().relations == declared);
    const auto again = f.fetch_noarch();
    CHECK(again.from_cache);
    CHECK(again.relations == declared);
    f.info.erase("channel_relations");
    f.put_shards("noarch", {{"b", shard_of("b", {})}});
    CHECK(f.fetch_noarch().relations == ChannelRelations{});
}

TEST_CASE("a server without shards is remembered for a week", "[channel]") {
    Fixture f;
    f.put_plain("noarch");
    CHECK_FALSE(f.fetch_noarch().sharded);
    CHECK(f.asked() == Names{kZst, kIndex, kZst});
    CHECK_FALSE(f.fetch_noarch().sharded);
    CHECK(f.asked() == Names{kZst});
    f.put_shards("noarch", {});
    f.time += 7L * 24 * 3600;
    CHECK_FALSE(f.fetch_noarch().sharded);  // nothing new: the copy is confirmed
    f.put_plain("noarch", R"({"packages": {}, "x": 1})");
    CHECK(f.fetch_noarch().sharded);
    CHECK(f.asked() == Names{kZst, kIndex});

    SECTION("and one that withdraws them is followed") {
        f.remove("noarch/repodata_shards.msgpack.zst");
        const auto index = f.fetch_noarch();
        CHECK_FALSE(index.sharded);
        CHECK(index.warnings.empty());
        CHECK(f.asked() == Names{kIndex, kZst});
        CHECK(f.fetch_noarch().from_cache);
        CHECK(f.asked() == Names{kZst});
    }
    SECTION("also where it says 403, as object stores do") {
        f.server->reply(kIndex, {.status = 403});
        CHECK_FALSE(f.fetch_noarch().sharded);
        CHECK(f.asked() == Names{kIndex, kZst});
    }
}

TEST_CASE("whichever of the files a server has is found", "[channel]") {
    Fixture f;
    SECTION("json alone") {
        f.put("noarch/repodata.json", "{}");
        CHECK(f.fetch_noarch().url == f.base + "/noarch/repodata.json");
        CHECK(f.asked() == Names{kZst, kIndex, kJson});
        CHECK(f.fetch_noarch().from_cache);
        CHECK(f.asked() == Names{kJson});
    }
    SECTION("shards alone") {
        f.put_shards("noarch", {});
        CHECK(f.fetch_noarch().sharded);
        CHECK(f.asked() == Names{kZst, kIndex});
    }
    SECTION("shards and json") {
        f.put("noarch/repodata.json", "{}");
        f.put_shards("noarch", {});
        CHECK(f.fetch_noarch().sharded);
        f.remove("noarch/repodata_shards.msgpack.zst");
        CHECK(f.fetch_noarch().url == f.base + "/noarch/repodata.json");
        CHECK(f.asked() == Names{kIndex, kJson});
    }
    SECTION("none") {
        f.put_plain("linux-64");
        CHECK(f.fetch_index().value()[1].missing);
        CHECK(f.server->count(kZst) + f.server->count(kIndex) + f.server->count(kJson) == 3);
        CHECK(f.fetch_index().value()[1].missing);
        CHECK(f.server->count(kZst) + f.server->count(kIndex) + f.server->count(kJson) == 2);
    }
}

TEST_CASE("shards that only a newer gpkg reads, or nobody, are not used", "[channel]") {
    Fixture f;
    f.put_plain("noarch");
    Names warnings;
    SECTION("newer") {
        f.put("noarch/repodata_shards.msgpack.zst",
              tests::packed_shard_index({}, json::object(), 2));
    }
    SECTION("damaged at the source") {
        f.put("noarch/repodata_shards.msgpack.zst", zstd_compress("\x81", 1));
        warnings = {f.base +
                    "/noarch/repodata_shards.msgpack.zst: damaged or truncated; not using shards"};
    }
    SECTION("leading to this machine") {
        f.put("noarch/repodata_shards.msgpack.zst",
              tests::packed_shard_index({}, {{"shards_base_url", "file:///etc"}}));
        warnings = {f.base +
                    "/noarch/repodata_shards.msgpack.zst: shards_base_url 'file:///etc' refers "
                    "from a network channel to local files; not using shards"};
    }
    const auto index = f.fetch_noarch();
    CHECK_FALSE(index.sharded);
    CHECK(index.warnings == warnings);
    CHECK(f.asked() == Names{kZst, kIndex, kZst});
    CHECK(f.fetch_noarch().warnings.empty());
    CHECK(f.asked() == Names{kZst});
    for (const auto& entry : fs::directory_iterator(f.options.cache))
        CHECK(entry.path().native().find("incoming") == std::string::npos);
}

TEST_CASE("the index of shards: fresh, offline, stale", "[channel]") {
    Fixture f;
    f.put_channel();
    f.server->set_header("Cache-Control", "max-age=60");
    REQUIRE(f.fetch_noarch().sharded);
    f.time += 59;
    CHECK(f.fetch_noarch().from_cache);
    CHECK(f.asked().empty());
    f.time += 3L * 3600;

    SECTION("offline") {
        f.options.transfer.offline = true;
        const auto index = f.fetch_noarch();
        CHECK(index.sharded);
        CHECK(index.warnings.empty());
        CHECK(f.asked().empty());
    }
    SECTION("an ill server") {
        f.server->reply(kIndex, {.status = 503});
        const auto index = f.fetch_noarch();
        CHECK(index.sharded);
        CHECK(index.warnings ==
              Names{f.base + "/noarch/repodata_shards.msgpack.zst: server error (HTTP 503) after 2 "
                             "attempts; using the cached copy, 3 hours old"});
        CHECK(f.server->count(kZst) == 0);
    }
    SECTION("a login page") {
        f.server->reply(kIndex, {.body = "<html>"});
        const auto index = f.fetch_noarch();
        CHECK(index.sharded);
        CHECK(index.warnings.size() == 1);
    }
    SECTION("changed") {
        f.put_shards("noarch", {{"new", shard_of("new", {})}});
        const auto index = f.fetch_noarch();
        CHECK_FALSE(index.from_cache);
        CHECK(open_shard_index(index).value().index->find("new") != nullptr);
    }
    SECTION("damaged in the cache") {
        const auto path = f.fetch_noarch().path;
        fs::resize_file(path, fs::file_size(path) - 1);
        const auto index = f.fetch_noarch();
        CHECK(index.sharded);
        CHECK_FALSE(index.from_cache);
        CHECK(index.warnings.size() == 1);
    }
}

TEST_CASE("what can be reached is fetched, and nothing else", "[channel]") {
    Fixture f;
    f.put_channel();
    CHECK(f.reach({"a"}).value() == Names{"__glibc", "a", "b", "c", "d", "e"});
    CHECK(f.given.shards == Names{"linux-64/a", "linux-64/b", "noarch/b", "noarch/c", "noarch/e"});
    CHECK(f.given.records == 5);
    CHECK(f.counts.fetched == 5);
    CHECK(f.counts.cached == 0);
    for (const auto& which : f.given.shards) CHECK(f.server->count(f.shard_path(which)) == 1);
    CHECK(f.server->count(f.shard_path("linux-64/unrelated")) == 0);

    // Again: from the cache, and the same.
    CHECK(f.reach({"a"}).value() == Names{"__glibc", "a", "b", "c", "d", "e"});
    CHECK(f.given.records == 5);
    CHECK(f.counts.cached == 5);
    CHECK(f.asked().size() == 2);

    // After a change: what changed.
    f.put_shards(
        "noarch",
        {{"b", shard_of("b", {"e"})}, {"c", shard_of("c", {"a"})}, {"e", shard_of("e", {"c >1"})}});
    REQUIRE(f.reach({"a"}));
    CHECK(f.counts.cached == 4);
    CHECK(f.counts.fetched == 1);

    CHECK(f.reach({"nowhere", "e", "e"}).value() ==
          Names{"__glibc", "a", "b", "c", "d", "e", "nowhere"});
    CHECK(f.reach({}).value().empty());
}

TEST_CASE("what the caller has is not read again", "[channel]") {
    Fixture f;
    f.put_channel();
    f.shard_options.known = [](const ShardRef& ref) -> std::optional<NameSet> {
        if (ref.name != "b") return std::nullopt;
        return NameSet{"unrelated"};
    };
    CHECK(f.reach({"a"}).value() == Names{"a", "b", "d", "unrelated"});
    CHECK(f.given.shards == Names{"linux-64/a", "linux-64/unrelated"});
    CHECK(f.counts.known == 2);
}

TEST_CASE("a shard is verified, and asked for twice", "[channel]") {
    Fixture f;
    f.put_channel();
    const auto path = f.shard_path("linux-64/b");

    SECTION("mangled once") {
        f.server->reply(path, {.body = shard_of("b", {"evil"})}, 1);
        CHECK(f.reach({"a"}).value() == Names{"__glibc", "a", "b", "c", "d", "e"});
        CHECK(f.server->count(path) == 2);
    }
    SECTION("mangled always") {
        f.server->reply(path, {.body = shard_of("b", {"evil"})});
        const auto error = f.reach({"a"}).error();
        CHECK(error.kind == ErrorKind::Integrity);
        CHECK(error.message.starts_with(f.server->url(path) + ": wrong sha256: expected " +
                                        f.hashes.at("linux-64/b")));
        CHECK(f.server->count(path) == 2);
    }
    SECTION("broken off once") {
        f.server->reply(path, {.cut_after = 20}, 1);
        CHECK(f.reach({"a"}));
    }
    SECTION("broken off always") {
        f.server->set_ranges(false);
        f.server->reply(path, {.cut_after = 20});
        CHECK(f.reach({"a"}).error().kind == ErrorKind::Network);
    }
    SECTION("not there") {
        f.server->reply(path, {.status = 404});
        const auto error = f.reach({"a"}).error();
        CHECK(error.kind == ErrorKind::NotFound);
        CHECK(error.to_string() == f.server->url(path) +
                                       ": not found (HTTP 404)\n  hint: the server lacks a shard "
                                       "that its index lists; try again in a minute");
    }
    SECTION("longer than any shard") {
        f.server->reply(path, {.body = std::string((std::size_t{32} << 20U) + 1, 'x')});
        CHECK(f.reach({"a"}).error().message ==
              f.server->url(path) + ": 33554433 bytes exceed the limit of 33554432 bytes");
    }
    // Nothing but the right shard has come to stand there, and nothing else is left behind.
    const auto kept = sha256_of_file(f.cached_shard("linux-64/b"));
    CHECK((!kept || *kept == f.hashes.at("linux-64/b")));
    for (const auto& entry : fs::directory_iterator(f.options.cache / "shards"))
        CHECK(entry.path().native().find(".part-") == std::string::npos);
}

TEST_CASE("a right checksum does not make a right shard", "[channel]") {
    struct Row {
        std::string what, bytes, told;
    };
    const auto row = GENERATE(values<Row>({
        {"of another name", shard_of("c", {}), ": c-1-0.conda: belongs to 'c', not 'b'"},
        {"not zstd", "<html>", ": not valid zstd data: "},
        {"cut off", shard_of("b", {}).substr(0, 60), ": truncated zstd data"},
        {"not msgpack", zstd_compress("\xc1", 1), ": damaged or truncated"},
        {"empty", "", ": "},
    }));
    CAPTURE(row.what);
    Fixture f;
    f.put_plain("linux-64");
    f.put_plain("noarch");
    f.put_shards("linux-64", {{"a", shard_of("a", {"b"})}, {"b", row.bytes}});
    f.put_shards("noarch", {});
    const auto error = f.reach({"a"}).error();
    CHECK(error.kind == ErrorKind::Integrity);
    CHECK(error.message.starts_with(f.server->url(f.shard_path("linux-64/b")) + row.told));
}

TEST_CASE("damage in the cache of shards is mended", "[channel]") {
    Fixture f;
    f.put_channel();
    REQUIRE(f.reach({"a"}));
    const auto path = f.cached_shard("linux-64/b");
    const auto bytes = read_file(path).value();
    SECTION("a flipped bit") {
        auto flipped = bytes;
        flipped[flipped.size() / 2] ^= 4;
        std::ofstream(path, std::ios::binary) << flipped;
    }
    SECTION("a lost tail") { fs::resize_file(path, bytes.size() - 1); }
    SECTION("nothing left") { fs::resize_file(path, 0); }
    SECTION("another shard in its place") {
        fs::copy_file(f.cached_shard("noarch/b"), path, fs::copy_options::overwrite_existing);
    }
    SECTION("offline it cannot be") {
        fs::resize_file(path, 0);
        f.options.transfer.offline = true;
        CHECK(f.reach({"a"}).error().message == "--offline: " + path.native() + " is damaged");
        f.options.transfer.offline = false;
    }
    CHECK(f.reach({"a"}).value() == Names{"__glibc", "a", "b", "c", "d", "e"});
    CHECK(f.given.shards == Names{"linux-64/a", "linux-64/b", "noarch/b", "noarch/c", "noarch/e"});
    CHECK(f.counts.cached == 4);
    CHECK(f.counts.fetched == 1);
    CHECK(read_file(path).value() == bytes);
}

TEST_CASE("offline what was reached before is reached again", "[channel]") {
    Fixture f;
    f.put_channel();
    REQUIRE(f.reach({"a"}));
    f.options.transfer.offline = true;
    CHECK(f.reach({"b"}).value() == Names{"__glibc", "a", "b", "c", "d", "e"});
    CHECK(f.asked().empty());
    CHECK(f.reach({"unrelated"}).error().to_string() ==
          "--offline: " + f.base +
              "/linux-64: the repodata of unrelated is not in the cache\n  hint: run the command "
              "once with a network, without --offline");
}

TEST_CASE("redirects of shards are followed", "[channel]") {
    Fixture f;
    f.put_channel();
    const auto path = f.shard_path("linux-64/b");
    const auto bytes = read_file(f.folder.path() / "served" / path.substr(1)).value();
    f.server->reply(path, {.status = 302, .headers = {{"Location", "/elsewhere"}}});
    f.server->reply("/elsewhere", {.body = bytes});
    CHECK(f.reach({"a"}));
    f.server->reply(f.shard_path("linux-64/unrelated"),
                    {.status = 302, .headers = {{"Location", "file:///etc/passwd"}}});
    CHECK(f.reach({"unrelated"}).error().message.find("not followed") != std::string::npos);
}

TEST_CASE("shards get the credentials of their channel, other hosts do not", "[channel]") {
    Fixture f;
    HttpServer other(f.folder.path() / "served");
    const auto login = [&] {
        f.base = fmt::format("http://u:p@127.0.0.1:{}/chan", f.server->port());
    };
    SECTION("beside the index") {
        f.put_channel();
        login();
        REQUIRE(f.reach({"e"}));
        for (const auto& request : f.server->requests())
            CHECK(request.headers.at("authorization") == "Basic dTpw");
    }
    SECTION("elsewhere") {
        f.info["shards_base_url"] = other.url("/chan/noarch/shards");
        f.put_channel();
        login();
        REQUIRE(f.reach({"e"}));
        REQUIRE(other.requests().size() == 1);
        CHECK(other.requests()[0].headers.count("authorization") == 0);
    }
}

TEST_CASE("an error of the caller, or a wish to stop, ends it", "[channel]") {
    Fixture f;
    f.put_channel();
    SECTION("an error") {
        f.shard_options.on_shard = [](const ShardRef&, const Shard&) -> Result<void> {
            return fail(ErrorKind::Io, "no room");
        };
        CHECK(f.reach({"a"}).error().message == "no room");
    }
    SECTION("a wish") {
        REQUIRE(f.fetch_index());
        std::stop_source stop;
        f.server->set_header("Cache-Control", "max-age=60");
        REQUIRE(f.fetch_index());
        f.options.transfer.stop = stop.get_token();
        f.server->reply(f.shard_path("linux-64/a"), {.delay = 5s});
        const std::jthread later([&] {
            std::this_thread::sleep_for(100ms);
            stop.request_stop();
        });
        const auto start = std::chrono::steady_clock::now();
        CHECK(f.reach({"a"}).error().kind == ErrorKind::Interrupted);
        CHECK(std::chrono::steady_clock::now() - start < 3s);
    }
}

TEST_CASE("a step's shards are fetched together", "[channel]") {
    Fixture f;
    f.put_plain("linux-64");
    f.put_plain("noarch");
    Names depends;
    std::map<std::string, std::string> shards;
    for (int i = 0; i < 24; ++i) {
        depends.push_back(fmt::format("p{}", i));
        shards[depends.back()] = shard_of(depends.back(), {});
    }
    shards["a"] = shard_of("a", depends);
    f.put_shards("linux-64", shards);
    f.put_shards("noarch", {});
    for (const auto& name : depends)
        f.server->reply(f.shard_path("linux-64/" + name), {.delay = 100ms});
    const auto start = std::chrono::steady_clock::now();
    REQUIRE(f.reach({"a"}));
    CHECK(std::chrono::steady_clock::now() - start < 1s);
    CHECK(f.given.shards.size() == 25);
}

TEST_CASE("two processes fill one cache of shards without harm", "[channel]") {
    Fixture f;
    f.put_channel();
    REQUIRE(f.fetch_index());
    const auto subdirs = [&] {
        const auto fetched = f.fetch_index().value();
        std::vector<ShardedSubdir> all;
        all.reserve(fetched.size());
        for (const auto& index : fetched) all.push_back(open_shard_index(index).value());
        return all;
    }();
    std::atomic<int> good{0};
    {
        std::vector<std::jthread> threads;
        threads.reserve(4);
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&, t] {
                for (int round = 0; round < 10; ++round) {
                    // One of them spoils what the others read.
                    if (t == 0) {
                        std::error_code ignored;
                        fs::resize_file(f.cached_shard("linux-64/b"), 7, ignored);
                        fs::remove(f.cached_shard("noarch/c"), ignored);
                    }
                    ShardOptions options;
                    options.cache = f.options.cache;
                    std::size_t records = 0;
                    options.on_shard = [&](const ShardRef&, const Shard& shard) -> Result<void> {
                        records += shard.records.size();
                        return {};
                    };
                    ShardFetcher fetcher(*f.transport, subdirs, options);
                    const Names roots{"a"};
                    const auto names = close_over_names(roots, std::ref(fetcher));
                    if (names && names->size() == 6 && records == 5) ++good;
                    // Spoiled again between two looks.
                    if (!names && names.error().kind == ErrorKind::Io) ++good;
                }
            });
        }
    }
    CHECK(good == 40);
}

TEST_CASE("shards that nobody names and nobody uses are removed", "[channel]") {
    Fixture f;
    f.put_channel();
    REQUIRE(f.reach({"a"}));
    const auto old_b = f.cached_shard("linux-64/b");
    const auto a = f.cached_shard("linux-64/a");
    const auto part = f.options.cache / "shards/x.msgpack.zst.part-0001";
    REQUIRE(write_file_atomically(part, "x"));
    const auto now = fs::file_time_type::clock::now();
    // Three generations of the index later; the one before the last still counts.
    for (const auto* depends : {"c", "d", "e"}) {
        f.put_shards("linux-64",
                     {{"a", shard_of("a", {"b >=1", "d"})}, {"b", shard_of("b", {depends})}});
        REQUIRE(f.reach({"a"}));
        std::this_thread::sleep_for(5ms);
    }
    const auto new_b = f.cached_shard("linux-64/b");
    const auto day = std::chrono::hours(24);
    REQUIRE(remove_old_shards(f.options.cache, now + 6 * day));
    CHECK(fs::exists(old_b));
    CHECK_FALSE(fs::exists(part));

    SECTION("not twice a day") {
        REQUIRE(remove_old_shards(f.options.cache, now + 6 * day + std::chrono::hours(23)));
        CHECK(fs::exists(old_b));
    }
    REQUIRE(remove_old_shards(f.options.cache, now + 8 * day));
    CHECK_FALSE(fs::exists(old_b));
    CHECK(fs::exists(a));
    CHECK(fs::exists(new_b));
    CHECK(f.reach({"a"}));
    CHECK(f.counts.fetched == 0);

    SECTION("what is used is young again") {
        fs::last_write_time(a, now - 30 * day);
        REQUIRE(f.reach({"a"}));
        CHECK(fs::last_write_time(a) >= now - day);
    }
    SECTION("an index that cannot be read may name any") {
        fs::last_write_time(new_b, now - 30 * day);
        for (const auto& entry : fs::directory_iterator(f.options.cache)) {
            if (entry.path().native().ends_with(".msgpack.zst")) fs::resize_file(entry.path(), 9);
        }
        CHECK_FALSE(remove_old_shards(f.options.cache, now + 10 * day));
        CHECK(fs::exists(new_b));
    }
    SECTION("no cache is no trouble") { CHECK(remove_old_shards(f.folder.path() / "none", now)); }
}

}  // namespace fetch_shards_test
