#include "libcore/net/credentials.hpp"

#include "libcore/base/text.hpp"
#include "libcore/net/url.hpp"
#include "libcore/yaml/node.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <sys/stat.h>
#include <tuple>
#include <utility>

namespace gpkg {
namespace {

constexpr std::uint64_t kLongestFile = 1U << 20U;

/// Why nobody should rely on what the file says, if there is a reason.
std::optional<Error> exposed(const fs::path& file) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0 || (info.st_mode & 077U) == 0) return std::nullopt;
    return Error{ErrorKind::Usage,
                 fmt::format("{}: contains secrets, but other users can access it (mode {:o})",
                             file.native(),
                             info.st_mode & 0777U),
                 fmt::format("chmod 600 {}", file.native()),
                 {}};
}

/// A secret as it can stand in a header or a URL.
Result<std::string> secret_of(const yaml::Node& node, bool in_url) {
    GPKG_TRY(auto text, node.as_text("a string"));
    const auto bad = [&](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f || (in_url && (byte <= 0x20 || byte >= 0x7f)) ||
               (in_url && std::string_view("/?#%").find(c) != std::string_view::npos);
    };
    if (text.empty() || std::any_of(text.begin(), text.end(), bad))
        return node.fail("is empty or has invalid characters");
    return text;
}

/// Where a login is for: a URL, or a host with its port.
Result<Url> place_of(const std::string& key, const yaml::Node& node) {
    constexpr std::string_view kPattern = "://*.";
    auto text = has_scheme(key) ? key : "https://" + key;
    const auto pattern = text.find(kPattern);
    if (pattern != std::string::npos) text.erase(pattern + 3, 2);
    auto url = Url::parse(text);
    if (!url || url->scheme == "file" || !url->userinfo.empty() || !url->query.empty())
        return node.fail(fmt::format("'{}' is not a server URL or host", without_secrets(key)),
                         "use https://host/channel, host:port or *.host, without a login");
    if (pattern != std::string::npos) url->host.insert(0, "*.");
    while (url->path.ends_with('/')) url->path.pop_back();
    return url;
}

Result<Login> basic(const yaml::Node& map) {
    const auto* user = map.find("username");
    const auto* password = map.find("password");
    if (user == nullptr || password == nullptr || map.entries().size() != 2)
        return map.fail("expected 'username' and 'password'");
    GPKG_TRY(auto name, user->as_text("a string"));
    GPKG_TRY(auto secret, secret_of(*password, false));
    return Login{Login::Kind::Basic, std::move(name), std::move(secret)};
}

Result<std::optional<Login>> own_login(const yaml::Node& map) {
    const auto* token = map.find("token");
    const auto* bearer = map.find("bearer");
    if (token == nullptr && bearer == nullptr && map.is_map() && map.find("username") != nullptr)
        return basic(map);
    if (map.entries().size() != 1 || (token == nullptr && bearer == nullptr))
        return map.fail("expected 'username' and 'password', or 'token', or 'bearer'");
    GPKG_TRY(auto secret, secret_of(token != nullptr ? *token : *bearer, token != nullptr));
    return Login{
        token != nullptr ? Login::Kind::CondaToken : Login::Kind::Bearer, "", std::move(secret)};
}

/// None for kinds that are of no use here, those of S3 among them.
Result<std::optional<Login>> rattler_login(const yaml::Node& map) {
    if (const auto* login = map.find("BasicHTTP")) return basic(*login);
    if (const auto* token = map.find("CondaToken")) {
        GPKG_TRY(auto secret, secret_of(*token, true));
        return Login{Login::Kind::CondaToken, "", std::move(secret)};
    }
    if (const auto* token = map.find("BearerToken")) {
        GPKG_TRY(auto secret, secret_of(*token, false));
        return Login{Login::Kind::Bearer, "", std::move(secret)};
    }
    return std::nullopt;
}

/// The host itself counts as well, as rattler has it.
bool is_subdomain(std::string_view host, std::string_view pattern) {
    const auto dotted = pattern.substr(1);  // ".host"
    return host == dotted.substr(1) || host.ends_with(dotted);
}

bool is_prefix(std::string_view path, std::string_view of) {
    return of.starts_with(path) && (of.size() == path.size() || of[path.size()] == '/');
}

}  // namespace

Result<void> Credentials::read(const fs::path& file, bool is_own) {
    std::error_code ignored;
    if (file.empty() || !fs::exists(file, ignored)) return {};
    GPKG_TRY(const auto text, read_file(file, kLongestFile));
    GPKG_TRY(const auto document, yaml::Node::parse(text, file.native()));
    if (!document.is_null() && !document.is_map())
        return document.fail("expected a map of URLs and hosts");
    const auto open = exposed(file);
    for (const auto& [key, node] : document.entries()) {
        GPKG_TRY(auto login, is_own ? own_login(node) : rattler_login(node));
        if (!login || (!is_own && has_scheme(key))) continue;
        GPKG_TRY(auto place, place_of(key, node));
        entries_.push_back({std::move(place), *std::move(login), open});
    }
    return {};
}

/// The first of those that say as much: a longer path, then a host in place of a pattern, then the
/// longer pattern.
const Credentials::Entry* Credentials::find(std::string_view text) const {
    const auto url = Url::parse(text);
    if (!url || url->scheme == "file" || !url->userinfo.empty()) return nullptr;
    const auto says = [](const Entry& entry) {
        return std::tuple(
            entry.place.path.size(), !entry.place.host.starts_with('*'), entry.place.host.size());
    };
    const Entry* best = nullptr;
    for (const auto& entry : entries_) {
        const bool is_host = entry.place.host.starts_with("*.")
                                 ? is_subdomain(url->host, entry.place.host)
                                 : entry.place.host == url->host;
        if (entry.place.scheme != url->scheme || entry.place.port != url->port || !is_host ||
            !is_prefix(entry.place.path, url->path))
            continue;
        if (best == nullptr || says(entry) > says(*best)) best = &entry;
    }
    return best;
}

Result<std::optional<Login>> Credentials::for_url(std::string_view url) {
    if (!url.starts_with("http")) return std::nullopt;
    const std::lock_guard lock(mutex_);
    if (!std::exchange(is_read_, true)) {
        for (const bool own : {true, false}) {
            auto done = read(own ? files_.own : files_.rattler, own);
            if (!done) problem_ = std::move(done).error();
        }
    }
    if (problem_) return pass(*problem_);
    const auto* entry = find(url);
    if (entry == nullptr) return std::nullopt;
    if (entry->exposed) return pass(*entry->exposed);
    return entry->login;
}

}  // namespace gpkg
