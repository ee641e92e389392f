#include "libcore/base/digest.hpp"
#include "libcore/net/get.hpp"
#include "libcore/net/oci_internal.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_server.hpp"

#include <fmt/format.h>

using namespace gpkg;
using namespace std::chrono_literals;
using tests::HttpServer;

namespace oci_test {
namespace {

const std::string kManifest = "/v2/org/chan/noarch/repodata.json/manifests/latest";
const std::string kJson = "application/vnd.conda.repodata.v1+json";

std::string digest(std::string_view body) {
    return "sha256:" + hex_digest(DigestKind::Sha256, body);
}

struct Fixture {
    HttpServer server;
    std::unique_ptr<Transport> transport = make_transport();
    std::string base = fmt::format("oci://127.0.0.1:{}/org/chan", server.port());

    Fixture() {
        const auto manifest = fmt::format(
            R"({{"layers": [{{"mediaType": "{}", "digest": "{}"}},
                            {{"mediaType": "{}+gzip", "digest": "{}"}}]}})",
            kJson,
            digest("{}"),
            kJson,
            digest("x"));
        server.reply(kManifest, {.body = manifest});
        server.reply(blob(), {.body = "{}"});
    }
    static std::string blob() { return "/v2/org/chan/noarch/repodata.json/blobs/" + digest("{}"); }
    Result<Response> get(const GetRequest& request) const {
        TransferOptions options;
        options.retry = {2, 1ms, 10ms, 0};
        return gpkg::get(*transport, request, options);
    }
    Result<Response> get(const std::string& path) const { return get(GetRequest{base + path}); }
    std::vector<std::string> asked() const {
        std::vector<std::string> all;
        for (const auto& request : server.requests()) {
            const auto login = request.headers.find("authorization");
            all.push_back(request.target +
                          (login == request.headers.end() ? "" : " " + login->second));
        }
        return all;
    }
};

}  // namespace

TEST_CASE("files of channels have their places in a registry", "[net]") {
    // The names are those that conda-oci-mirror gives.
    struct Row {
        std::string url, repository, tag, type;
    };
    const std::vector<Row> rows = {
        {"oci://ghcr.io/channel-mirrors/conda-forge/linux-64/xtensor-0.25.0-h00ab1b0_0.conda",
         "channel-mirrors/conda-forge/linux-64/xtensor",
         "0.25.0-h00ab1b0_0",
         "application/vnd.conda.package.v2"},
        {"oci://ghcr.io/c/linux-64/_libgcc_mutex-0.1-conda_forge.tar.bz2",
         "c/linux-64/zzz_libgcc_mutex",
         "0.1-conda_forge",
         "application/vnd.conda.package.v1"},
        {"oci://ghcr.io/c/noarch/two-words-1!2.0+cu12-py_0.conda",
         "c/noarch/two-words",
         "1__e__2.0__p__cu12-py_0",
         "application/vnd.conda.package.v2"},
        {"oci://ghcr.io/c/noarch/x-1!2.0%2Bcu12-py=0.conda",
         "c/noarch/x",
         "1__e__2.0__p__cu12-py__eq__0",
         "application/vnd.conda.package.v2"},
        {"oci://ghcr.io/c/noarch/repodata.json", "c/noarch/repodata.json", "latest", kJson},
        {"oci://ghcr.io/c/noarch/repodata.json.zst",
         "c/noarch/repodata.json",
         "latest",
         kJson + "+zst"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.url);
        const auto file = OciFile::of(row.url);
        REQUIRE(file);
        CHECK(file->registry == "https://ghcr.io");
        CHECK(file->repository == row.repository);
        CHECK(file->tag == row.tag);
        CHECK(file->media_type == row.type);
    }
    CHECK(OciFile::of("oci://localhost:5000/c/noarch/repodata.json")->registry ==
          "http://localhost:5000");
    CHECK(OciFile::of("oci://127.evil.example/c/noarch/repodata.json")->registry ==
          "https://127.evil.example");
    for (const auto* url : {"oci://h/c/noarch/repodata_shards.msgpack.zst",
                            "oci://h/c/noarch/name-1.conda",
                            "oci://h/repodata.json",
                            "https://h/c/noarch/repodata.json"})
        CHECK_FALSE(OciFile::of(url));
}

