#include "libcore/net/parts.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/http_server.hpp"

#include <fmt/format.h>

using namespace gpkg;
using namespace std::chrono_literals;
using tests::HttpServer;

namespace parts_test {
namespace {

TransferOptions quick() {
    TransferOptions options;
    options.retry = {3, 1ms, 50ms};
    return options;
}

struct Fixture {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    HttpServer server{folder.path()};
    std::unique_ptr<Transport> transport = make_transport();
    std::string text;

    Fixture() {
        while (text.size() < 300'000) text += std::to_string(text.size());
        REQUIRE(write_file_atomically(folder.path() / "x", text));
    }
    PartRequest part(std::uint64_t from, std::uint64_t count) const {
        return {server.url("/x"), from, count, false, 0};
    }
    PartRequest tail(std::uint64_t count) const { return {server.url("/x"), 0, count, true, 0}; }
    Result<FilePart> get(const PartRequest& request) {
        return std::move(get_parts(*transport, std::span(&request, 1), quick()).front());
    }
    std::string failure(const PartRequest& request) {
        const auto got = get(request);
        REQUIRE_FALSE(got);
        return got.error().message;
    }
};

}  // namespace

TEST_CASE("a part of a file comes without the rest", "[net]") {
    Fixture f;
    struct Row {
        PartRequest request;
        std::string range;
        std::uint64_t from, count;
    };
    const auto size = f.text.size();
    const std::vector<Row> rows{
        {f.part(0, 10), "bytes=0-9", 0, 10},
        {f.part(200'000, 50'000), "bytes=200000-249999", 200'000, 50'000},
        {f.part(size - 5, 100), fmt::format("bytes={}-{}", size - 5, size + 94), size - 5, 5},
        {f.tail(7), "bytes=-7", size - 7, 7},
        {f.tail(size + 1), fmt::format("bytes=-{}", size + 1), 0, size},
    };
    std::vector<PartRequest> requests;
    requests.reserve(rows.size());
    for (const auto& row : rows) requests.push_back(row.request);
    auto options = quick();
    options.parallel = 1;
    const auto parts = get_parts(*f.transport, requests, options);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CAPTURE(i);
        REQUIRE(parts[i]);
        CHECK(parts[i]->from == rows[i].from);
        CHECK(parts[i]->whole == size);
        CHECK(parts[i]->bytes == f.text.substr(rows[i].from, rows[i].count));
        CHECK(f.server.requests().at(i).headers.at("range") == rows[i].range);
    }
    CHECK(f.server.connections() == 1);
}

TEST_CASE("of a server that sends no parts no more is taken than was allowed", "[net]") {
    Fixture f;
    f.server.set_ranges(false);
    auto request = f.tail(10);
    CHECK(f.failure(request) ==
          f.server.url("/x") +
              ": the server does not support range requests, and the file exceeds 0 bytes");
    CHECK(f.get(request).error().kind == ErrorKind::Unsupported);
    request.most_whole = f.text.size() - 1;
    f.server.reply("/x", {.chunked = true});
    CHECK_THAT(f.failure(request), ContainsSubstring("does not support range requests"));
    request.most_whole = f.text.size();
    const auto got = f.get(request);
    REQUIRE(got);
    CHECK(got->from == 0);
    CHECK(got->whole == f.text.size());
    CHECK(got->bytes == f.text);
}

TEST_CASE("a part that is not the one asked for is refused", "[net]") {
    Fixture f;
    const auto answer = [&](const std::string& range, const std::string& body) {
        f.server.reply("/x", {.status = 206, .headers = {{"Content-Range", range}}, .body = body});
    };
    SECTION("another place") { answer("bytes 1-5/100", "12345"); }
    SECTION("more than was asked for") { answer("bytes 0-5/100", "123456"); }
    SECTION("less than was asked for") { answer("bytes 0-3/100", "1234"); }
    SECTION("less, and it does not say so beforehand") {
        f.server.reply("/x",
                       {.status = 206,
                        .headers = {{"Content-Range", "bytes 0-4/100"}},
                        .body = "1234",
                        .chunked = true});
    }
    SECTION("endless") {
        f.server.reply("/x",
                       {.status = 206,
                        .headers = {{"Content-Range", "bytes 0-4/100"}},
                        .body = std::string(1'000'000, 'x'),
                        .chunked = true});
    }
    SECTION("of nobody knows what") { answer("bytes 0-4/*", "12345"); }
    SECTION("of nothing") { answer("bytes 0-4/0", "12345"); }
    SECTION("no place at all") { answer("", "12345"); }
    SECTION("several parts") { answer("multipart/byteranges; boundary=x/100", "12345"); }
    CHECK(f.failure(f.part(0, 5)) ==
          f.server.url("/x") + ": the server sent an unexpected part of the file");
}

TEST_CASE("a part is asked for again where that helps", "[net]") {
    Fixture f;
    f.server.reply("/x", {.status = 503}, 1);
    CHECK(f.get(f.part(5, 5))->bytes == f.text.substr(5, 5));
    f.server.reply("/x", {.cut_after = 20'000}, 1);
    CHECK(f.get(f.part(5, 50'000))->bytes == f.text.substr(5, 50'000));
    f.server.reply("/x", {.status = 500});
    CHECK_THAT(f.failure(f.part(5, 5)), ContainsSubstring("(HTTP 500) after 3 attempts"));
    CHECK(f.get({f.server.url("/none"), 0, 5, false, 0}).error().kind == ErrorKind::NotFound);

    std::stop_source stop;
    stop.request_stop();
    auto options = quick();
    options.stop = stop.get_token();
    const auto request = f.part(0, 5);
    const auto stopped = get_parts(*f.transport, std::span(&request, 1), options);
    CHECK(stopped.front().error().kind == ErrorKind::Interrupted);
}

}  // namespace parts_test
