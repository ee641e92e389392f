#include "libcore/net/outcome.hpp"

#include "libcore/base/text.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <random>

namespace gpkg {
namespace {

/// Before the status in a message.
constexpr std::string_view kStatusMark = " (HTTP ";
/// What the status is of, where it is not the server's.
constexpr std::string_view kProxyRefused = "the proxy refused the connection";

/// Message and hint for a status that is not the wanted 200, 206 or 304. `has_login`: the URL that
/// was asked has a login or token, which `url` does not show.
Error status_error(const std::string& url, int status, bool has_login) {
    const auto error = [&](ErrorKind kind, std::string_view what, std::string hint) {
        auto message = fmt::format("{}: {}{}{})", url, what, kStatusMark, status);
        return Error{kind, std::move(message), std::move(hint), {}};
    };
    switch (status) {
    case 304:
        return error(ErrorKind::Network,
                     "unexpected 304 Not Modified from the server",
                     "a proxy may be misconfigured; try again later");
    case 401:
        if (has_login)
            return error(ErrorKind::Network,
                         "the server rejected the login or token in the URL",
                         "gpkg config list --show-sources shows where the URL is set");
        return error(
            ErrorKind::Network,
            "the server requires a login",
            "add the login to ~/.config/gpkg/credentials.yaml or ~/.netrc, or check the token");
    case 403:
        return error(ErrorKind::Network,
                     "access denied by the server",
                     "check the URL, and the login or token for this host");
    case 404:
    case 410: return error(ErrorKind::NotFound, "not found", "");
    case 407:
        return error(ErrorKind::Network,
                     "the proxy requires a login",
                     "add it to the URL of the proxy: http://user:password@proxy:port");
    case 429: return error(ErrorKind::Network, "too many requests", "wait a while and try again");
    default: break;
    }
    if (status >= 500) return error(ErrorKind::Network, "server error", "try again later");
    return error(ErrorKind::Network, "unexpected response", "");
}

std::minstd_rand& chance() {
    thread_local std::minstd_rand engine(std::random_device{}());
    return engine;
}

std::string host_of(std::string_view url) {
    const auto parsed = Url::parse(url);
    return parsed ? parsed->host : std::string(url);
}

}  // namespace

std::optional<std::chrono::milliseconds> wait_before_retry(const RetryPolicy& policy,
                                                           int done,
                                                           const Head& head,
                                                           const Failure* failure) {
    if (done >= policy.tries) return std::nullopt;
    constexpr std::array<int, 6> kPassing = {408, 429, 500, 502, 503, 504};
    const bool worth =
        failure != nullptr
            ? failure->kind == Failure::Kind::Broken || failure->kind == Failure::Kind::Stalled
            : std::find(kPassing.begin(), kPassing.end(), head.status) != kPassing.end();
    if (!worth) return std::nullopt;
    const auto backoff = policy.first_wait * (1LL << std::min(done - 1, 20));
    const auto wait = std::min<std::chrono::milliseconds>(
        std::max<std::chrono::milliseconds>(backoff, head.retry_after), policy.longest_wait);
    const auto part = std::uniform_real_distribution(0.0, policy.jitter)(chance());
    return wait + std::chrono::duration_cast<std::chrono::milliseconds>(wait * part);
}

Error transfer_error(std::string_view url, const Head& head, const Failure* failure) {
    const auto shown = without_secrets(url);
    if (failure == nullptr && shown.starts_with("file:"))
        return Error{ErrorKind::NotFound, shown + ": no such file", "", {}};
    if (failure == nullptr) return status_error(shown, head.status, shown != url);

    using What = Failure::Kind;
    // What the transport knows of its proxy and certificates is more than what can be said here.
    const auto error = [&](std::string what, std::string hint) {
        if (!failure->hint.empty()) hint = failure->hint;
        return Error{ErrorKind::Network, shown + ": " + std::move(what), std::move(hint), {}};
    };
    switch (failure->kind) {
    case What::BadUrl: {
        auto bad = error("invalid URL", "");
        bad.kind = ErrorKind::Parse;
        return bad;
    }
    case What::HostNotFound:
        return error(fmt::format("host '{}' not found", host_of(url)),
                     "check the host name and the network");
    case What::ProxyNotFound:
        return error(fmt::format("proxy host '{}' not found", failure->detail),
                     "check HTTP_PROXY and HTTPS_PROXY");
    case What::Refused:
        return error("cannot connect: " + failure->detail, "check the server and the port");
    case What::ConnectTimeout:
        return error("connection timed out", "check the network and HTTPS_PROXY");
    case What::Stalled: return error("the server stopped sending data", "try again later");
    case What::Tls:
        return error("TLS error: " + failure->detail,
                     "check the clock, and set SSL_CERT_FILE to your site's certificates");
    case What::NotHttp:
        return error("not an HTTP response: " + failure->detail,
                     "check that a web server listens on this port");
    case What::ProxyDenied:
        if (failure->proxy_status == 407) return status_error(shown, 407, false);
        return error(fmt::format("{}{}{})", kProxyRefused, kStatusMark, failure->proxy_status),
                     "check HTTPS_PROXY and NO_PROXY");
    case What::Broken:
        return error("the transfer was interrupted: " + failure->detail, "try again");
    case What::BadRedirect: return error(failure->detail, "");
    case What::NoLogin: return error(failure->detail, failure->hint);
    case What::Stopped: return Error{ErrorKind::Interrupted, shown + ": interrupted", "", {}};
    case What::Rejected:
    case What::Other: break;
    }
    return error(failure->detail, "");
}

Result<std::string> redirect_target(std::string_view from, std::string_view location) {
    const auto here = Url::parse(from);
    auto there = Url::parse(location);
    const bool downgrade = here && there && here->scheme == "https" && there->scheme != "https";
    if (!here || !there || !there->scheme.starts_with("http") || downgrade)
        return fail(ErrorKind::Network,
                    fmt::format("redirect {}to {} not followed",
                                downgrade ? "from https " : "",
                                without_secrets(location)));
    // A login belongs to the origin it was given for.
    const bool same = here->origin() == there->origin();
    if (same && there->userinfo.empty()) there->userinfo = here->userinfo;
    if (!same && there->userinfo == here->userinfo) there->userinfo.clear();
    return there->to_string();
}

namespace {

/// Whole seconds, a year at most: more would only overflow somewhere.
std::optional<std::chrono::seconds> seconds_of(std::string_view text) {
    constexpr long long kLongest = 31'536'000;
    long long seconds = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, seconds);
    if (code == std::errc::result_out_of_range) return std::chrono::seconds(kLongest);
    if (text.empty() || code != std::errc() || stop != end || seconds < 0) return std::nullopt;
    return std::chrono::seconds(std::min(seconds, kLongest));
}

}  // namespace