TEST_CASE("a token is asked for where a registry says, and not in the clear", "[net]") {
    OciFile file{"https://ghcr.io", "c/noarch/x", "1-0", ""};
    CHECK(token_url(R"(Bearer realm="https://ghcr.io/token",service="ghcr.io",)"
                    R"(scope="repository:user/image:pull")",
                    file) ==
          "https://ghcr.io/token?scope=repository:user/image:pull&service=ghcr.io");
    CHECK(token_url(R"(bearer realm="https://a.example/t?x=1")", file) ==
          "https://a.example/t?x=1&scope=repository:c/noarch/x:pull");
    CHECK_FALSE(token_url(R"(Bearer realm="http://a.example/t")", file));
    CHECK_FALSE(token_url(R"(Basic realm="x")", file));
    CHECK_FALSE(token_url("Bearer", file));
}

TEST_CASE("a layer of an artifact is the file", "[net]") {
    Fixture f;
    const auto response = f.get("/noarch/repodata.json");
    REQUIRE(response);
    CHECK(response->body == "{}");
    CHECK(response->asked == f.base + "/noarch/repodata.json");
    CHECK(f.asked() == std::vector{kManifest, Fixture::blob()});
    // What a digest names does not change: the layer need not be asked for.
    GetRequest again{f.base + "/noarch/repodata.json", response->etag};
    CHECK(f.get(again)->not_modified);
    CHECK(f.server.count(Fixture::blob()) == 1);
    // A layer that is not there, an artifact that is not, a file that registries do not have.
    CHECK(f.get("/noarch/repodata.json.zst").error().message ==
          f.base + "/noarch/repodata.json.zst: not found (HTTP 404)");
    CHECK(f.get("/linux-64/repodata.json").error().kind == ErrorKind::NotFound);
    CHECK(f.get("/noarch/shards/x").error().kind == ErrorKind::NotFound);
}

TEST_CASE("a registry gets a token for the one place, and its store of blobs gets none", "[net]") {
    Fixture f;
    HttpServer store;
    store.reply("/blob", {.body = "{}"});
    HttpServer registry;
    const auto challenge = fmt::format(
        R"(Bearer realm="{}",service="s",scope="repository:org/chan/noarch/repodata.json:pull")",
        registry.url("/token"));
    const std::map<std::string, std::string> wants{{"WWW-Authenticate", challenge}};
    registry.reply(kManifest, {.status = 401, .headers = wants}, 1);
    registry.reply(
        kManifest,
        {.body = fmt::format(
             R"({{"layers": [{{"mediaType": "{}", "digest": "{}"}}]}})", kJson, digest("{}"))});
    registry.reply(Fixture::blob(), {.status = 307, .headers = {{"Location", store.url("/blob")}}});
    registry.reply("/token", {.body = R"({"token": "tok"})"});
    const auto url =
        fmt::format("oci://me:secret@127.0.0.1:{}/org/chan/noarch/repodata.json", registry.port());
    const auto response = f.get(GetRequest{url});
    REQUIRE(response);
    CHECK(response->body == "{}");
    const auto requests = registry.requests();
    REQUIRE(requests.size() == 4);
    CHECK(requests[0].headers.count("authorization") == 0);
    CHECK(requests[1].target ==
          "/token?scope=repository:org/chan/noarch/repodata.json:pull&service=s");
    CHECK(requests[1].headers.at("authorization") == "Basic bWU6c2VjcmV0");
    CHECK(requests[2].headers.at("authorization") == "Bearer tok");
    CHECK(requests[3].headers.at("authorization") == "Bearer tok");
    CHECK(store.requests().at(0).headers.count("authorization") == 0);
    // It is good for the next file of that place.
    REQUIRE(f.get(GetRequest{url}));
    CHECK(registry.count("/token") == 1);
}

TEST_CASE("a login does not go to another host that a registry names", "[net]") {
    Fixture f;
    f.server.reply("/token", {.body = R"({"token": "tok"})"});
    HttpServer registry;
    const auto challenge = fmt::format(R"(Bearer realm="{}")", f.server.url("/token"));
    registry.reply(kManifest, {.status = 401, .headers = {{"WWW-Authenticate", challenge}}});
    f.get(GetRequest{fmt::format("oci://me:secret@127.0.0.1:{}/org/chan/noarch/repodata.json",
                                 registry.port())});
    CHECK(f.asked() ==
          std::vector<std::string>{"/token?scope=repository:org/chan/noarch/repodata.json:pull"});

    struct Row {
        std::string host, other;
        bool is_same;
    };
    const std::vector<Row> rows = {
        {"ghcr.io", "ghcr.io", true},
        {"registry-1.docker.io", "auth.docker.io", true},
        {"registry.gitlab.com", "gitlab.com", true},
        {"ghcr.io", "evil.io", false},
        {"ghcr.io", "xghcr.io", false},
        {"registry.co.uk", "evil.co.uk", false},
        {"a.registry.co.uk", "registry.co.uk", true},
        {"localhost", "x.localhost", false},
        {"10.0.0.1", "10.0.0.2", false},
    };
    for (const auto& row : rows) {
        CAPTURE(row.host, row.other);
        CHECK(is_same_site(row.host, row.other) == row.is_same);
        CHECK(is_same_site(row.other, row.host) == row.is_same);
    }
}

TEST_CASE("a layer is what its digest and size say", "[net]") {
    const auto answer = [](std::string_view size, const std::string& of, const std::string& body) {
        HttpServer server;
        server.reply(
            kManifest,
            {.body = fmt::format(R"({{"layers": [{{"mediaType": "{}", {}"digest": "{}"}}]}})",
                                 kJson,
                                 size,
                                 digest(of))});
        server.reply("/v2/org/chan/noarch/repodata.json/blobs/" + digest(of), {.body = body});
        TransferOptions options;
        options.retry = {2, 1ms, 10ms, 0};
        const auto transport = make_transport();
        return get(*transport,
                   {fmt::format("oci://127.0.0.1:{}/org/chan/noarch/repodata.json", server.port())},
                   options);
    };
    CHECK(answer(R"("size": 2, )", "{}", "{}"));
    CHECK(answer("", "{}", "{}"));
    CHECK(answer("", "{} ", "{x").error().kind == ErrorKind::Integrity);
    CHECK(answer(R"("size": 3, )", "[]", "[]").error().message.find("wrong size") !=
          std::string::npos);
}

TEST_CASE("a registry that wants a password is told it once it asked", "[net]") {
    HttpServer registry;
    registry.reply(kManifest,
                   {.status = 401, .headers = {{"WWW-Authenticate", R"(Basic realm="r")"}}});
    const auto url =
        fmt::format("oci://me:secret@127.0.0.1:{}/org/chan/noarch/repodata.json", registry.port());
    const auto transport = make_transport();
    const auto refused = get(*transport, {url});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.ends_with(
        "the server rejected the login or token in the URL (HTTP 401)"));
    CHECK(refused.error().to_string().find("secret") == std::string::npos);
    REQUIRE(registry.requests().size() == 2);
    CHECK(registry.requests()[0].headers.count("authorization") == 0);
    CHECK(registry.requests()[1].headers.at("authorization") == "Basic bWU6c2VjcmV0");
}

}  // namespace oci_test
