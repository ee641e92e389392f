#include "libcore/net/credentials.hpp"

#include "libcore/net/get.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_server.hpp"

#include <fmt/format.h>

using namespace gpkg;
using tests::HttpServer;

namespace credentials_test {
namespace {

struct Files {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    CredentialFiles paths{folder.path() / "credentials.yaml", folder.path() / "credentials.json"};

    static void put(const fs::path& path, std::string_view text, unsigned mode = 0600) {
        REQUIRE(write_file_atomically(path, text));
        fs::permissions(path, static_cast<fs::perms>(mode));
    }
    /// "user:secret", "bearer secret", "token secret", "none" or the error.
    std::string of(std::string_view url) const {
        Credentials credentials(paths);
        const auto login = credentials.for_url(url);
        if (!login) return login.error().to_string();
        if (!*login) return "none";
        const auto& [kind, user, secret] = **login;
        if (kind == Login::Kind::Basic) return user + ":" + secret;
        return (kind == Login::Kind::Bearer ? "bearer " : "token ") + secret;
    }
};

}  // namespace

TEST_CASE("the login is of the entry that says most of a URL", "[net]") {
    Files f;
    Files::put(f.paths.own, R"(
https://corp.example: {username: me, password: "pass: word"}
https://corp.example/conda/private/: {token: abc}
https://corp.example:8443/: {bearer: of-a-port}
http://corp.example/open: {bearer: in-clear}
"*.cdn.example": {bearer: any}
"*.eu.cdn.example": {bearer: eu}
a.eu.cdn.example: {bearer: a}
)");
    const std::vector<std::pair<std::string, std::string>> rows = {
        {"https://corp.example/x", "me:pass: word"},
        {"https://CORP.example:443/x", "me:pass: word"},
        {"https://corp.example/conda/private", "token abc"},
        {"https://corp.example/conda/private/linux-64/repodata.json", "token abc"},
        {"https://corp.example/conda/privateer", "me:pass: word"},
        {"https://corp.example:8443/x", "bearer of-a-port"},
        {"https://corp.example:8444/x", "none"},
        {"http://corp.example/x", "none"},
        {"http://corp.example/open/x", "bearer in-clear"},
        {"https://notcorp.example/x", "none"},
        {"https://x.cdn.example/x", "bearer any"},
        {"https://cdn.example/x", "bearer any"},
        {"https://notcdn.example/x", "none"},
        {"https://b.eu.cdn.example/x", "bearer eu"},
        {"https://a.eu.cdn.example/x", "bearer a"},
        {"http://a.eu.cdn.example/x", "none"},
        {"https://you:yours@corp.example/x", "none"},
        {"file:///corp.example", "none"},
    };
    for (const auto& [url, login] : rows) {
        CAPTURE(url);
        CHECK(f.of(url) == login);
    }
}

TEST_CASE("rattler's logins are understood, and come second", "[net]") {
    Files f;
    CHECK(f.of("https://repo.prefix.dev/x") == "none");
    Files::put(f.paths.rattler, R"({
  "*.prefix.dev": {"BearerToken": "pfx"},
  "corp.example": {"BasicHTTP": {"username": "me", "password": "secret"}},
  "anaconda.org": {"CondaToken": "tok"},
  "s3://bucket": {"S3Credentials": {"access_key_id": "a", "secret_access_key": "b"}}
})");
    CHECK(f.of("https://repo.prefix.dev/x") == "bearer pfx");
    CHECK(f.of("https://prefix.dev/x") == "bearer pfx");
    CHECK(f.of("https://corp.example/x") == "me:secret");
    CHECK(f.of("https://anaconda.org/x") == "token tok");
    Files::put(f.paths.own, "corp.example: {bearer: own}\n");
    CHECK(f.of("https://corp.example/x") == "bearer own");
    CHECK(f.of("https://anaconda.org/x") == "token tok");
}

TEST_CASE("a login that others can read is not used", "[net]") {
    Files f;
    for (const unsigned mode : {0644U, 0640U, 0606U, 0660U}) {
        Files::put(f.paths.own, "https://corp.example/private: {token: secret}\n", mode);
        const auto told = f.of("https://corp.example/private/x");
        CHECK(told == fmt::format("{0}: contains secrets, but other users can access it (mode "
                                  "{1:o})\n  hint: chmod 600 {0}",
                                  f.paths.own.native(),
                                  mode));
        CHECK(f.of("https://corp.example/open") == "none");
    }
    Files::put(f.paths.own, "https://corp.example/private: {token: secret}\n", 0400);
    CHECK(f.of("https://corp.example/private/x") == "token secret");
}

