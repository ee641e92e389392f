#include "libcore/net/mirrors.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/net/download.hpp"
#include "libcore/net/parts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_server.hpp"

#include <fmt/format.h>

using namespace gpkg;
using namespace std::chrono_literals;
using tests::HttpServer;

namespace mirrors_test {
namespace {

const std::string kBase = "http://channel.invalid/c";

/// Two servers with the same files, either of which may be in trouble, and one that is off.
struct Fixture {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    HttpServer first{folder.path()};
    HttpServer second{folder.path()};
    std::string dead = fmt::format("http://127.0.0.1:{}/m", tests::closed_port());
    std::vector<std::string> warnings;

    Fixture() {
        fs::create_directories(folder.path() / "m");
        for (const auto* name : {"x", "y", "z"})
            REQUIRE(write_file_atomically(folder.path() / "m" / name, name));
    }
    std::unique_ptr<Transport> transport(std::vector<std::string> mirrors) {
        TransportOptions options;
        options.mirrors = {{kBase, std::move(mirrors)}};
        options.on_mirror_failed = [this](const std::string& mirror, const Error& why) {
            warnings.push_back(mirror + ": " + why.message);
        };
        return make_transport(options);
    }
    std::unique_ptr<Transport> both() { return transport({first.url("/m"), second.url("/m")}); }
    static TransferOptions quick() {
        TransferOptions options;
        options.retry = {3, 1ms, 50ms, 0};
        return options;
    }
    static Result<Response> get(Transport& transport, const std::string& url) {
        return gpkg::get(transport, {url}, quick());
    }
};

}  // namespace

TEST_CASE("what is below a mirrored place comes from its first mirror, and keeps its name",
          "[net]") {
    Fixture f;
    const auto transport = f.both();
    const auto response = f.get(*transport, kBase + "/x");
    REQUIRE(response);
    CHECK(response->body == "x");
    CHECK(response->asked == kBase + "/x");
    CHECK(f.first.count("/m/x") == 1);
    CHECK(f.second.requests().empty());
    CHECK(f.warnings.empty());

    // A login is for the place that it was given for.
    REQUIRE(f.get(*transport, "http://user:secret@channel.invalid/t/token/c/y"));
    CHECK(f.first.requests().back().target == "/m/y");
    CHECK(f.first.requests().back().headers.count("authorization") == 0);
    // And that of a mirror for the mirror.
    const auto with_login = fmt::format("http://me:mine@127.0.0.1:{}/m", f.second.port());
    REQUIRE(f.get(*f.transport({with_login}), kBase + "/x"));
    CHECK(f.second.requests().back().headers.at("authorization") == "Basic bWU6bWluZQ==");
    // What begins alike is elsewhere.
    CHECK_FALSE(f.get(*transport, kBase + "an/x"));
    CHECK(f.first.count("/man/x") == 0);
}

TEST_CASE("a mirror that fails is told once, and asked last from then on", "[net]") {
    Fixture f;
    struct Row {
        tests::Reply reply;
        std::string why;
        std::size_t asked;
    };
    const auto rows = std::vector<Row>{
        {{.status = 500}, "/m/x: server error (HTTP 500)", 1},
        {{.status = 429, .headers = {{"Retry-After", "1000"}}},
         "/m/x: too many requests (HTTP 429)",
         1},
        {{.status = 403}, "/m/x: access denied by the server (HTTP 403)", 1},
        {{.status = 404}, "/m/x: not found (HTTP 404)", 1},
        {{.reset = true},
         "/m/x: the transfer was interrupted: Recv failure: Connection reset by peer after 3 "
         "attempts",
         3},
    };
    for (const auto& row : rows) {
        CAPTURE(row.why);
        HttpServer bad(f.folder.path());
        bad.reply("/m/x", row.reply);
        const auto transport = f.transport({bad.url("/m"), f.second.url("/m")});
        f.warnings.clear();
        CHECK(f.get(*transport, kBase + "/x")->body == "x");
        CHECK(f.warnings == std::vector{bad.url("/m") + ": " + bad.url() + row.why});
        CHECK(bad.requests().size() == row.asked);
        CHECK(f.get(*transport, kBase + "/y")->body == "y");
        CHECK(f.get(*transport, kBase + "/x")->body == "x");
        CHECK(bad.requests().size() == row.asked);
        CHECK(f.warnings.size() == 1);
    }
    f.warnings.clear();
    const auto transport = f.transport({f.dead, f.second.url("/m")});
    CHECK(f.get(*transport, kBase + "/x")->body == "x");
    REQUIRE(f.warnings.size() == 1);
    CHECK(f.warnings[0] == f.dead + ": " + f.dead + "/x: cannot connect: Connection refused");
    // Last is not never.
    f.second.reply("/m/y", {.status = 503});
    CHECK(f.get(*transport, kBase + "/y").error().message ==
          f.dead + "/y: cannot connect: Connection refused");
    CHECK(f.warnings.size() == 2);
}

TEST_CASE("a package of the wrong bytes comes from the next mirror", "[net]") {
    Fixture f;
    const auto transport = f.both();
    const auto to = f.folder.path() / "out";
    const auto download = [&](std::string_view name, bool size = true) {
        Download wanted;
        wanted.url = fmt::format("{}/{}", kBase, name);
        wanted.destination = to;
        wanted.sha256 = hex_digest(DigestKind::Sha256, name);
        wanted.size = size ? name.size() : 0;
        DownloadOptions options;
        static_cast<TransferOptions&>(options) = Fixture::quick();
        return download_all(*transport, std::span(&wanted, 1), options);
    };
    f.first.reply("/m/x", {.body = "?"});
    REQUIRE(download("x"));
    CHECK(read_file(to).value() == "x");
    REQUIRE(f.warnings.size() == 1);
    CHECK(f.warnings[0].starts_with(f.first.url("/m") + ": " + f.first.url("/m/x: wrong sha256")));
    CHECK(f.first.count("/m/x") == 1);
    // By the last one in the row it is asked for once more, as ever.
    f.first.reply("/m/y", {.body = "?"});
    f.second.reply("/m/y", {.body = "?"});
    const auto wrong = download("y", false);
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().kind == ErrorKind::Integrity);
    CHECK(f.second.count("/m/y") == 1);
    CHECK(f.first.count("/m/y") == 2);
}

