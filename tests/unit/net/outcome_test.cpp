#include "libcore/net/outcome.hpp"

#include "tests/support/catch.hpp"

#include <set>

using namespace gpkg;
using namespace std::chrono_literals;
using Kind = Failure::Kind;

TEST_CASE("a refusal of the server may be for what it lacks, one of the proxy is not", "[net]") {
    const auto absent = [](int status) {
        Head head;
        head.status = status;
        return says_absent(transfer_error("https://h/x", head, nullptr));
    };
    for (const int status : {400, 401, 403, 404, 410, 451}) CHECK(absent(status));
    for (const int status : {304, 407, 408, 416, 429, 500, 503}) CHECK_FALSE(absent(status));
    const Failure proxy{Failure::Kind::ProxyDenied, "", 403};
    CHECK_FALSE(says_absent(transfer_error("https://h/x", {}, &proxy)));
}

TEST_CASE("Cache-Control says how long an answer is fresh", "[net]") {
    CHECK_FALSE(max_age_of(""));
    CHECK_FALSE(max_age_of("public"));
    CHECK(max_age_of("public, max-age=1200") == 1200s);
    CHECK(max_age_of("Max-Age=60,must-revalidate") == 60s);
    CHECK(max_age_of("max-age=60, no-cache") == 0s);
    CHECK(max_age_of("no-store") == 0s);
    CHECK_FALSE(max_age_of("max-age=-5"));
    CHECK_FALSE(max_age_of("max-age=soon"));
    CHECK(max_age_of("max-age=99999999999999999999999") == 31'536'000s);
    CHECK(max_age_of("max-age=60", "20") == 40s);
    CHECK(max_age_of("max-age=60", "3600") == 0s);
    CHECK(max_age_of("max-age=60", "long") == 60s);
    CHECK(max_age_of("max-age=60", "-5") == 60s);
    CHECK_FALSE(max_age_of("", "20"));
}

TEST_CASE("only what may pass is tried again, with growing waits", "[net]") {
    const RetryPolicy policy{4, 500ms, 3000ms, 0};
    const auto wait = [&](int done, int status, std::chrono::seconds asked = 0s) {
        Head head;
        head.status = status;
        head.retry_after = asked;
        return wait_before_retry(policy, done, head, nullptr);
    };
    for (const int status : {408, 429, 500, 502, 503, 504}) CHECK(wait(1, status) == 500ms);
    for (const int status : {401, 403, 404, 407, 410, 501, 505}) CHECK_FALSE(wait(1, status));
    CHECK(wait(2, 503) == 1000ms);
    CHECK(wait(3, 503) == 2000ms);
    CHECK_FALSE(wait(4, 503));
    CHECK(wait(1, 429, 2s) == 2000ms);
    CHECK(wait(1, 429, 3600s) == 3000ms);

    const RetryPolicy scattered{4, 1000ms, 3000ms, 0.5};
    Head busy;
    busy.status = 503;
    std::set<std::chrono::milliseconds> waits;
    for (int i = 0; i < 100; ++i) waits.insert(*wait_before_retry(scattered, 1, busy, nullptr));
    CHECK(waits.size() > 10);
    CHECK(*waits.begin() >= 1000ms);
    CHECK(*waits.rbegin() <= 1500ms);

    const auto after = [&](Kind kind) {
        const Failure failure{kind, "", 0};
        return wait_before_retry(policy, 1, {}, &failure).has_value();
    };
    CHECK(after(Kind::Broken));
    CHECK(after(Kind::Stalled));
    for (const auto kind : {Kind::HostNotFound, Kind::Refused, Kind::Tls, Kind::ConnectTimeout})
        CHECK_FALSE(after(kind));
}

