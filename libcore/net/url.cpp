#include "libcore/net/url.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/percent.hpp"
#include "libcore/base/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <fmt/format.h>
#include <span>
#include <utility>

namespace gpkg {
namespace {

bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::string_view own_port(std::string_view scheme) {
    if (scheme == "https") return "443";
    if (scheme == "http") return "80";
    return {};
}

/// A path as others spell it too: what need not be encoded is not, and what is has capital digits
/// (RFC 3986, 6.2.2). Who is trusted at one spelling is so at each.
std::string plain_path(std::string_view path) {
    std::string plain;
    for (std::size_t i = 0; i < path.size(); ++i) {
        char c = 0;
        if (path[i] != '%' || !from_hex(path.substr(i + 1, 2), std::span(&c, 1))) {
            plain += path[i];
            continue;
        }
        const bool is_plain =
            is_letter_or_digit(c) || std::string_view("-._~").find(c) != std::string_view::npos;
        plain +=
            is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
        i += 2;
    }
    return plain;
}

/// What stands between "://" and a host although it may not: a login with a '/', a '?', a '#' or a
/// space in it, up to its '@'. 0 where the text is not like that.
std::size_t broken_login(std::string_view text) {
    const auto end = text.find_first_of("/?# \n\"'`");
    const auto authority = text.substr(0, end);
    const auto colon = authority.rfind(':');
    if (colon == std::string_view::npos || authority.find('@') != std::string_view::npos ||
        authority.ends_with(']'))
        return 0;
    const auto port = authority.substr(colon + 1);
    // "host:8080/@scope" is as good as a login; "user:12#34@host" is one.
    const bool may_be_port = port.find_first_not_of("0123456789") == std::string_view::npos;
    if (may_be_port && text.substr(0, end + 1).find_first_of("?#") == std::string_view::npos)
        return 0;
    const auto at = text.substr(0, text.find_first_of("\n\"'`")).find('@');
    return at == std::string_view::npos ? 0 : at + 1;
}

/// Reads "userinfo@host:port" into `url`.
Result<void> read_authority(std::string_view authority, std::string_view whole, Url& url) {
    if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
        // A mail address as user name is taken as it is meant.
        url.userinfo = replace_all(authority.substr(0, at), "@", "%40");
        authority.remove_prefix(at + 1);
    }
    const auto colon = authority.find(':', authority.starts_with('[') ? authority.find(']') : 0);
    url.host = to_lower(authority.substr(0, colon));
    if (colon != std::string_view::npos) url.port = authority.substr(colon + 1);

    const auto bad = [&](std::string_view what) {
        return fail(ErrorKind::Parse, fmt::format("{}: {}", hide_secrets(whole), what));
    };
    const bool digits = std::all_of(
        url.port.begin(), url.port.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    while (url.port.size() > 1 && url.port.front() == '0') url.port.erase(0, 1);
    if (!digits || url.port.size() > 5) return bad("the port is not a number");
    const bool plain = std::all_of(url.host.begin(), url.host.end(), [](char c) {
        return is_letter_or_digit(c) || std::string_view("-._~[]:%").find(c) != std::string::npos ||
               static_cast<unsigned char>(c) >= 0x80;
    });
    if (!plain) return bad("the host name has invalid characters");
    if (url.scheme != "file" && url.host.empty()) return bad("the host name is missing");
    if (url.port == own_port(url.scheme)) url.port.clear();
    return {};
}

}  // namespace

bool has_scheme(std::string_view text) {
    const auto end = text.find("://");
    if (end == 0 || end == std::string_view::npos) return false;
    return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), [](char c) {
        return is_letter_or_digit(c) || c == '+' || c == '-' || c == '.';
    });
}