TEST_CASE("what no mirror has is not found, and no mirror is to blame", "[net]") {
    Fixture f;
    const auto transport = f.both();
    CHECK(f.get(*transport, kBase + "/none").error().kind == ErrorKind::NotFound);
    CHECK(f.first.count("/m/none") == 1);
    CHECK(f.second.count("/m/none") == 1);
    CHECK(f.warnings.empty());
    // Of what may be missing, one is believed.
    GetRequest optional{kBase + "/perhaps"};
    optional.is_optional = true;
    CHECK(get(*transport, optional, Fixture::quick()).error().kind == ErrorKind::NotFound);
    CHECK(f.first.count("/m/perhaps") == 1);
    CHECK(f.second.count("/m/perhaps") == 0);
    // The fallback is asked for where the file was missing, before another mirror is.
    GetRequest either{kBase + "/none"};
    either.fallback_url = kBase + "/z";
    const auto response = get(*transport, either, Fixture::quick());
    REQUIRE(response);
    CHECK(response->asked == kBase + "/z");
    CHECK(f.second.count("/m/z") == 0);
    // One that cannot be asked does not make it unknown.
    CHECK(f.get(*f.transport({f.dead, f.first.url("/m")}), kBase + "/none").error().kind ==
          ErrorKind::NotFound);
}

TEST_CASE("a validator of one mirror is asked of another only where it names the bytes", "[net]") {
    Fixture f;
    const auto transport = f.both();
    const auto first = f.get(*transport, kBase + "/x").value();
    GetRequest again{kBase + "/x"};
    again.etag = first.etag;
    again.last_modified = "Mon, 01 Jan 2024 00:00:00 GMT";
    CHECK(get(*transport, again)->not_modified);
    CHECK(f.first.requests().back().headers.count("if-modified-since") == 0);
}

