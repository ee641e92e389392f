#include "libcore/channel/fetch_index.hpp"

#include "libcore/base/digest.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_server.hpp"

#include <atomic>
#include <fmt/format.h>
#include <fstream>
#include <thread>

using namespace gpkg;
using namespace std::chrono_literals;
using tests::HttpServer;

namespace fetch_index_test {
namespace {

const std::string kEmpty = R"({"packages": {}})";

struct Fixture {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    std::optional<HttpServer> server{folder.path() / "served"};
    std::unique_ptr<Transport> transport = make_transport();
    std::string base = server->url("/chan");
    IndexOptions options;
    std::int64_t time = 1'000'000;

    Fixture() {
        options.cache = folder.path() / "cache";
        options.transfer.retry = {2, 1ms, 10ms};
        options.now = [this] { return time; };
    }
    void put(const std::string& name, std::string_view bytes) {
        REQUIRE(write_file_atomically(folder.path() / "served/chan" / name, bytes));
    }
    void put_both(std::string_view json) {
        put("linux-64/repodata.json", json);
        put("linux-64/repodata.json.zst", zstd_compress(json, 3));
        put("noarch/repodata.json", kEmpty);
        put("noarch/repodata.json.zst", zstd_compress(kEmpty, 3));
    }
    Result<std::vector<FetchedIndex>> fetch(std::vector<std::string> subdirs = {"linux-64",
                                                                                "noarch"}) {
        server->forget_requests();
        const std::vector channels{Channel::parse(base, {}).value()};
        return fetch_indexes(*transport, channels, subdirs, options);
    }
    /// Paths asked for since the last fetch began.
    std::vector<std::string> asked() const {
        std::vector<std::string> targets;
        for (const auto& request : server->requests()) targets.push_back(request.target);
        return targets;
    }
    std::string text(const FetchedIndex& index) const {
        const auto bytes = read_file(index.path).value();
        return index.path.extension() == ".zst" ? zstd_decompress(bytes, "x", 0).value() : bytes;
    }
    std::vector<fs::path> cached() const {
        std::vector<fs::path> files;
        for (const auto& entry : fs::directory_iterator(options.cache)) files.push_back(entry);
        return files;
    }
};

}  // namespace

TEST_CASE("an index is fetched once, then confirmed with its validators", "[channel]") {
    Fixture f;
    f.put_both(R"({"packages": {"a": 1}})");
    const auto first = f.fetch().value();
    REQUIRE(first.size() == 2);
    CHECK(first[0].subdir == "linux-64");
    CHECK(first[0].url == f.base + "/linux-64/repodata.json.zst");
    CHECK(first[0].path.extension() == ".zst");
    CHECK_FALSE(first[0].from_cache);
    CHECK(first[0].warnings.empty());
    CHECK(f.text(first[0]) == R"({"packages": {"a": 1}})");
    CHECK(f.server->requests().size() == 2);

    const auto again = f.fetch().value();
    CHECK(again[0].from_cache);
    CHECK(again[0].path == first[0].path);
    REQUIRE(f.server->requests().size() == 2);
    CHECK(f.server->requests()[0].headers.count("if-none-match") == 1);

    f.put_both(R"({"packages": {"b": 1}})");
    const auto changed = f.fetch().value();
    CHECK_FALSE(changed[0].from_cache);
    CHECK(changed[0].path != first[0].path);
    CHECK(f.text(changed[0]) == R"({"packages": {"b": 1}})");
}

TEST_CASE("a fresh copy is used without a word to the server", "[channel]") {
    Fixture f;
    f.put_both(kEmpty);
    f.server->set_header("Cache-Control", "public, max-age=1200");
    REQUIRE(f.fetch());
    f.time += 1199;
    CHECK(f.fetch().value()[0].from_cache);
    CHECK(f.asked().empty());

    SECTION("until it is too old, and the answer makes it fresh again") {
        f.time += 1;
        REQUIRE(f.fetch());
        CHECK(f.asked().size() == 2);
        f.time += 1199;
        REQUIRE(f.fetch());
        CHECK(f.asked().empty());
    }
    SECTION("unless the clock went back") {
        f.time -= 5000;
        REQUIRE(f.fetch());
        CHECK(f.asked().size() == 2);
    }
}

TEST_CASE("a server without .zst is remembered for a week", "[channel]") {
    Fixture f;
    f.put("noarch/repodata.json", kEmpty);
    const std::vector<std::string> noarch{"noarch"};
    const auto first = f.fetch(noarch).value();
    CHECK(first[0].path.extension() == ".json");
    CHECK(first[0].url == f.base + "/noarch/repodata.json");
    CHECK(f.asked() ==
          std::vector<std::string>{"/chan/noarch/repodata.json.zst", "/chan/noarch/repodata.json"});
    REQUIRE(f.fetch(noarch));
    CHECK(f.asked() == std::vector<std::string>{"/chan/noarch/repodata.json"});

    f.time += 7L * 24 * 3600;
    f.put("noarch/repodata.json.zst", zstd_compress(kEmpty, 3));
    CHECK(f.fetch(noarch).value()[0].path.extension() == ".zst");
    CHECK(f.asked() == std::vector<std::string>{"/chan/noarch/repodata.json.zst"});
}

TEST_CASE("repodata.json alone is asked for where .zst is not wanted", "[channel]") {
    Fixture f;
    f.put_both(kEmpty);
    f.options.zst = false;
    f.options.shards = GENERATE(false, true);
    CHECK(f.fetch({"noarch"}).value().front().url == f.base + "/noarch/repodata.json");
    CHECK(f.server->count("/chan/noarch/repodata.json.zst") == 0);
}

TEST_CASE("a server that gives up .zst or .json is followed", "[channel]") {
    Fixture f;
    const std::vector<std::string> noarch{"noarch"};
    f.put("noarch/repodata.json", kEmpty);
    f.put("noarch/repodata.json.zst", zstd_compress(kEmpty, 3));
    REQUIRE(f.fetch(noarch));
    fs::remove(f.folder.path() / "served/chan/noarch/repodata.json.zst");
    CHECK(f.fetch(noarch).value()[0].url == f.base + "/noarch/repodata.json");
    fs::rename(f.folder.path() / "served/chan/noarch/repodata.json",
               f.folder.path() / "served/chan/noarch/repodata.json.zst");
    CHECK(f.fetch(noarch).value()[0].url == f.base + "/noarch/repodata.json.zst");
}

TEST_CASE("a platform a channel lacks is empty, a channel that lacks all is none", "[channel]") {
    Fixture f;
    f.put("noarch/repodata.json", kEmpty);
    const auto indexes = f.fetch().value();
    CHECK(indexes[0].missing);
    CHECK(indexes[0].path.empty());
    CHECK_FALSE(indexes[1].missing);
    CHECK(indexes[1].warnings.empty());

    f.base = f.server->url("/nope");
    const auto none = f.fetch();
    REQUIRE_FALSE(none);
    CHECK(none.error().kind == ErrorKind::NoChannel);
    CHECK(none.error().message == f.base +
                                      ": not a channel: no "
                                      "linux-64/repodata.json or noarch/repodata.json found");
}

TEST_CASE("an index that the server no longer gives is used as it was kept", "[channel]") {
    Fixture f;
    const std::vector<std::string> noarch{"noarch"};
    f.put("noarch/repodata.json", kEmpty);
    REQUIRE(f.fetch(noarch));
    fs::remove(f.folder.path() / "served/chan/noarch/repodata.json");
    f.time += 7200;
    for (int i = 0; i < 2; ++i) {
        const auto indexes = f.fetch(noarch).value();
        CHECK(f.text(indexes[0]) == kEmpty);
        CHECK_FALSE(indexes[0].missing);
        REQUIRE(indexes[0].warnings.size() == 1);
        CHECK(indexes[0].warnings[0].ends_with("; using the cached copy, 2 hours old"));
    }
    f.put("noarch/repodata.json", kEmpty);
    CHECK(f.fetch(noarch).value()[0].warnings.empty());
}

TEST_CASE("a channel without noarch is used and said", "[channel]") {
    Fixture f;
    f.put("linux-64/repodata.json", kEmpty);
    const auto indexes = f.fetch().value();
    CHECK(indexes[1].missing);
    CHECK(indexes[1].warnings ==
          std::vector<std::string>{f.base + ": the channel has no noarch/repodata.json"});
}

TEST_CASE("offline uses what is cached, whatever its age, and says what is not", "[channel]") {
    Fixture f;
    f.put("noarch/repodata.json", kEmpty);
    REQUIRE(f.fetch());
    f.options.transfer.offline = true;
    f.time += 100L * 24 * 3600;
    const auto indexes = f.fetch().value();
    CHECK(f.asked().empty());
    CHECK(indexes[0].missing);
    CHECK(f.text(indexes[1]) == kEmpty);

    const auto other = f.fetch({"osx-64"});
    REQUIRE_FALSE(other);
    CHECK(other.error().to_string() == "--offline: " + f.base +
                                           "/osx-64 is not in the cache\n"
                                           "  hint: run the command once with a network, "
                                           "without --offline");
}

TEST_CASE("an ill server is told, and the cached copy used", "[channel]") {
    Fixture f;
    f.put_both(kEmpty);
    REQUIRE(f.fetch({"noarch"}));
    f.time += 3L * 3600;
    const auto url = f.base + "/noarch/repodata.json.zst";

    SECTION("in trouble") {
        f.server->reply("/chan/noarch/repodata.json.zst", {.status = 503});
        const auto index = f.fetch({"noarch"}).value().front();
        CHECK(index.from_cache);
        CHECK(index.warnings ==
              std::vector<std::string>{url + ": server error (HTTP 503) after 2 attempts; "
                                             "using the cached copy, 3 hours old"});
    }
    SECTION("gone") {
        f.transport = make_transport();
        const auto port = f.server->port();
        const std::vector channels{Channel::parse(f.base, {}).value()};
        f.server.reset();
        const std::vector<std::string> noarch{"noarch"};
        const auto index = fetch_indexes(*f.transport, channels, noarch, f.options).value().front();
        CHECK(index.warnings == std::vector<std::string>{fmt::format(
                                    "http://127.0.0.1:{}/chan/noarch/repodata.json.zst: cannot "
                                    "connect: Connection refused; using the cached copy, 3 hours "
                                    "old",
                                    port)});
    }
    SECTION("a login page in its place") {
        for (const auto* file : {"repodata.json.zst", "repodata.json"})
            f.server->reply(std::string("/chan/noarch/") + file, {.body = "<!DOCTYPE html><html>"});
        const auto index = f.fetch({"noarch"}).value().front();
        CHECK(f.text(index) == kEmpty);
        CHECK(index.warnings ==
              std::vector<std::string>{url + ": not repodata: starts with '<!DOCTYPE "
                                             "html><html'; using the cached copy, 3 hours old"});
        CHECK(f.cached().size() == 2);
    }
    SECTION("nothing in its place") {
        for (const auto* file : {"repodata.json.zst", "repodata.json"})
            f.server->reply(std::string("/chan/noarch/") + file, {.body = ""});
        const auto index = f.fetch({"noarch"}).value().front();
        CHECK(f.text(index) == kEmpty);
        CHECK(index.warnings == std::vector<std::string>{
                                    url + ": empty response; using the cached copy, 3 hours old"});
    }
}

TEST_CASE("an empty repodata.json is an index without records, where none was before",
          "[channel]") {
    Fixture f;
    f.put("noarch/repodata.json", "");
    CHECK(f.text(f.fetch({"noarch"}).value().front()).empty());
    f.put("noarch/repodata.json", kEmpty);
    CHECK(f.text(f.fetch({"noarch"}).value().front()) == kEmpty);
    f.put("noarch/repodata.json", "\n");
    const auto index = f.fetch({"noarch"}).value().front();
    CHECK(f.text(index) == kEmpty);
    CHECK(index.warnings.size() == 1);
}

TEST_CASE("that a channel was not there does not hide that its server is ill", "[channel]") {
    Fixture f;
    f.base = f.server->url("/nope");
    CHECK(f.fetch({"noarch"}).error().message ==
          f.base + ": not a channel: no noarch/repodata.json found");
    f.server->reply("/nope/noarch/repodata.json.zst", {.status = 503});
    f.time += 10L * 24 * 3600;
    const auto message = f.fetch({"noarch"}).error().message;
    CHECK(message.find("HTTP 503") != std::string::npos);
    CHECK(
        message.ends_with(f.base + ": the channel had no noarch/repodata.json when last checked"));
    f.options.transfer.offline = true;
    CHECK(f.fetch({"noarch"}).error().to_string() ==
          f.base +
              ": the channel had no noarch/repodata.json when last checked\n"
              "  hint: check the channel's name, or try again later");
}

TEST_CASE("without a cached copy an ill server is an error", "[channel]") {
    Fixture f;
    f.server->reply("/chan/noarch/repodata.json.zst", {.status = 503});
    CHECK(f.fetch({"noarch"}).error().kind == ErrorKind::Network);
    f.base = f.server->url("/html");
    f.server->reply("/html/noarch/repodata.json.zst", {.body = "<html>"});
    CHECK(f.fetch({"noarch"}).error().to_string() ==
          f.base +
              "/noarch/repodata.json.zst: not repodata: starts with '<html>'\n"
              "  hint: the response may come from a login page or a proxy");
    CHECK(f.cached().empty());
}

TEST_CASE("what a server refuses or sends a page for may be absent", "[channel]") {
    Fixture f;
    f.put("linux-64/repodata.json", kEmpty);
    f.put("noarch/repodata.json", kEmpty);
    const auto refusal = GENERATE(tests::Reply{.status = 400},
                                  tests::Reply{.status = 401},
                                  tests::Reply{.status = 403},
                                  tests::Reply{.status = 451},
                                  tests::Reply{.body = "<html>"},
                                  tests::Reply{.body = ""});
    for (const auto* subdir : {"linux-64", "noarch"})
        f.server->reply(fmt::format("/chan/{}/repodata.json.zst", subdir), refusal);
    f.options.shards = GENERATE(false, true);
    if (f.options.shards) f.server->reply("/chan/noarch/repodata_shards.msgpack.zst", refusal);

    SECTION("the compressed index and shards: there is repodata.json") {
        const auto indexes = f.fetch().value();
        for (const auto& index : indexes) {
            CHECK(f.text(index) == kEmpty);
            CHECK(index.warnings.empty());
        }
    }
    SECTION("one of the subdirs: the other is used, with a warning") {
        if (refusal.body == "") return;  // an index without records
        const std::string subdir = GENERATE("linux-64", "noarch");
        if (refusal.body && subdir == "linux-64") {
            f.server->reply("/chan/linux-64/repodata.json", refusal);
            CHECK(f.fetch().error().message ==
                  f.base + "/linux-64/repodata.json.zst: not repodata: starts with '<html>'");
            return;
        }
        f.server->reply(fmt::format("/chan/{}/repodata.json", subdir), refusal);
        for (int i = 0; i < 2; ++i) {
            const auto indexes = f.fetch().value();
            const auto& without = indexes[subdir == "noarch" ? 1 : 0];
            CHECK(without.missing);
            REQUIRE(without.warnings.size() == 1);
            CHECK(without.warnings[0].ends_with("; assumed to be missing"));
            CHECK(f.text(indexes[subdir == "noarch" ? 0 : 1]) == kEmpty);
        }
    }
}

TEST_CASE("a channel of which every index is refused is an error", "[channel]") {
    Fixture f;
    for (const auto* file : {"linux-64/repodata.json", "noarch/repodata.json"}) {
        f.server->reply(fmt::format("/chan/{}", file), {.status = 403});
        f.server->reply(fmt::format("/chan/{}.zst", file), {.status = 404});
    }
    const auto error = f.fetch().error();
    CHECK(error.kind == ErrorKind::Network);
    CHECK(error.message ==
          f.base + "/linux-64/repodata.json: access denied by the server (HTTP 403)");
}

TEST_CASE("a refusal that passes, or of the proxy, does not lead to another file", "[channel]") {
    Fixture f;
    f.put("noarch/repodata.json", kEmpty);
    f.server->reply("/chan/noarch/repodata.json.zst",
                    {.status = GENERATE(407, 408, 429), .headers = {{"Retry-After", "0"}}});
    CHECK_FALSE(f.fetch({"noarch"}));
    CHECK(f.server->count("/chan/noarch/repodata.json") == 0);
}

TEST_CASE("damage in the cache is noticed and mended", "[channel]") {
    Fixture f;
    f.put_both(std::string(R"({"packages": {"a": 1}})"));
    f.server->set_header("Cache-Control", "max-age=1200");
    const auto good = f.fetch({"linux-64"}).value().front();
    const auto bytes = read_file(good.path).value();

    SECTION("a flipped bit") {
        auto flipped = bytes;
        flipped[flipped.size() / 2] ^= 4;
        std::ofstream(good.path, std::ios::binary) << flipped;
    }
    SECTION("a lost tail") { fs::resize_file(good.path, bytes.size() - 1); }
    const auto mended = f.fetch({"linux-64"}).value().front();
    CHECK_FALSE(mended.from_cache);
    CHECK(mended.warnings ==
          std::vector<std::string>{good.url + ": ignored a damaged cached copy"});
    CHECK(f.server->requests().front().headers.count("if-none-match") == 0);
    CHECK(read_file(mended.path).value() == bytes);
    CHECK(f.fetch({"linux-64"}).value().front().warnings.empty());
}

TEST_CASE("a state file that cannot be read counts as none", "[channel]") {
    Fixture f;
    f.put_both(kEmpty);
    const auto index = f.fetch({"noarch"}).value().front();
    const auto text = GENERATE("",
                               "{",
                               "[]",
                               R"({"version": 99})",
                               R"({"version": 1, "file": "../../etc/passwd", "sha256": "x"})");
    for (const auto& file : f.cached()) {
        if (file.native().ends_with(".state.json")) REQUIRE(write_file_atomically(file, text));
    }
    CHECK_FALSE(f.fetch({"noarch"}).value().front().from_cache);
}

TEST_CASE("a forgotten index is fetched whole", "[channel]") {
    Fixture f;
    f.put_both(kEmpty);
    const auto index = f.fetch({"noarch"}).value().front();
    REQUIRE(forget_index(f.options.cache, index));
    CHECK_FALSE(f.fetch({"noarch"}).value().front().from_cache);
}

TEST_CASE("old generations are removed but the last", "[channel]") {
    Fixture f;
    std::vector<fs::path> paths;
    for (int i = 0; i < 4; ++i) {
        f.put_both(fmt::format(R"({{"packages": {{"a{}": 1}}}})", i));
        paths.push_back(f.fetch({"linux-64"}).value().front().path);
        std::this_thread::sleep_for(5ms);
    }
    CHECK_FALSE(fs::exists(paths[0]));
    CHECK_FALSE(fs::exists(paths[1]));
    CHECK(fs::exists(paths[2]));
    CHECK(fs::exists(paths[3]));
    CHECK(f.cached().size() == 3);
}

TEST_CASE("local channels are read where they are", "[channel]") {
    Fixture f;
    f.put("noarch/repodata.json", kEmpty);
    const auto local = f.folder.path() / "served/chan";
    f.base = local.native();
    f.options.transfer.offline = true;
    const auto first = f.fetch().value();
    CHECK(first[0].missing);
    CHECK(first[1].path == local / "noarch/repodata.json");
    CHECK(first[1].url == "file://" + local.native() + "/noarch/repodata.json");
    CHECK_FALSE(fs::exists(f.options.cache));

    std::this_thread::sleep_for(20ms);
    f.put("noarch/repodata.json.zst", zstd_compress(kEmpty, 3));
    CHECK(f.fetch().value()[1].path.extension() == ".zst");
    std::this_thread::sleep_for(20ms);
    f.put("noarch/repodata.json", kEmpty);
    CHECK(f.fetch().value()[1].path.extension() == ".json");

    f.base = (f.folder.path() / "nowhere").native();
    CHECK(f.fetch().error().message == f.base + ": no such folder");
    f.base = (f.folder.path() / "served").native();
    const auto message = [&] {
        return "file://" + f.base +
               ": not a channel: no linux-64/repodata.json or noarch/repodata.json found";
    };
    CHECK(f.fetch().error().to_string() ==
          message() + "\n  hint: did you mean " + local.native() + "?");
    f.base = f.folder.path().native();
    CHECK(f.fetch().error().to_string() == message());
    fs::create_directories(f.folder.path() / "linux-64");
    REQUIRE(write_file_atomically(f.folder.path() / "linux-64/p-1-0.conda", ""));
    CHECK(f.fetch().error().to_string() ==
          message() + "\n  hint: to make it a channel: gpkg index " + f.base);
}

TEST_CASE("a file is no channel", "[channel]") {
    Fixture f;
    f.put("a.py", "");
    f.put("a-1-0.conda", "");
    f.base = (f.folder.path() / "served/chan/a.py").native();
    CHECK(f.fetch().error().to_string() == f.base + ": a file, not a channel folder");
    f.base = (f.folder.path() / "served/chan/a-1-0.conda").native();
    CHECK(f.fetch().error().to_string() == f.base +
                                               ": a file, not a channel folder\n  hint: "
                                               "gpkg install " +
                                               f.base + " installs a package file");
}

TEST_CASE("a cache that cannot be made is not a channel that is missing", "[channel]") {
    Fixture f;
    f.put_both(kEmpty);
    f.options.cache = "/proc/nowhere";
    const auto error = f.fetch().error();
    CHECK(error.kind == ErrorKind::Io);
    CHECK(error.message.find("/proc/nowhere") != std::string::npos);
    CHECK(error.message.find("no such channel") == std::string::npos);
}

TEST_CASE("'not modified' without a cached copy is the server's fault", "[channel]") {
    Fixture f;
    for (const auto* file : {"repodata.json.zst", "repodata.json"})
        f.server->reply(std::string("/chan/noarch/") + file, {.status = 304});
    const auto error = f.fetch({"noarch"}).error();
    CHECK(error.kind == ErrorKind::Network);
    CHECK(error.message ==
          f.base +
              "/noarch/repodata.json.zst: unexpected 304 Not Modified from the server (HTTP 304)");
}

TEST_CASE("a folder of the channel's name is pointed at", "[channel]") {
    Fixture f;
    f.put("other.txt", "");  // makes the folder
    const auto here = fs::current_path();
    fs::current_path(f.folder.path());
    ChannelContext context;
    context.alias = f.server->url();
    const auto told = [&](const std::string& name) {
        const std::vector channels{Channel::parse(name, context).value()};
        const std::vector<std::string> noarch{"noarch"};
        return fetch_indexes(*f.transport, channels, noarch, f.options).error().hint;
    };
    CHECK(told("served") == "check the channel's name; for the folder served, use -c ./served");
    CHECK(told("other") == "check the channel's name");
    CHECK(told("conda-forg") == "did you mean conda-forge? Or: check the channel's name");
    f.options.transfer.offline = true;
    CHECK(told("served").ends_with("; for the folder served, use -c ./served"));
    fs::current_path(here);
}

TEST_CASE("credentials are used and not kept", "[channel]") {
    Fixture f;
    f.put_both(kEmpty);
    f.server->reply("/t/tk-1/chan/noarch/repodata.json.zst", {.body = "{}"});
    f.base = fmt::format("http://u:p@127.0.0.1:{}/t/tk-1/chan", f.server->port());
    const auto index = f.fetch({"noarch"}).value().front();
    CHECK(f.asked() == std::vector<std::string>{"/t/tk-1/chan/noarch/repodata.json.zst"});
    CHECK(f.server->requests()[0].headers.at("authorization") == "Basic dTpw");
    CHECK(index.url == f.server->url("/chan/noarch/repodata.json.zst"));
    for (const auto& file : f.cached()) CHECK(read_file(file)->find("tk-1") == std::string::npos);
}

TEST_CASE("many channels are fetched at once and keep their order", "[channel]") {
    Fixture f;
    std::vector<Channel> channels;
    for (int i = 0; i < 6; ++i) {
        const auto name = fmt::format("/c{}", i);
        f.server->reply(
            name + "/noarch/repodata.json.zst",
            {.body = fmt::format("{{\"c\": {}}}", i), .delay = std::chrono::milliseconds(500)});
        channels.push_back(Channel::parse(f.server->url(name), {}).value());
    }
    std::vector<std::size_t> items;
    f.options.transfer.on_progress = [&](const TransferProgress& progress) {
        items.push_back(progress.item);
    };
    const std::vector<std::string> noarch{"noarch"};
    const auto start = std::chrono::steady_clock::now();
    const auto indexes = fetch_indexes(*f.transport, channels, noarch, f.options).value();
    CHECK(std::chrono::steady_clock::now() - start < 2500ms);  // one after the other: 3 s
    for (std::size_t i = 0; i < 6; ++i)
        CHECK(f.text(indexes[i]) == fmt::format("{{\"c\": {}}}", i));
    CHECK(items.size() == 6);
}

TEST_CASE("two processes fill one cache without harm", "[channel]") {
    Fixture f;
    f.put_both(R"({"packages": {"a": 1}})");
    const std::vector channels{Channel::parse(f.base, {}).value()};
    const std::vector<std::string> subdirs{"linux-64", "noarch"};
    std::atomic<int> good{0};
    {
        std::vector<std::jthread> threads;
        threads.reserve(4);
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&] {
                for (int round = 0; round < 10; ++round) {
                    const auto indexes = fetch_indexes(*f.transport, channels, subdirs, f.options);
                    if (indexes && f.text(indexes->front()) == R"({"packages": {"a": 1}})" &&
                        indexes->front().warnings.empty())
                        ++good;
                }
            });
        }
    }
    CHECK(good == 40);
}

}  // namespace fetch_index_test