Result<Url> Url::parse(std::string_view text) {
    if (!has_scheme(text))
        return fail(ErrorKind::Parse, fmt::format("{}: not a URL", without_secrets(text)));
    Url url;
    url.scheme = to_lower(text.substr(0, text.find("://")));
    if (url.scheme != "http" && url.scheme != "https" && url.scheme != "file" &&
        url.scheme != "oci")
        return fail(
            ErrorKind::Unsupported,
            fmt::format("{}: '{}' URLs are not supported", without_secrets(text), url.scheme),
            "use http, https, oci or file");
    for (const char c : text) {
        if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f)
            return fail(
                ErrorKind::Parse,
                fmt::format("{}: the URL contains spaces or control characters", mask_login(text)),
                "write a space as %20");
    }

    auto rest = text.substr(text.find("://") + 3);
    if (url.scheme != "file" && broken_login(rest) > 0)
        return fail(
            ErrorKind::Parse,
            fmt::format("{}: the login before the host has a character that must be encoded",
                        hide_secrets(text)),
            "in a user name or password, write # as %23, / as %2F, ? as %3F, @ as %40");
    rest = rest.substr(0, rest.find('#'));
    if (const auto mark = rest.find('?'); mark != std::string_view::npos) {
        url.query = rest.substr(mark + 1);
        rest = rest.substr(0, mark);
    }
    const auto slash = std::min(rest.find('/'), rest.size());
    url.path = plain_path(rest.substr(slash));
    GPKG_CHECK(read_authority(rest.substr(0, slash), text, url));
    return url;
}

std::string Url::origin() const { return scheme + "://" + host + (port.empty() ? "" : ":" + port); }

std::string Url::to_string() const {
    return scheme + "://" + (userinfo.empty() ? "" : userinfo + "@") + host +
           (port.empty() ? "" : ":" + port) + path + (query.empty() ? "" : "?" + query);
}

namespace {

/// In place of a login or token that a person should know to be there.
constexpr std::string_view kMask = "***";

/// The URL without query, with `mask` in place of its login and its tokens; empty: they are taken
/// out. A mask stays what it is.
std::string replace_secrets(std::string_view url, std::string_view mask) {
    // A folder may be called t, and whoever reads a file needs no login.
    if (!has_scheme(url) || url.starts_with("file:///")) return std::string(url);
    const auto start = url.find("://") + 3;
    std::string clean(url.substr(0, start));
    auto rest = url.substr(start);
    rest = rest.substr(0, rest.find_first_of("?#"));
    const auto slash = std::min(rest.find('/'), rest.size());
    const auto authority = rest.substr(0, slash);
    const auto at = authority.rfind('@');
    const auto shown = [&](std::string_view secret) { return secret == kMask ? kMask : mask; };
    if (at != std::string_view::npos && !shown(authority.substr(0, at)).empty())
        clean += fmt::format("{}@", shown(authority.substr(0, at)));
    clean += at == std::string_view::npos ? authority : authority.substr(at + 1);

    auto path = rest.substr(slash);
    for (auto token = path.find("/t/"); token != std::string_view::npos; token = path.find("/t/")) {
        clean += path.substr(0, token);
        const auto end = std::min(path.find('/', token + 3), path.size());
        if (const auto shown_token = shown(path.substr(token + 3, end - token - 3));
            !shown_token.empty())
            clean += fmt::format("/t/{}", shown_token);
        path = path.substr(end);
    }
    clean += path;
    return clean;
}

}  // namespace

std::string without_secrets(std::string_view url) { return replace_secrets(url, ""); }

namespace {

/// Where the URL ends that begins `text`.
std::size_t end_of_url(std::string_view text) {
    const auto end = std::find_if(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f ||
               std::string_view("\"'`<>\\").find(c) != std::string_view::npos;
    });
    const auto size = static_cast<std::size_t>(end - text.begin());
    // "https://one,https://two"
    const auto next = text.substr(0, size).find("://");
    const auto before = text.substr(0, next).find_last_of(",;|=: ");
    return next == std::string_view::npos || before == std::string_view::npos ? size : before;
}

/// Where a login without a scheme ("user:password@host") begins and ends in a text; both are the
/// end of the text if there is none.
std::pair<std::size_t, std::size_t> bare_login(std::string_view text) {
    const auto is_part_of_name = [](char c) {
        return is_letter_or_digit(c) ||
               std::string_view("._-+%~").find(c) != std::string_view::npos;
    };
    for (auto at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
        const auto host = text.substr(at + 1);
        const bool has_host = !host.empty() && (is_letter_or_digit(host[0]) || host[0] == '[') &&
                              !host.starts_with("sha256:");  // "image:tag@sha256:..."
        const auto before = text.find_last_of(" \t\r\n\"'`<>", at);
        const auto first = before == std::string_view::npos ? 0 : before + 1;
        // The first colon after a name: a password may have further ones.
        for (auto colon = text.find(':', first); has_host && colon < at;
             colon = text.find(':', colon + 1)) {
            auto start = colon;
            while (start > first && is_part_of_name(text[start - 1])) --start;
            const bool is_password =
                colon + 1 < at && text[colon + 1] != '/' && text[colon + 1] != ':';
            const bool is_host = start > first && text[start - 1] == '@';  // "git@host:path"
            if (start < colon && is_password && !is_host) return {start, at + 1};
        }
    }
    return {text.size(), text.size()};
}

