#include "libcore/net/url.hpp"

#include "libcore/base/percent.hpp"
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
    for (const auto* url : {"http://u:secret#word@h:80/a",
                            "http://u:12#34@h/a",
                            "http://u:12?34@h/a",
                            "http://u:secret/word@h/a"}) {
        CHECK(message(url).find("must be encoded") != std::string::npos);
        for (const auto* part : {"secret", "word", "12", "34"})
            CHECK(message(url).find(part) == std::string::npos);
    }
    CHECK(message("http://u:12 34@h/a") ==
          "http://***@h/a: the URL contains spaces or control characters");
    CHECK(Url::parse("http://me@corp.example:pw@h/a")->userinfo == "me%40corp.example:pw");
    CHECK(Url::parse("http://h:8080/@scope/a")->path == "/@scope/a");
    CHECK(message("http://h:8x/a") == "http://h:8x/a: the port is not a number");
    CHECK(message("http://u:secret@h:8x/a") == "http://h:8x/a: the port is not a number");
    CHECK(message("http://h h/a") == "http://h h/a: the URL contains spaces or control characters");
    CHECK(message("http://h\"/a") == "http://h\"/a: the host name has invalid characters");
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
    CHECK(path_or_url("file:///my%20data/a") == "/my data/a");
    CHECK(path_or_url("file:///a%2") == "file:///a%2");
    CHECK(path_or_url("https://h/a%20b") == "https://h/a%20b");
    CHECK(path_of_file_url("file://server/a").error().message ==
          "file://server/a: cannot read files on host 'server'");
    CHECK(path_of_file_url("file:///a%2")
              .error()
              .to_string()
              .starts_with("/a%2: '%2' is not a percent-encoded byte"));
    CHECK(path_of_file_url("file:///a%00b")
              .error()
              .to_string()
              .starts_with("/a%00b: '%00' is not a percent-encoded byte"));
    CHECK(path_of_file_url("file://").error().message == "file://: the path is missing");
}

TEST_CASE("of a URL's spellings one counts", "[net]") {
    const auto plain = [](std::string_view text) { return Url::parse(text).value().to_string(); };
    CHECK(plain("HTTPS://Host:0443/%6Dine/%7e%2f%e4/%") == "https://host/mine/~%2F%E4/%");
    CHECK(plain("http://h:0008080/a%4%zz") == "http://h:8080/a%4%zz");
    CHECK(plain("http://h:000/a") == "http://h:0/a");
}

TEST_CASE("secrets are masked where a person should know of them", "[net]") {
    const auto masked = mask_secrets("https://me:pw@host/t/tk-1/ch, https://host/x");
    CHECK(masked == "https://***@host/t/***/ch, https://host/x");
    CHECK(mask_secrets(masked) == masked);
    CHECK(hide_secrets(masked) == masked);
    CHECK(mask_secrets("https://host/t/tk-1") == "https://host/t/***");
    CHECK(mask_secrets("me:pw@host, http: u:p:q@[::1]:80") == "***@host, http: ***@[::1]:80");
    CHECK(mask_secrets("http://me:a/b@host/x") == "http://***@host/x");
    const auto bare = mask_secrets("https://host/me:pw@other/x#access_token=S");
    CHECK(bare == "https://host/***@other/x");
    CHECK(hide_secrets(bare) == bare);
}

TEST_CASE("secrets are hidden in texts", "[net]") {
    const auto hidden = [](std::string_view text) { return hide_secrets(text); };
    CHECK(hidden("nothing here: a::b //x @y") == "nothing here: a::b //x @y");
    CHECK(hidden("'https://me:pw@host/x': no; HTTP://u:s@h and oci://u:s@r/y.") ==
          "'https://host/x': no; HTTP://h and oci://r/y.");
    CHECK(hidden("-c=https://host/t/tk-1/ch --overide") == "-c=https://host/ch --overide");
    CHECK(hidden("a,http://u:s@h/x,https://v:t@k/t/tk/y") == "a,http://h/x,https://k/y");
    CHECK(hidden("http://u:a/b@h/x: the port") == "http://h/x: the port");
    CHECK(hidden("http://u:a b@h/x") == "http://h/x");
    CHECK(hidden("http://[::1]:80/x and me@home") == "http://[::1]:80/x and me@home");
    CHECK(hidden("http://h:80/a@b") == "http://h:80/a@b");
    CHECK(hidden("http://h/x?key=s1#0123 end") == "http://h/x#0123 end");
    CHECK(hidden("http://h/x#access_token=S end") == "http://h/x end");
    CHECK(hidden("git+http://h/x@v1#egg=x&subdirectory=y") ==
          "git+http://h/x@v1#egg=x&subdirectory=y");
    CHECK(hidden("http://h/guide#install") == "http://h/guide#install");
    CHECK(hidden("git+ssh://u:p@h/x\nftp://u:p@h:1") == "git+ssh://h/x\nftp://h:1");
    CHECK(hidden(R"({"url": "https://u:p@h/t/tk/c", "n": "a\nhttp://u:p@h"})") ==
          R"({"url": "https://h/c", "n": "a\nhttp://h"})");
}

TEST_CASE("logins without a scheme are hidden in texts", "[net]") {
    const auto hidden = [](std::string_view text) { return hide_secrets(text); };
    CHECK(hidden("u:S@host/x") == "host/x");
    CHECK(hidden("--channel=u:S@host/x 'pu:S:T@127.0.0.1:9'") == "--channel=host/x '127.0.0.1:9'");
    CHECK(hidden("https: u:S/T@h, v:S@[::1]:80") == "https: h, [::1]:80");
    CHECK(hidden("https://conda.anaconda.org/u:S@host/x: not found") ==
          "https://conda.anaconda.org/host/x: not found");
    CHECK(hidden("pkg @ git+ssh://git@h/x") == "pkg @ git+ssh://h/x");
    for (const auto* plain : {"git@github.com:org/repo@v1",
                              "conda-forge::numpy and me@home",
                              "PATH=/a:/b@c",
                              "image:1.2@sha256:0123",
                              "/x/config.yaml:3:1: not for me@home"})
        CHECK(hidden(plain) == plain);
}

TEST_CASE("of a URL or host everything before the host is masked", "[net]") {
    CHECK(mask_login("token@host:9") == "***@host:9");
    CHECK(mask_login("http://token@host:9/x") == "http://***@host:9/x");
    CHECK(mask_login("http://***@host:9/x") == "http://***@host:9/x");
    CHECK(mask_login("u:S/T@host") == "***@host");
    CHECK(mask_login("http://u:S/T@host") == "http://***@host");
    CHECK(mask_login("/a/b@c") == "/a/b@c");
    CHECK(mask_login("conda-forge") == "conda-forge");
}
