#include "libcore/net/get.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/net/url.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_server.hpp"

#include <fmt/format.h>
#include <future>
#include <thread>

using namespace gpkg;
using namespace std::chrono_literals;
using tests::HttpServer;

namespace get_test {
namespace {

TransferOptions quick() {
    TransferOptions options;
    options.retry = {3, 1ms, 50ms, 0};
    return options;
}

struct Fixture {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    HttpServer server{folder.path()};
    std::unique_ptr<Transport> transport = make_transport();

    void put(std::string_view name, std::string_view bytes) {
        REQUIRE(write_file_atomically(folder.path() / name, bytes));
    }
    Result<Response> get(const GetRequest& request) {
        return gpkg::get(*transport, request, quick());
    }
    Result<Response> get(std::string_view path) { return get(GetRequest{server.url(path)}); }
};

}  // namespace

TEST_CASE("a body comes with its checksum and validators", "[net]") {
    Fixture f;
    f.put("a b/x.json", "hello");
    f.server.set_header("Cache-Control", "public, max-age=60");
    const auto response = f.get("/a%20b/x.json");
    REQUIRE(response);
    CHECK(response->body == "hello");
    CHECK(response->size == 5);
    CHECK(response->sha256 == hex_digest(DigestKind::Sha256, "hello"));
    CHECK_FALSE(response->etag.empty());
    CHECK(response->max_age == 60s);
    CHECK(response->url == f.server.url("/a%20b/x.json"));
    CHECK(f.server.requests().front().headers.at("user-agent").starts_with("gpkg/"));
}

TEST_CASE("an empty body is a body", "[net]") {
    Fixture f;
    f.put("empty", "");
    GetRequest request{f.server.url("/empty")};
    request.into = f.folder.path() / "got";
    REQUIRE(f.get(request));
    CHECK(read_file(request.into).value().empty());
}

TEST_CASE("validators lead to not modified", "[net]") {
    Fixture f;
    f.put("x", "one");
    fs::last_write_time(f.folder.path() / "x", fs::file_time_type::clock::now() - 1min);
    const auto first = f.get("/x").value();
    GetRequest again{f.server.url("/x")};
    again.etag = first.etag;
    CHECK(f.get(again)->not_modified);
    again.etag.clear();
    again.last_modified = first.last_modified;
    CHECK(f.get(again)->not_modified);
    again.etag = "\"other\"";
    const auto changed = f.get(again);
    CHECK_FALSE(changed->not_modified);
    CHECK(changed->body == "one");
}

TEST_CASE("a date is a validator once its second has passed", "[net]") {
    Fixture f;
    const std::string modified = "Sun, 22 Nov 2026 10:00:00 GMT";
    const auto kept = [&](const std::string& date) {
        f.server.reply(
            "/x", {.headers = {{"Last-Modified", modified}, {"Date", date}}, .body = "x"}, 1);
        return f.get("/x").value().last_modified;
    };
    CHECK(kept("Sun, 22 Nov 2026 10:00:01 GMT") == modified);
    CHECK(kept(modified).empty());
    CHECK(kept("Sun, 22 Nov 2026 09:59:59 GMT").empty());
    CHECK(kept("soon").empty());
}

TEST_CASE("a body goes to a file, and only when it is whole", "[net]") {
    Fixture f;
    f.put("x", std::string(100000, 'x'));
    GetRequest request{f.server.url("/x")};
    request.into = f.folder.path() / "new/folder/file";
    const auto response = f.get(request);
    REQUIRE(response);
    CHECK(response->body.empty());
    CHECK(read_file(request.into)->size() == 100000);

    f.server.reply("/x", {.cut_after = 50000});
    f.server.set_ranges(false);
    request.into = f.folder.path() / "new/folder/second";
    const auto broken = f.get(request);
    REQUIRE_FALSE(broken);
    CHECK(broken.error().kind == ErrorKind::Network);
    CHECK_THAT(broken.error().message, ContainsSubstring("the transfer was interrupted"));
    CHECK_THAT(broken.error().message, ContainsSubstring(" after 3 attempts"));
    CHECK(std::distance(fs::directory_iterator(f.folder.path() / "new/folder"), {}) == 1);
}

TEST_CASE("a body is read while it arrives, and abandoned where it ends or begins anew", "[net]") {
    Fixture f;
    std::string text;
    while (text.size() < 200'000) text += std::to_string(text.size());
    f.put("x", text);
    GetRequest request{f.server.url("/x")};
    request.into = f.folder.path() / "file";
    std::vector<std::shared_ptr<ArrivingFile>> bodies;
    std::vector<std::future<Result<std::string>>> readers;
    request.on_body = [&](const std::string& url, const std::shared_ptr<ArrivingFile>& body) {
        CHECK(url == f.server.url("/x"));
        bodies.push_back(body);
        readers.push_back(std::async(std::launch::async, [body]() -> Result<std::string> {
            const auto source = ArrivingFile::source(body);
            std::string all;
            std::string piece(50'000, '\0');
            while (true) {
                GPKG_TRY(const auto count, source(piece.data(), piece.size()));
                if (count == 0) return all;
                all.append(piece, 0, count);
            }
        }));
    };
    SECTION("whole") {
        REQUIRE(f.get(request));
        CHECK(readers.at(0).get() == text);
    }
    SECTION("resumed: it is the same body") {
        f.server.reply("/x", {.cut_after = 100'000}, 1);
        REQUIRE(f.get(request));
        REQUIRE(f.server.requests().at(1).headers.at("range") == "bytes=100000-");
        REQUIRE(readers.size() == 1);
        CHECK(readers[0].get() == text);
    }
    SECTION("begun anew: it is another") {
        f.server.set_ranges(false);
        f.server.reply("/x", {.body = std::string(200'000, 'x'), .cut_after = 100'000}, 1);
        REQUIRE(f.get(request));
        REQUIRE(readers.size() == 2);
        CHECK(readers[0].get().error().kind == ErrorKind::Interrupted);
        CHECK(readers[1].get() == text);
    }
    SECTION("broken for good") {
        f.server.set_ranges(false);
        f.server.reply("/x", {.cut_after = 100'000});
        REQUIRE_FALSE(f.get(request));
        REQUIRE_FALSE(readers.empty());
        for (auto& reader : readers) CHECK(reader.get().error().kind == ErrorKind::Interrupted);
    }
    SECTION("too long") {
        f.server.reply("/x", {.body = text, .chunked = true});
        request.most_bytes = 150'000;
        REQUIRE_FALSE(f.get(request));
        CHECK(readers.at(0).get().error().kind == ErrorKind::Interrupted);
    }
    SECTION("none: what is said in place of a body is none") {
        f.server.reply("/x", {.status = 404, .body = "no such file"});
        REQUIRE_FALSE(f.get(request));
        CHECK(readers.empty());
    }
    SECTION("none: it is longer than allowed") {
        request.most_bytes = 150'000;
        REQUIRE_FALSE(f.get(request));
        CHECK(readers.empty());
    }
}

TEST_CASE("a fallback is asked when the first is missing", "[net]") {
    Fixture f;
    f.put("x.json", "{}");
    GetRequest request{f.server.url("/x.json.zst")};
    request.fallback_url = f.server.url("/x.json");
    request.etag = "\"of the first\"";
    const auto response = f.get(request);
    REQUIRE(response);
    CHECK(response->asked == f.server.url("/x.json"));
    CHECK(response->body == "{}");
    CHECK(f.server.requests().back().headers.count("if-none-match") == 0);

    request.fallback_url = f.server.url("/neither");
    CHECK(f.get(request).error().message == f.server.url("/neither") + ": not found (HTTP 404)");
}

TEST_CASE("refusals are told apart and not tried again", "[net]") {
    Fixture f;
    struct Row {
        int status;
        ErrorKind kind;
        std::string what;
    };
    const auto row = GENERATE(values<Row>({
        {401, ErrorKind::Network, "the server requires a login (HTTP 401)"},
        {403, ErrorKind::Network, "access denied by the server (HTTP 403)"},
        {404, ErrorKind::NotFound, "not found (HTTP 404)"},
        {407, ErrorKind::Network, "the proxy requires a login (HTTP 407)"},
        {418, ErrorKind::Network, "unexpected response (HTTP 418)"},
    }));
    f.server.reply("/x", {.status = row.status, .body = "page"});
    const auto response = f.get("/x");
    REQUIRE_FALSE(response);
    CHECK(response.error().kind == row.kind);
    CHECK(response.error().message == f.server.url("/x") + ": " + row.what);
    CHECK(f.server.count("/x") == 1);
}

TEST_CASE("what may pass is tried again", "[net]") {
    Fixture f;
    f.put("x", "at last");
    f.server.reply("/x", {.status = 503, .headers = {{"Retry-After", "0"}}}, 1);
    f.server.reply("/x", {.reset = true}, 1);
    CHECK(f.get("/x")->body == "at last");
    CHECK(f.server.count("/x") == 3);

    f.server.reply("/y", {.status = 503});
    CHECK(f.get("/y").error().message ==
          f.server.url("/y") + ": server error (HTTP 503) after 3 attempts");
    CHECK(f.server.count("/y") == 3);
}

TEST_CASE("no server, no host, no time", "[net]") {
    TransportOptions options;
    options.connect_timeout = 300ms;
    const auto transport = make_transport(options);
    const auto error = [&](const std::string& url) {
        return gpkg::get(*transport, {url}, quick()).error();
    };
    const auto dead = fmt::format("http://127.0.0.1:{}/x", tests::closed_port());
    CHECK(error(dead).to_string() == dead +
                                         ": cannot connect: Connection refused\n"
                                         "  hint: check the server and the port");
    CHECK(error("http://no-such-host.invalid/x").message ==
          "http://no-such-host.invalid/x: host 'no-such-host.invalid' not found");
    CHECK(error("s3://x/y").kind == ErrorKind::Parse);
}

TEST_CASE("a server that speaks no TLS is no secure connection", "[net]") {
    Fixture f;
    f.server.reply("/", {.delay = 0ms});
    const auto url = fmt::format("https://127.0.0.1:{}/x", f.server.port());
    // The server waits for the end of a request that never comes; the time limit ends it.
    TransportOptions options;
    options.connect_timeout = 500ms;
    const auto transport = make_transport(options);
    const auto response = gpkg::get(*transport, {url}, quick());
    REQUIRE_FALSE(response);
    CHECK(response.error().kind == ErrorKind::Network);
}

TEST_CASE("a server that falls silent is given up", "[net]") {
    Fixture f;
    TransportOptions options;
    options.stall_timeout = 1s;
    f.transport = make_transport(options);
    f.server.reply("/x", {.body = std::string(1000, 'x'), .stall_after = 0});
    auto once = quick();
    once.retry.tries = 1;
    const auto response = gpkg::get(*f.transport, {f.server.url("/x")}, once);
    REQUIRE_FALSE(response);
    CHECK(response.error().message == f.server.url("/x") + ": the server stopped sending data");
}

TEST_CASE("redirects are followed within limits", "[net]") {
    Fixture f;
    HttpServer other(f.folder.path());
    f.put("x", "here");
    f.server.reply("/moved", {.status = 302, .headers = {{"Location", "/x"}}, .body = "gone"});
    CHECK(f.get("/moved")->body == "here");
    CHECK(f.get("/moved")->url == f.server.url("/x"));

    f.server.reply("/circle", {.status = 301, .headers = {{"Location", "/circle"}}});
    CHECK(f.get("/circle").error().message == f.server.url("/circle") + ": more than 10 redirects");

    f.server.reply("/nowhere", {.status = 302});
    CHECK(f.get("/nowhere").error().message ==
          f.server.url("/nowhere") + ": redirect without a target (HTTP 302)");

    f.server.reply("/file", {.status = 302, .headers = {{"Location", "file:///etc/hostname"}}});
    CHECK(f.get("/file").error().message ==
          f.server.url("/file") + ": redirect to file:///etc/hostname not followed");
}

TEST_CASE("a login stays with its origin", "[net]") {
    Fixture f;
    HttpServer other(f.folder.path());
    f.put("x", "here");
    f.server.reply("/same", {.status = 302, .headers = {{"Location", f.server.url("/x")}}});
    f.server.reply("/other", {.status = 302, .headers = {{"Location", other.url("/x")}}});
    const auto with_login = [&](const std::string& path) {
        return fmt::format("http://user:secret@127.0.0.1:{}{}", f.server.port(), path);
    };

    REQUIRE(f.get(GetRequest{with_login("/same")}));
    CHECK(f.server.requests().back().headers.at("authorization") == "Basic dXNlcjpzZWNyZXQ=");
    REQUIRE(f.get(GetRequest{with_login("/other")}));
    CHECK(other.requests().back().headers.count("authorization") == 0);
}

TEST_CASE("netrc gives a login to its host alone", "[net]") {
    Fixture f;
    f.put("x", "here");
    f.put("netrc", "machine 127.0.0.1 login user password secret\n");
    TransportOptions options;
    options.netrc = f.folder.path() / "netrc";
    const auto transport = make_transport(options);
    REQUIRE(gpkg::get(*transport, {f.server.url("/x")}, quick()));
    CHECK(f.server.requests().back().headers.at("authorization") == "Basic dXNlcjpzZWNyZXQ=");
    const auto localhost = fmt::format("http://localhost:{}/x", f.server.port());
    REQUIRE(gpkg::get(*transport, {localhost}, quick()));
    CHECK(f.server.requests().back().headers.count("authorization") == 0);
}

TEST_CASE("proxies come from the environment that is handed in", "[net]") {
    Fixture f;
    f.put("c/x", "through the proxy");
    std::map<std::string, std::string, std::less<>> variables{{"HTTP_PROXY", f.server.url()},
                                                              {"NO_PROXY", "127.0.0.1"}};
    const auto environment = [&](std::string_view name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    const auto transport = make_transport(transport_options_from(environment, {}));
    CHECK(gpkg::get(*transport, {"http://far.invalid/c/x"}, quick())->body == "through the proxy");
    CHECK(f.server.requests().back().target == "http://far.invalid/c/x");
    REQUIRE(gpkg::get(*transport, {f.server.url("/c/x")}, quick()));
    CHECK(f.server.requests().back().target == "/c/x");
}

TEST_CASE("a proxy of one host is asked for that host alone", "[net]") {
    Fixture f;
    f.server.reply("/x", {.body = "by proxy"});
    TransportOptions options;
    options.http_proxy = "http://no-such-proxy.invalid:3128";
    options.host_proxies = {*host_proxy("http://Inside.invalid", f.server.url())};
    const auto transport = make_transport(options);
    CHECK(gpkg::get(*transport, {"http://inside.invalid/x"}, quick())->body == "by proxy");
    CHECK(gpkg::get(*transport, {"http://outside.invalid/x"}, quick()).error().message ==
          "http://outside.invalid/x: proxy host 'no-such-proxy.invalid' not found");

    options.host_proxies = {*host_proxy("https://inside.invalid", f.server.url()),
                            *host_proxy("all://127.0.0.1", "")};
    CHECK(
        gpkg::get(*make_transport(options), {"http://inside.invalid/x"}, quick()).error().message ==
        "http://inside.invalid/x: proxy host 'no-such-proxy.invalid' not found");
    f.put("y", "straight");
    CHECK(gpkg::get(*make_transport(options), {f.server.url("/y")}, quick())->body == "straight");
    for (const auto* key : {"http", "ftp://host", "http://", "http://host/path", "://host"})
        CHECK_FALSE(host_proxy(key, ""));
}

TEST_CASE("a proxy that refuses is told apart from the server", "[net]") {
    Fixture f;
    TransportOptions options;
    options.https_proxy = f.server.url();
    const auto transport = make_transport(options);
    f.server.reply("far.invalid:443", {.status = 407}, 1);
    f.server.reply("far.invalid:443", {.status = 403}, 1);
    CHECK(gpkg::get(*transport, {"https://far.invalid/x"}, quick()).error().message ==
          "https://far.invalid/x: the proxy requires a login (HTTP 407)");
    CHECK(gpkg::get(*transport, {"https://far.invalid/x"}, quick()).error().message ==
          "https://far.invalid/x: the proxy refused the connection (HTTP 403)");

    options.https_proxy = "http://no-such-proxy.invalid:3128";
    CHECK(gpkg::get(*make_transport(options), {"https://far.invalid/x"}, quick()).error().message ==
          "https://far.invalid/x: proxy host 'no-such-proxy.invalid' not found");
}

TEST_CASE("a body longer than allowed is refused", "[net]") {
    Fixture f;
    f.put("x", std::string(100000, 'x'));
    GetRequest request{f.server.url("/x")};
    request.most_bytes = 1000;
    CHECK(f.get(request).error().message ==
          request.url + ": 100000 bytes exceed the limit of 1000 bytes");
    f.server.reply("/x", {.chunked = true});
    CHECK(f.get(request).error().message == request.url + ": exceeds the limit of 1000 bytes");
}

TEST_CASE("files are read like anything else", "[net]") {
    Fixture f;
    f.put("a b", "local");
    const auto url = file_url(f.folder.path() / "a b");
    CHECK(f.get(GetRequest{url})->body == "local");
    const auto missing = f.get(GetRequest{url + "x"});
    REQUIRE_FALSE(missing);
    CHECK(missing.error().kind == ErrorKind::NotFound);
    CHECK(missing.error().message == url + "x: no such file");
}

TEST_CASE("many are got at a time, in order, over few connections", "[net]") {
    Fixture f;
    std::vector<GetRequest> requests;
    for (int i = 0; i < 40; ++i) {
        f.put(std::to_string(i), std::to_string(i));
        requests.push_back({f.server.url(fmt::format("/{}", i))});
    }
    auto options = quick();
    options.parallel = 4;
    const auto responses = get_all(*f.transport, requests, options);
    for (std::size_t i = 0; i < 40; ++i) CHECK(responses[i]->body == std::to_string(i));
    CHECK(f.server.connections() <= 4);
}

TEST_CASE("a stop request ends a slow transfer soon", "[net]") {
    Fixture f;
    f.server.reply("/slow", {.body = std::string(100, 'x'), .stall_after = 10});
    std::stop_source source;
    auto options = quick();
    options.stop = source.get_token();
    const std::jthread stopper([&] {
        std::this_thread::sleep_for(50ms);
        source.request_stop();
    });
    const auto start = std::chrono::steady_clock::now();
    const auto response = gpkg::get(*f.transport, {f.server.url("/slow")}, options);
    REQUIRE_FALSE(response);
    CHECK(response.error().kind == ErrorKind::Interrupted);
    CHECK(std::chrono::steady_clock::now() - start < 2s);
}

TEST_CASE("a missing folder of ours is not the server's word", "[net]") {
    Fixture f;
    f.put("x", "one");
    GetRequest request{f.server.url("/x")};
    request.into = "/proc/nowhere/got";
    const auto response = f.get(request);
    REQUIRE_FALSE(response);
    CHECK(response.error().kind == ErrorKind::Io);
    CHECK(response.error().message.find("/proc/nowhere") != std::string::npos);
}

TEST_CASE("'not modified' answers only those who asked for it", "[net]") {
    Fixture f;
    f.server.reply("/x", {.status = 304});
    const auto response = f.get("/x");
    REQUIRE_FALSE(response);
    CHECK(response.error().kind == ErrorKind::Network);
    CHECK(response.error().message.find("HTTP 304") != std::string::npos);
    GetRequest request{f.server.url("/x")};
    request.etag = "\"a\"";
    CHECK(f.get(request)->not_modified);
}

TEST_CASE("waits that the server asks for are told, others are not", "[net]") {
    Fixture f;
    f.put("x", "one");
    f.server.reply("/x", {.status = 503}, 1);
    f.server.reply("/x", {.status = 429, .headers = {{"Retry-After", "7000"}}}, 1);
    std::vector<TransferWait> waits;
    auto options = quick();
    options.on_wait = [&](const TransferWait& wait) { waits.push_back(wait); };
    REQUIRE(gpkg::get(*f.transport, GetRequest{f.server.url("/x?token=t")}, options));
    REQUIRE(waits.size() == 1);
    CHECK(waits[0].url == f.server.url("/x"));
    CHECK(waits[0].asked == 7000s);
    CHECK(waits[0].wait == 50ms);
}

}  // namespace get_test
