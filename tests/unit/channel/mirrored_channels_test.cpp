#include "libcore/channel/mirrored_channels.hpp"

#include "libcore/channel/fetch_index.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_server.hpp"

using namespace gpkg;
using namespace std::chrono_literals;
using tests::HttpServer;

namespace mirrored_channels_test {
namespace {

struct Fixture {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    HttpServer first{folder.path() / "first"};
    HttpServer second{folder.path() / "second"};
    std::vector<std::string> warnings;
    IndexOptions options;

    Fixture() {
        options.cache = folder.path() / "cache";
        options.transfer.retry = {2, 1ms, 10ms, 0};
    }
    void put(const std::string& path, std::string_view bytes) {
        REQUIRE(write_file_atomically(folder.path() / path, bytes));
    }
    Result<std::vector<FetchedIndex>> fetch(std::vector<std::string> mirrors) {
        const std::vector<MirroredChannel> mirrored{{"tools", std::move(mirrors)}};
        TransportOptions transport;
        transport.mirrors = mirrored_places(mirrored, {}).value();
        transport.on_mirror_failed = [this](const std::string& mirror, const Error&) {
            warnings.push_back(mirror);
        };
        const std::vector channels{Channel::parse("tools", {}).value()};
        const std::vector<std::string> subdirs{"linux-64", "noarch"};
        return fetch_indexes(*make_transport(transport), channels, subdirs, options);
    }
};

}  // namespace

TEST_CASE("mirrors are named as channels are", "[channel]") {
    const std::vector<MirroredChannel> mirrored{
        {"tools", {"https://me:secret@h.example/t/tok/tools/", "/srv/tools"}},
        {"https://x.example/y", {"https://x.example/y", "https://z.example/y"}}};
    const auto places = mirrored_places(mirrored, {}).value();
    REQUIRE(places.size() == 2);
    CHECK(places[0].base == "https://conda.anaconda.org/tools");
    CHECK(places[0].mirrors ==
          std::vector<std::string>{"https://me:secret@h.example/t/tok/tools", "file:///srv/tools"});
    CHECK(places[1].base == places[1].mirrors[0]);
    const std::vector<MirroredChannel> wrong{{"tools", {"https://h.example/tools?x"}}};
    CHECK(mirrored_places(wrong, {}).error().message ==
          "channel 'https://h.example/tools': '?' and '#' are not allowed");
}

TEST_CASE("an index keeps its channel's name, whichever mirror it comes from", "[channel]") {
    Fixture f;
    const std::string json = R"({"packages": {}})";
    // The first has no .zst, and was not told of noarch yet.
    f.put("first/c/linux-64/repodata.json", json);
    f.put("second/c/linux-64/repodata.json.zst", zstd_compress(json, 3));
    f.put("second/c/noarch/repodata.json", json);
    const auto one = f.fetch({f.first.url("/c"), f.second.url("/c")}).value();
    const std::string base = "https://conda.anaconda.org/tools";
    CHECK(one[0].url == base + "/linux-64/repodata.json");
    CHECK(one[1].url == base + "/noarch/repodata.json");
    CHECK_FALSE(one[1].missing);
    CHECK(f.first.count("/c/linux-64/repodata.json.zst") == 1);
    CHECK(f.second.count("/c/linux-64/repodata.json") == 0);
    CHECK(f.warnings == std::vector{f.first.url("/c")});

    // With other mirrors the same copy is asked about.
    f.warnings.clear();
    f.put("second/c/linux-64/repodata.json", json);
    const auto other = f.fetch({f.second.url("/c")}).value();
    CHECK(other[0].url.starts_with(base));
    CHECK(other[1].from_cache);
    CHECK(f.warnings.empty());
    f.options.transfer.offline = true;
    CHECK(f.fetch({"https://nowhere.invalid/c"}).value()[1].from_cache);
    for (const auto& entry : fs::recursive_directory_iterator(f.options.cache)) {
        if (!entry.is_regular_file()) continue;
        CHECK(read_file(entry.path()).value().find("127.0.0.1") == std::string::npos);
    }
}

TEST_CASE("offline, an index comes from a mirror that is a folder", "[channel]") {
    Fixture f;
    f.put("first/c/noarch/repodata.json", R"({"packages": {}})");
    const auto folder = (f.folder.path() / "first/c").native();
    f.options.transfer.offline = true;
    const std::vector<std::string> servers{f.second.url("/c")};
    CHECK(f.fetch(servers).error().message ==
          "--offline: https://conda.anaconda.org/tools/linux-64 is not in the cache");
    const auto indexes = f.fetch({f.second.url("/c"), folder}).value();
    CHECK(indexes[0].missing);
    CHECK_FALSE(indexes[1].missing);
    CHECK(indexes[1].url == "https://conda.anaconda.org/tools/noarch/repodata.json");
    CHECK(f.second.requests().empty());
    CHECK(f.warnings.empty());

    // Where the folder is gone, or only the cached copy is wanted, that serves.
    CHECK(f.fetch(servers).value()[1].from_cache);
    f.options.only_cached = true;
    f.put("first/c/noarch/repodata.json", R"({"packages": {}, "repodata_version": 1})");
    CHECK(f.fetch({folder}).value()[1].sha256 == indexes[1].sha256);
    f.options.only_cached = false;
    CHECK(f.fetch({folder}).value()[1].sha256 != indexes[1].sha256);
}

TEST_CASE("where every mirror is off, the copy of before is used", "[channel]") {
    Fixture f;
    f.put("first/c/noarch/repodata.json", R"({"packages": {}})");
    REQUIRE(f.fetch({f.first.url("/c")}));
    const auto dead = "http://127.0.0.1:" + std::to_string(tests::closed_port()) + "/c";
    const auto again = f.fetch({dead, dead + "2"}).value();
    CHECK(again[1].from_cache);
    CHECK(again[1].warnings.size() == 1);
    CHECK(f.warnings == std::vector{dead, dead + "2"});
    fs::remove_all(f.options.cache);
    const auto none = f.fetch({dead, dead + "2"});
    REQUIRE_FALSE(none);
    CHECK(none.error().message.starts_with(dead + "2/linux-64/repodata.json.zst: cannot connect"));
}

}  // namespace mirrored_channels_test