TEST_CASE("what is no login is told with its place and without its secret", "[net]") {
    Files f;
    const std::vector<std::pair<std::string, std::string>> rows = {
        {"[a]", "1:1: expected a map of URLs and hosts"},
        {"h: secret", "1:4: expected 'username' and 'password', or 'token', or 'bearer'"},
        {"h: {username: me}", "1:4: expected 'username' and 'password'"},
        {"h: {password: secret}",
         "1:4: expected 'username' and 'password', or 'token', or 'bearer'"},
        {"h: {token: secret, bearer: secret}",
         "1:4: expected 'username' and 'password', or 'token', or 'bearer'"},
        {"h: {bearer: \"secret\\r\\nX: y\"}", "1:13: is empty or has invalid characters"},
        {"h: {token: secret/x}", "1:12: is empty or has invalid characters"},
        {"h: {token: ''}", "1:12: is empty or has invalid characters"},
        {"https://me:secret@h: {token: x}", "'https://h' is not a server URL or host"},
        {"ftp://h: {token: x}", "'ftp://h' is not a server URL or host"},
        {"'a.*.h': {token: x}", "'a.*.h' is not a server URL or host"},
    };
    for (const auto& [text, told] : rows) {
        CAPTURE(text);
        Files::put(f.paths.own, text);
        const auto got = f.of("https://h/x");
        CHECK(got.starts_with(f.paths.own.native() + ":1:"));
        CHECK(got.find(told) != std::string::npos);
        CHECK(got.find("secret") == std::string::npos);
    }
}

TEST_CASE("a login is sent to its server alone, over netrc, and looked up for each hop", "[net]") {
    Files f;
    HttpServer server(f.folder.path());
    HttpServer other(f.folder.path());
    Files::put(f.folder.path() / "x", "here");
    Files::put(f.folder.path() / "netrc", "machine 127.0.0.1 login netrc password netrc\n");
    Files::put(f.paths.own,
               fmt::format("{}/basic: {{username: user, password: secret}}\n"
                           "{}/bearer: {{bearer: secret}}\n"
                           "{}/token: {{token: secret}}\n",
                           server.url(),
                           server.url(),
                           server.url()));
    TransportOptions options;
    options.credentials = f.paths;
    options.netrc = f.folder.path() / "netrc";
    const auto transport = make_transport(options);
    const auto asked = [&](const std::string& path) {
        (void)get(*transport, {server.url(path)});
        const auto request = server.requests().back();
        const auto login = request.headers.find("authorization");
        return request.target + " " + (login == request.headers.end() ? "" : login->second);
    };
    CHECK(asked("/basic/x") == "/basic/x Basic dXNlcjpzZWNyZXQ=");
    CHECK(asked("/bearer/x") == "/bearer/x Bearer secret");
    CHECK(asked("/token/x") == "/t/secret/token/x ");
    CHECK(asked("/t/own/token/x") == "/t/own/token/x Basic bmV0cmM6bmV0cmM=");
    CHECK(asked("/x") == "/x Basic bmV0cmM6bmV0cmM=");

    for (const std::string path : {"/basic/y", "/bearer/y", "/t/secret/token/y"}) {
        server.reply(path, {.status = 302, .headers = {{"Location", other.url("/x")}}});
        const auto to_other =
            get(*transport, {server.url(path == "/t/secret/token/y" ? "/token/y" : path)});
        REQUIRE(to_other);
        CHECK(to_other->body == "here");
        // netrc is by host, and both are one.
        CHECK(other.requests().back().headers.at("authorization") == "Basic bmV0cmM6bmV0cmM=");
        CHECK(other.requests().back().target == "/x");
    }
    server.reply("/t/secret/token/z", {.status = 302, .headers = {{"Location", "/token/w"}}});
    server.reply("/t/secret/token/w", {.body = "there"});
    CHECK(get(*transport, {server.url("/token/z")})->body == "there");

    server.reply("/bearer/refused", {.status = 401});
    const auto refused = get(*transport, {server.url("/bearer/refused")});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().to_string().find("secret") == std::string::npos);
}

}  // namespace credentials_test