std::optional<std::chrono::seconds> max_age_of(std::string_view cache_control,
                                               std::string_view age) {
    using std::chrono::seconds;
    std::optional<seconds> fresh;
    for (const auto piece : split(cache_control, ',')) {
        const auto directive = to_lower(trim(piece));
        if (directive == "no-cache" || directive == "no-store") return seconds(0);
        constexpr std::string_view kMaxAge = "max-age=";
        if (!directive.starts_with(kMaxAge)) continue;
        if (const auto stated = seconds_of(std::string_view(directive).substr(kMaxAge.size())))
            fresh = stated;
    }
    if (!fresh) return std::nullopt;
    return std::max(seconds(0), *fresh - seconds_of(trim(age)).value_or(seconds(0)));
}

bool means_absent(int status) {
    return status >= 400 && status < 500 && status != 407 && status != 408 && status != 416 &&
           status != 429;
}

bool says_absent(const Error& error) {
    if (error.kind == ErrorKind::NotFound) return true;
    const std::string_view message = error.message;
    const auto mark = message.rfind(kStatusMark);
    if (error.kind != ErrorKind::Network || mark == std::string_view::npos ||
        message.find(kProxyRefused) != std::string_view::npos)
        return false;
    int status = 0;
    std::from_chars(
        message.data() + mark + kStatusMark.size(), message.data() + message.size(), status);
    return means_absent(status);
}

}  // namespace gpkg