/// The text with `mask` in place of logins without a scheme; empty: they are taken out.
std::string replace_bare_logins(std::string_view text, std::string_view mask) {
    std::string clean;
    while (!text.empty()) {
        const auto [start, end] = bare_login(text);
        clean += text.substr(0, start);
        if (start < end && !mask.empty()) clean += fmt::format("{}@", mask);
        text.remove_prefix(end);
    }
    return clean;
}

/// The fragment of a URL with its '#', or nothing if it may hold a secret ("#access_token=..."):
/// of pairs of names and values only those of pip are shown.
std::string_view shown_fragment(std::string_view fragment) {
    constexpr auto kShown = std::to_array<std::string_view>(
        {"egg", "subdirectory", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"});
    if (fragment.empty()) return fragment;
    for (const auto pair : split(fragment.substr(1), '&')) {
        const auto equals = pair.find('=');
        if (equals != std::string_view::npos &&
            std::find(kShown.begin(), kShown.end(), pair.substr(0, equals)) == kShown.end())
            return {};
    }
    return fragment;
}

/// replace_secrets() for each URL in a text.
std::string replace_secrets_in(std::string_view text, std::string_view mask) {
    constexpr std::string_view kMark = "://";
    std::string clean;
    for (auto mark = text.find(kMark); mark != std::string_view::npos; mark = text.find(kMark)) {
        auto start = mark;
        while (start > 0 && (is_letter_or_digit(text[start - 1]) || text[start - 1] == '+'))
            --start;
        clean += replace_bare_logins(text.substr(0, start), mask);
        const auto scheme = text.substr(start, mark + kMark.size() - start);
        text.remove_prefix(mark + kMark.size());
        const auto broken = broken_login(text);
        const auto login = broken > 0 && !mask.empty() ? fmt::format("{}@", mask) : "";
        text.remove_prefix(broken);
        const auto end = end_of_url(text);
        const auto fragment = std::min(text.find('#'), end);
        const auto url =
            replace_secrets(fmt::format("{}{}{}", scheme, login, text.substr(0, fragment)), mask);
        // The path too: a channel "me:password@host" is looked for below the channel alias.
        const auto path = std::min(url.find('/', scheme.size()), url.size());
        clean +=
            url.substr(0, path) + replace_bare_logins(std::string_view(url).substr(path), mask);
        clean += shown_fragment(text.substr(fragment, end - fragment));
        text.remove_prefix(end);
    }
    clean += replace_bare_logins(text, mask);
    return clean;
}

}  // namespace

std::string hide_secrets(std::string_view text) { return replace_secrets_in(text, ""); }

std::string mask_secrets(std::string_view text) { return replace_secrets_in(text, kMask); }

std::string mask_login(std::string_view text) {
    const auto mark = text.find("://");
    const auto host = mark == std::string_view::npos ? 0 : mark + 3;
    const auto at = text.substr(0, text.find('/', host)).rfind('@');
    return mask_secrets(at == std::string_view::npos || at < host
                            ? std::string(text)
                            : fmt::format("{}{}{}", text.substr(0, host), kMask, text.substr(at)));
}

std::string file_url(const fs::path& path) { return "file://" + percent_encode(path.native()); }

Result<fs::path> path_of_file_url(std::string_view url) {
    GPKG_TRY(const auto parts, Url::parse(url));
    if (parts.scheme != "file")
        return fail(ErrorKind::Parse, fmt::format("{}: not a file:// URL", without_secrets(url)));
    if (!parts.host.empty() && parts.host != "localhost" && parts.host != "127.0.0.1")
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: cannot read files on host '{}'", url, parts.host),
                    "a path on this machine needs three slashes: file:///path");
    auto path = percent_decode(parts.path);
    if (!path) return pass(std::move(path).error().while_doing(parts.path));
    if (path->empty()) return fail(ErrorKind::Parse, fmt::format("{}: the path is missing", url));
    return fs::path(*std::move(path));
}

}  // namespace gpkg
