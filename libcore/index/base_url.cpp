#include "libcore/base/text.hpp"
#include "libcore/index/base_url_internal.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kSchemeRest = "abcdefghijklmnopqrstuvwxyz0123456789+-.";

/// "https" of "https://host", lowercase; empty for a relative reference (RFC 3986).
std::string scheme_of(std::string_view url) {
    auto scheme = to_lower(url.substr(0, std::min(url.find_first_of(":/?#"), url.size())));
    const bool is_scheme = scheme.size() < url.size() && url[scheme.size()] == ':' &&
                           !scheme.empty() && kLetters.find(scheme[0]) != std::string::npos &&
                           scheme.find_first_not_of(kSchemeRest) == std::string::npos;
    return is_scheme ? scheme : "";
}

/// `reference` resolved against `base` the way browsers do: absolute URLs win, "//host/x" keeps the
/// scheme, "/x" the host, "./" and "../" walk.
std::string resolve(std::string_view base, std::string_view reference) {
    if (!scheme_of(reference).empty()) return std::string(reference);
    if (reference.starts_with("//")) return fmt::format("{}:{}", scheme_of(base), reference);
    const auto authority = base.find("://") == std::string_view::npos ? 0 : base.find("://") + 3;
    const auto root = std::min(base.find('/', authority), base.size());
    std::vector<std::string_view> path;
    if (!reference.starts_with('/')) {
        path = split(base.substr(std::min(root + 1, base.size())), '/');
        path.pop_back();  // the document itself
    } else {
        reference.remove_prefix(1);
    }
    for (const auto piece : split(reference, '/')) {
        if (!path.empty() && path.back().empty()) path.pop_back();
        if (piece == "..") {
            if (!path.empty()) path.pop_back();
            path.emplace_back();
        } else if (piece == ".") {
            path.emplace_back();
        } else {
            path.push_back(piece);
        }
    }
    std::string url(base.substr(0, root));
    for (const auto piece : path) url += "/" + std::string(piece);
    return url;
}

bool stands_in_urls(char c) { return c > ' ' && c < '\x7f' && c != '\\'; }

}  // namespace

Result<std::string> artifact_folder(std::string_view index_url, std::string_view base_url) {
    if (base_url.empty()) return std::string(index_url.substr(0, index_url.rfind('/') + 1));
    const auto bad = [&](std::string_view why) {
        return fail(ErrorKind::Integrity, fmt::format("base_url '{}' {}", base_url, why));
    };
    if (!std::all_of(base_url.begin(), base_url.end(), stands_in_urls)) return bad("is not a URL");
    if (base_url.find_first_of("?#") != std::string_view::npos) return bad("contains '?' or '#'");
    auto folder = resolve(index_url, base_url);
    const auto scheme = scheme_of(folder);
    const bool is_web = (scheme == "http" || scheme == "https") &&
                        std::string_view(folder).substr(scheme.size()).starts_with("://");
    const bool is_web_index = scheme_of(index_url).starts_with("http");
    if (!is_web && scheme != "file") return bad("does not start with http://, https:// or file://");
    if (!is_web && is_web_index) return bad("refers from a network channel to local files");
    if (!folder.ends_with('/')) folder += '/';
    return folder;
}

}  // namespace gpkg
