#include "libcore/base/text.hpp"
#include "libcore/net/transport.hpp"

#include <cstdlib>

namespace gpkg {

std::optional<HostProxy> host_proxy(std::string_view key, std::string url) {
    constexpr std::string_view kMark = "://";
    const auto mark = key.find(kMark);
    if (mark == std::string_view::npos) return std::nullopt;
    const auto scheme = to_lower(key.substr(0, mark));
    auto host = key.substr(mark + kMark.size());
    while (host.ends_with('/')) host.remove_suffix(1);
    const bool is_known = scheme == "http" || scheme == "https" || scheme == "all";
    if (!is_known || host.empty() || host.find('/') != std::string_view::npos) return std::nullopt;
    return HostProxy{scheme, to_lower(host), std::move(url)};
}

TransportOptions transport_options_from(const EnvLookup& environment, const fs::path& home) {
    const auto first_of = [&](std::initializer_list<std::string_view> names) -> std::string {
        for (const auto name : names) {
            if (auto value = environment(name); value && !value->empty()) return *value;
        }
        return {};
    };
    TransportOptions options;
    const auto set_first = [&](std::initializer_list<std::string_view> names,
                               std::string& value,
                               std::string& source) {
        for (const auto name : names) {
            value = first_of({name});
            if (value.empty()) continue;
            source = name;
            return;
        }
    };
    set_first({"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"},
              options.http_proxy,
              options.http_proxy_source);
    set_first({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"},
              options.https_proxy,
              options.https_proxy_source);
    options.no_proxy = first_of({"no_proxy", "NO_PROXY"});
    std::string ca_path;
    set_first(
        {"SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"}, ca_path, options.ca_source);
    if (!ca_path.empty()) options.ca_source += "=" + ca_path;
    options.ca_path = ca_path;
    options.ca_folders = first_of({"SSL_CERT_DIR"});
    const auto file = [&](std::string_view name, const fs::path& else_at) {
        fs::path path = first_of({name});
        return path.empty() && !home.empty() ? else_at : path;
    };
    fs::path config = first_of({"XDG_CONFIG_HOME"});
    if (config.empty()) config = home / ".config";
    options.credentials = {file("GPKG_CREDENTIALS", config / "gpkg/credentials.yaml"),
                           file("RATTLER_AUTH_FILE", home / ".rattler/credentials.json")};
    options.netrc = file("NETRC", home / ".netrc");
    const auto seconds_of = [&](std::string_view name) {
        return static_cast<long>(std::strtod(first_of({name}).c_str(), nullptr) * 1000);
    };
    if (const auto limit = seconds_of("CONDA_REMOTE_CONNECT_TIMEOUT_SECS"); limit > 0)
        options.connect_timeout = std::chrono::milliseconds(limit);
    // libcurl counts whole seconds.
    if (const auto limit = seconds_of("CONDA_REMOTE_READ_TIMEOUT_SECS"); limit > 0)
        options.stall_timeout =
            std::chrono::ceil<std::chrono::seconds>(std::chrono::milliseconds(limit));
    return options;
}

}  // namespace gpkg
