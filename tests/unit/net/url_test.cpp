#include "libcore/net/url.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("a URL is taken apart and put together", "[net]") {
    struct Row {
        std::string text, origin, userinfo, path, query, again;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"https://Conda.Anaconda.org/conda-forge", "https://conda.anaconda.org", "", "/conda-forge", "", "https://conda.anaconda.org/conda-forge"},
        {"HTTPS://h:443/a",                        "https://h",                  "", "/a",           "", "https://h/a"},
        {"http://h:8080",                          "http://h:8080",              "", "",             "", "http://h:8080"},
        {"http://u:p%40@h/a?x=1#f",                "http://h",                   "u:p%40", "/a",     "x=1", "http://u:p%40@h/a?x=1"},
        {"http://[::1]:81/a",                      "http://[::1]:81",            "", "/a",           "", "http://[::1]:81/a"},
        {"file:///a%20b",                          "file://",                    "", "/a%20b",       "", "file:///a%20b"},
    }));
    // clang-format on
    CAPTURE(row.text);
    const auto url = Url::parse(row.text);
    REQUIRE(url);
    CHECK(url->origin() == row.origin);
    CHECK(url->userinfo == row.userinfo);
    CHECK(url->path == row.path);
    CHECK(url->query == row.query);
    CHECK(url->to_string() == row.again);
}

TEST_CASE("what is no URL is refused", "[net]") {
    const auto message = [](std::string_view text) { return Url::parse(text).error().message; };
    CHECK(message("conda-forge") == "conda-forge: not a URL");
    CHECK(message("://x") == "://x: not a URL");
    CHECK(message("s3://ghcr.io/x") == "s3://ghcr.io/x: 's3' URLs are not supported");
    CHECK(message("http:///a") == "http:///a: the host name is missing");
    CHECK(message("http://h:8x/a") == "http://h:8x/a: the port is not a number");
    CHECK(message("http://u:secret@h:8x/a") == "http://h:8x/a: the port is not a number");
    CHECK(message("http://h h/a") == "http://h h/a: a URL has no spaces or control characters");
    CHECK(message("http://h\"/a") ==
          "http://h\"/a: the host name has characters that none can have");
}

TEST_CASE("secrets are not shown", "[net]") {
    struct Row {
        std::string url, shown;
    };
    const auto row = GENERATE(values<Row>({
        {"https://u:p@h/a", "https://h/a"},
        {"https://h/t/tk-123/chan/noarch", "https://h/chan/noarch"},
        {"https://u@h:8/t/tk-123", "https://h:8"},
        {"https://h/a?X-Signature=abc#f", "https://h/a"},
        {"https://u:a@b@h/a", "https://h/a"},
        {"https://h/t/one/t/two/c", "https://h/c"},
        {"https://h/test/a", "https://h/test/a"},
        {"not a url@all", "not a url@all"},
    }));
    CHECK(without_secrets(row.url) == row.shown);
}

TEST_CASE("paths and file URLs are turned into each other", "[net]") {
    for (const auto* path : {"/a/b", "/with space/100%", "/ünïcode/#1?x", "/a+b,c=d@e~f/!x", "/"}) {
        CAPTURE(path);
        const auto url = file_url(path);
        CHECK(url.find_first_of(" #?") == std::string::npos);
        CHECK(path_of_file_url(url).value() == fs::path(path));
    }
    CHECK(file_url("/with space/100%") == "file:///with%20space/100%25");
    CHECK(path_of_file_url("file://localhost/a").value() == "/a");
    CHECK(path_of_file_url("file://server/a").error().message ==
          "file://server/a: a file on the host 'server' cannot be read");
    CHECK(path_of_file_url("file:///a%2")
              .error()
              .to_string()
              .starts_with("/a%2: '%2' is no percent-encoded byte"));
    CHECK(path_of_file_url("file:///a%00b")
              .error()
              .to_string()
              .starts_with("/a%00b: '%00' is no percent-encoded byte"));
    CHECK(path_of_file_url("file://").error().message == "file://: the path is missing");
}