TEST_CASE("failures are told with their URL and what to do", "[net]") {
    const auto told = [](Kind kind, std::string detail = "", int proxy = 0) {
        const Failure failure{kind, std::move(detail), proxy};
        return transfer_error("https://user:secret@h/t/tok/x", {}, &failure).to_string();
    };
    CHECK(told(Kind::HostNotFound) ==
          "https://h/x: host 'h' not found\n"
          "  hint: check the host name and the network");
    CHECK(told(Kind::ProxyDenied, "", 407) ==
          "https://h/x: the proxy requires a login (HTTP 407)\n"
          "  hint: add it to the URL of the proxy: http://user:password@proxy:port");
    CHECK(told(Kind::ProxyDenied, "", 403) ==
          "https://h/x: the proxy refused the connection (HTTP 403)\n"
          "  hint: check HTTPS_PROXY and NO_PROXY");
    CHECK(told(Kind::NotHttp, "Received HTTP/0.9 when not allowed") ==
          "https://h/x: not an HTTP response: Received HTTP/0.9 when not allowed\n"
          "  hint: check that a web server listens on this port");
    CHECK(told(Kind::Stopped) == "https://h/x: interrupted");
    CHECK(told(Kind::Tls, "self-signed") ==
          "https://h/x: TLS error: self-signed\n"
          "  hint: check the clock, and set SSL_CERT_FILE to your site's certificates");

    const Failure untrusted{
        Kind::Tls, "self-signed", 0, "the certificates are from SSL_CERT_FILE=/x"};
    CHECK(transfer_error("https://h/x", {}, &untrusted).hint ==
          "the certificates are from SSL_CERT_FILE=/x");

    const auto status = [](int code) {
        Head head;
        head.status = code;
        return transfer_error("https://h/x", head, nullptr);
    };
    Head unauthorized;
    unauthorized.status = 401;
    CHECK(transfer_error("https://h/t/tok/x", unauthorized, nullptr).to_string() ==
          "https://h/x: the server rejected the login or token in the URL (HTTP 401)\n"
          "  hint: gpkg config list --show-sources shows where the URL is set");
    CHECK(status(404).to_string() == "https://h/x: not found (HTTP 404)");
    CHECK(status(404).kind == ErrorKind::NotFound);
    CHECK(status(403).to_string() ==
          "https://h/x: access denied by the server (HTTP 403)\n"
          "  hint: check the URL, and the login or token for this host");
    CHECK(status(503).to_string() ==
          "https://h/x: server error (HTTP 503)\n  hint: try again later");
    CHECK(status(503).kind == ErrorKind::Network);
    CHECK(status(304).to_string() ==
          "https://h/x: unexpected 304 Not Modified from the server (HTTP 304)\n"
          "  hint: a proxy may be misconfigured; try again later");
}

TEST_CASE("redirects keep what belongs to an origin, and never step down from https", "[net]") {
    struct Row {
        std::string from, location, target;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"https://h/a",       "https://h/b",        "https://h/b"},
        {"https://u:p@h/a",   "https://h/b?c=1",    "https://u:p@h/b?c=1"},
        {"https://u:p@h/a",   "https://h:444/b",    "https://h:444/b"},
        {"https://u:p@h/a",   "https://cdn/b",      "https://cdn/b"},
        {"https://u:p@h/a",   "https://u:p@cdn/b",  "https://cdn/b"},
        {"https://u:p@h/a",   "https://v:q@cdn/b",  "https://v:q@cdn/b"},
        {"http://u:p@h/a",    "https://h/a",        "https://h/a"},
        {"http://h/a",        "http://g/a",         "http://g/a"},
        {"https://h/a",       "http://h/a?sig=x",   "redirect from https to http://h/a not followed"},
        {"https://h/a",       "file:///etc/passwd", "redirect from https to file:///etc/passwd not followed"},
        {"http://h/a",        "file:///etc/passwd", "redirect to file:///etc/passwd not followed"},
        {"http://h/a",        "ftp://g/a",          "redirect to ftp://g/a not followed"},
    }));
    // clang-format on
    CAPTURE(row.from, row.location);
    const auto target = redirect_target(row.from, row.location);
    CHECK((target ? *target : target.error().message) == row.target);
}