TEST_CASE("a mirror may be a folder, and parts come from mirrors as well", "[net]") {
    Fixture f;
    const auto folder = "file://" + (f.folder.path() / "m").native();
    const auto transport = f.transport({"file:///nowhere", folder});
    CHECK(f.get(*transport, kBase + "/x")->body == "x");
    CHECK(f.warnings.size() == 1);

    REQUIRE(write_file_atomically(f.folder.path() / "m" / "digits", "0123456789"));
    const std::vector<PartRequest> wanted{
        {kBase + "/digits", 3, 4}, {kBase + "/digits", 0, 100}, {kBase + "/digits", 0, 4, true}};
    const auto of_file = get_parts(*transport, wanted, Fixture::quick());
    REQUIRE((of_file[0] && of_file[1] && of_file[2]));
    CHECK(of_file[0]->from == 3);
    CHECK(of_file[0]->bytes == "3456");
    CHECK(of_file[0]->whole == 10);
    CHECK(of_file[1]->bytes == "0123456789");
    CHECK(of_file[2]->from == 6);
    CHECK(of_file[2]->bytes == "6789");

    const auto over_http = f.transport({f.dead, f.first.url("/m")});
    const PartRequest part{kBase + "/x", 0, 1};
    const auto parts = get_parts(*over_http, std::span(&part, 1), Fixture::quick());
    REQUIRE(parts.front());
    CHECK(parts.front()->bytes == "x");
}

TEST_CASE("offline, folders are read and servers are not asked", "[net]") {
    Fixture f;
    const auto folder = "file://" + (f.folder.path() / "m").native();
    auto offline = Fixture::quick();
    offline.offline = true;
    const auto x = kBase + "/x";

    // A mirror on a server is not asked, whatever its place in the list.
    const auto both = f.transport({f.first.url("/m"), folder, f.second.url("/m")});
    CHECK_FALSE(needs_network(both->mirrors(), x));
    CHECK(gpkg::get(*both, {x}, offline)->body == "x");
    CHECK(gpkg::get(*both, {kBase + "/none"}, offline).error().kind == ErrorKind::NotFound);
    const auto file = f.folder.path() / "m" / "y";
    CHECK(gpkg::get(*both, {"file://" + file.native()}, offline)->body == "y");

    // What only servers have fails, and the rest of the same call does not.
    const auto refused = f.first.url("/m/x");
    CHECK(needs_network(both->mirrors(), refused));
    CHECK(needs_network(nullptr, x));
    const std::vector<GetRequest> requests{{refused}, {x}};
    const auto responses = get_all(*both, requests, offline);
    CHECK(responses[0].error().kind == ErrorKind::Network);
    CHECK(responses[0].error().to_string() == refused +
                                                  ": cannot be downloaded with --offline\n"
                                                  "  hint: run the command without --offline");
    CHECK(responses[1]->body == "x");
    const auto servers = f.both();
    CHECK(needs_network(servers->mirrors(), x));
    DownloadOptions downloading;
    downloading.offline = true;
    Download download;
    download.url = x;
    download.destination = f.folder.path() / "out";
    CHECK(download_all(*servers, std::span(&download, 1), downloading).error().kind ==
          ErrorKind::Network);
    const PartRequest part{x, 0, 1};
    CHECK(get_parts(*servers, std::span(&part, 1), offline).front().error().kind ==
          ErrorKind::Network);
    CHECK(f.first.requests().empty());
    CHECK(f.second.requests().empty());
    CHECK(f.warnings.empty());

    // A folder whose mirrors are all on servers needs the network.
    TransportOptions options;
    options.mirrors = {{folder, {f.dead}}};
    CHECK(needs_network(make_transport(options)->mirrors(), folder + "/x"));
}

TEST_CASE("many at a time find out about a dead mirror once", "[net]") {
    Fixture f;
    const auto transport = f.transport({f.dead, f.first.url("/m")});
    std::vector<GetRequest> requests(60, GetRequest{kBase + "/x"});
    for (const auto& response : get_all(*transport, requests, Fixture::quick()))
        CHECK(response->body == "x");
    CHECK(f.warnings.size() == 1);
}

}  // namespace mirrors_test
