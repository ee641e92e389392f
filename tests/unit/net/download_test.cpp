#include "libcore/net/download.hpp"

#include "libcore/base/digest.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_server.hpp"

#include <fmt/format.h>
#include <set>
#include <thread>

using namespace gpkg;
using namespace std::chrono_literals;
using tests::HttpServer;

namespace download_test {
namespace {

struct Fixture {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    fs::path target = folder.path() / "target";
    HttpServer server{folder.path() / "served"};
    std::unique_ptr<Transport> transport = make_transport();
    DownloadOptions options;

    Fixture() { options.retry = {3, 1ms, 50ms}; }

    /// Serves `bytes` as `name`; the right way to download it.
    Download put(const std::string& name, std::string_view bytes) {
        REQUIRE(write_file_atomically(folder.path() / "served" / name, bytes));
        Download download;
        download.url = server.url("/" + name);
        download.destination = target / name;
        download.sha256 = hex_digest(DigestKind::Sha256, bytes);
        download.md5 = hex_digest(DigestKind::Md5, bytes);
        download.size = bytes.size();
        return download;
    }
    Result<void> run(std::vector<Download> downloads) {
        return download_all(*transport, downloads, options);
    }
    /// Names of everything below the target folder.
    std::set<std::string> left() const {
        std::set<std::string> names;
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(target, none))
            names.insert(entry.path().filename());
        return names;
    }
};

std::string noise(std::size_t size) {
    std::string bytes;
    std::uint32_t state = 1;
    while (bytes.size() < size) bytes += static_cast<char>((state = state * 1664525 + 1) >> 24U);
    return bytes;
}

}  // namespace

TEST_CASE("many files arrive whole, each told once", "[net]") {
    Fixture f;
    std::vector<Download> downloads;
    downloads.reserve(50);
    for (int i = 0; i < 50; ++i)
        downloads.push_back(f.put(fmt::format("p{}", i), noise(1000 * std::size_t(i))));
    std::multiset<std::size_t> finished;
    std::map<std::size_t, std::uint64_t> done;
    f.options.on_finished = [&](std::size_t item) {
        CHECK(fs::exists(downloads[item].destination));
        finished.insert(item);
    };
    f.options.on_progress = [&](const TransferProgress& progress) {
        done[progress.item] = progress.done;
        CHECK(progress.total == downloads[progress.item].size);
    };
    REQUIRE(f.run(downloads));
    CHECK(finished.size() == 50);
    for (std::size_t i = 0; i < 50; ++i) {
        CHECK(finished.count(i) == 1);
        CHECK(done[i] == downloads[i].size);
        CHECK(sha256_of_file(downloads[i].destination).value() == downloads[i].sha256);
    }
    CHECK(f.left().size() == 50);
}

TEST_CASE("a wrong checksum or size is an integrity error and leaves nothing", "[net]") {
    Fixture f;
    auto download = f.put("p", "content");
    const auto right = download;
    const auto told = [&] {
        const auto result = f.run({download});
        REQUIRE_FALSE(result);
        CHECK(result.error().kind == ErrorKind::Integrity);
        CHECK(f.left().empty());
        return result.error().message;
    };
    const std::string zeros(64, '0');
    download.sha256 = zeros;
    CHECK(told() == download.url + ": wrong sha256: expected " + zeros + ", got " + right.sha256);
    download.sha256.clear();
    download.md5 = zeros.substr(32);
    CHECK(told() == download.url + ": wrong md5: expected " + download.md5 + ", got " + right.md5);
    download = right;
    download.size = 8;
    CHECK(told() == download.url + ": wrong size: expected 8, got 7");
    download.size = 3;
    f.server.reply("/p", {.chunked = true});
    CHECK(told() == download.url + ": wrong size: expected 3, got more");
    download.size = 8;
    CHECK(told() == download.url + ": wrong size: expected 8, got 7");
    download.sha256 = "abc";
    CHECK(told() == download.url + ": 'abc' is not a valid sha256 checksum");
}

TEST_CASE("what came mangled once is asked for once more", "[net]") {
    Fixture f;
    const auto download = f.put("p", "content");
    f.server.reply("/p", {.body = "cOntent"}, 1);
    REQUIRE(f.run({download}));
    CHECK(sha256_of_file(download.destination).value() == download.sha256);
    CHECK(f.server.requests().size() == 2);
    fs::remove(download.destination);
    f.server.reply("/p", {.body = "cOntent"}, 2);
    CHECK_FALSE(f.run({download}));
    CHECK(f.server.requests().size() == 4);
    CHECK(f.left().empty());
}

TEST_CASE("checksums are read in either case, and none means size alone", "[net]") {
    Fixture f;
    auto download = f.put("p", "content");
    for (auto& c : download.sha256) c = static_cast<char>(std::toupper(c));
    CHECK(f.run({download}));
    download.sha256.clear();
    CHECK(f.run({download}));
    download.md5.clear();
    CHECK(f.run({download}));
}

TEST_CASE("a broken transfer goes on where it ended", "[net]") {
    Fixture f;
    const auto download = f.put("p", noise(300'000));
    f.server.reply("/p", {.cut_after = 100'000, .reset = false}, 1);
    REQUIRE(f.run({download}));
    CHECK(sha256_of_file(download.destination).value() == download.sha256);
    REQUIRE(f.server.requests().size() == 2);
    CHECK(f.server.requests()[1].headers.at("range") == "bytes=100000-");
    CHECK(f.server.requests()[1].headers.count("if-range") == 1);
}

TEST_CASE("a file that changed meanwhile is begun anew", "[net]") {
    Fixture f;
    const auto old = f.put("p", noise(300'000));
    f.server.reply("/p", {.headers = {{"ETag", "\"old\""}}, .cut_after = 100'000}, 1);
    REQUIRE(f.run({old}));
    CHECK(sha256_of_file(old.destination).value() == old.sha256);
    CHECK(f.server.requests()[1].headers.at("if-range") == "\"old\"");
}

TEST_CASE("without ranges a broken transfer is begun anew", "[net]") {
    Fixture f;
    const auto download = f.put("p", noise(300'000));
    f.server.set_ranges(false);
    f.server.reply("/p", {.cut_after = 100'000, .reset = true}, 2);
    REQUIRE(f.run({download}));
    CHECK(sha256_of_file(download.destination).value() == download.sha256);
    CHECK(f.server.requests()[2].headers.count("range") == 0);
}

TEST_CASE("a failure ends the others and leaves no part behind", "[net]") {
    Fixture f;
    const auto slow = f.put("slow", noise(100'000));
    f.server.reply("/slow", {.stall_after = 50'000});
    auto missing = slow;
    missing.url = f.server.url("/missing");
    missing.destination = f.target / "missing";
    const auto fine = f.put("fine", "x");
    const auto start = std::chrono::steady_clock::now();
    f.server.reply("/missing", {.status = 404, .delay = 200ms});
    const auto result = f.run({slow, fine, missing});
    REQUIRE_FALSE(result);
    CHECK(result.error().message == missing.url + ": not found (HTTP 404)");
    CHECK(std::chrono::steady_clock::now() - start < 5s);
    CHECK(f.left() == std::set<std::string>{"fine"});
}

TEST_CASE("a stop leaves what is finished and nothing partial", "[net]") {
    Fixture f;
    const auto fine = f.put("fine", "x");
    const auto slow = f.put("slow", noise(100'000));
    f.server.reply("/slow", {.stall_after = 50'000});
    const auto waiting = f.put("waiting", "y");
    std::stop_source source;
    f.options.stop = source.get_token();
    f.options.parallel = 1;
    const std::jthread stopper([&] {
        std::this_thread::sleep_for(200ms);
        source.request_stop();
    });
    const auto start = std::chrono::steady_clock::now();
    const auto result = f.run({fine, slow, waiting});
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == ErrorKind::Interrupted);
    CHECK(std::chrono::steady_clock::now() - start < 3s);
    CHECK(f.left() == std::set<std::string>{"fine"});
}

TEST_CASE("a stop before the start asks nobody", "[net]") {
    Fixture f;
    std::stop_source source;
    source.request_stop();
    f.options.stop = source.get_token();
    CHECK(f.run({f.put("p", "x")}).error().kind == ErrorKind::Interrupted);
    CHECK(f.server.requests().empty());
}

TEST_CASE("a place that cannot be written is named", "[net]") {
    Fixture f;
    auto download = f.put("p", "x");
    REQUIRE(write_file_atomically(f.folder.path() / "file", ""));
    download.destination = f.folder.path() / "file/below/p";
    const auto result = f.run({download});
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == ErrorKind::Io);
    CHECK_THAT(result.error().message, ContainsSubstring((f.folder.path() / "file").native()));
}

TEST_CASE("nothing to download is done at once", "[net]") {
    Fixture f;
    CHECK(f.run({}));
}

}  // namespace download_test
