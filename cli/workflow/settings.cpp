#include "cli/workflow/settings.hpp"

#include "cli/workflow/channel_rules.hpp"
#include "cli/workflow/trace.hpp"
#include "libcore/asking/accelerator_memory.hpp"
#include "libcore/base/text.hpp"
#include "libcore/channel/mirrored_channels.hpp"
#include "libcore/net/url.hpp"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <unistd.h>

namespace gpkg::cli {

ChannelContext channel_context(const Context& context) {
    return channel_context(context.config, context.home);
}

ChannelContext channel_context(const Config& config, const fs::path& home) {
    ChannelContext where;
    where.alias = config.channel_alias.value;
    where.home = home;
    where.custom = config.custom_channels.value;
    where.several = config.custom_multichannels.value;
    where.several.emplace_back("defaults", config.default_channels.value);
    for (const auto& [name, mirrors] : config.mirrored_channels.value)
        where.mirrored.push_back(name);
    return where;
}

std::string shared_secret_text(const fs::path& file) {
    return fmt::format(
        "{}: contains a token or password, and other users can read it; run chmod 600 {}",
        file.native(),
        shell_word(file.native()));
}

void warn_of_shared_secrets(Context& context) {
    for (const auto& file : context.config.files) {
        std::error_code code;
        const auto mode = fs::status(file.path, code).permissions();
        const bool is_shared =
            !code && (mode & (fs::perms::group_read | fs::perms::others_read)) != fs::perms::none;
        if (file.level == ConfigLevel::System || !is_shared) continue;
        const auto text = read_file(file.path);
        if (text && hide_secrets(*text) != *text)
            context.out.warn_once(shared_secret_text(file.path));
    }
}

Result<TrustOptions> trust_options(const Context& context) {
    const auto& setting = context.config.trusted_keys;
    TrustOptions options;
    options.folder = context.config.trust_folder();
    for (const auto& file : context.config.files) {
        if (!setting.source.starts_with(file.path.native() + ":")) continue;
        if (file.level == ConfigLevel::User) options.config_option = "--user ";
        if (file.level == ConfigLevel::System) options.config_option = "--system ";
    }
    for (const auto& [name, given] : setting.value) {
        auto keys = given;
        for (auto& key : keys) {
            if (!is_public_key(key)) key = absolute_path(key, context.home).native();
        }
        const auto what = fmt::format("trusted_keys of {} ({})", name, setting.source);
        GPKG_TRY(const auto root, trusted_root(keys, what));
        GPKG_TRY(const auto channels, parse_channels(name, channel_context(context)));
        for (const auto& channel : channels) {
            options.roots[channel.base_url()] = root;
            options.names[channel.base_url()] = name;
        }
    }
    return options;
}

Result<TransportOptions> transport_options(const Context& context) {
    const auto& config = context.config;
    auto options = transport_options_from(context.env, context.home);
    // HOME may be another user's.
    for (auto* file : {&options.credentials.own, &options.credentials.rattler}) {
        if (!is_there(*file) || ::access(file->c_str(), R_OK) == 0) continue;
        context.out.warn_once(
            fmt::format("ignored {}: cannot open: {}", file->native(), std::strerror(errno)));
        file->clear();
    }
    const auto proxy_of = [&](std::string_view scheme) -> std::string {
        for (const auto name : {scheme, std::string_view("all")}) {
            for (const auto& [known, url] : config.proxy_servers.value) {
                if (known == name) return url;
            }
        }
        return {};
    };
    const auto setting = fmt::format("proxy_servers in {}", config.proxy_servers.source);
    if (options.http_proxy.empty()) {
        options.http_proxy = proxy_of("http");
        options.http_proxy_source = setting;
    }
    if (options.https_proxy.empty()) {
        options.https_proxy = proxy_of("https");
        options.https_proxy_source = setting;
    }
    for (const auto& [key, url] : config.proxy_servers.value) {
        if (auto proxy = host_proxy(key, url)) options.host_proxies.push_back(*std::move(proxy));
    }
    options.host_proxy_source = setting;
    const auto& trust = config.ssl_verify.value;
    if (trust == "false") {
        options.verify_tls = false;
        context.out.warn_once(
            fmt::format("ssl_verify is false ({}): TLS certificates are not verified, so packages "
                        "may be tampered with",
                        config.ssl_verify.source));
    } else if (trust != "true" && options.ca_path.empty()) {
        options.ca_path = trust;
        options.ca_source = fmt::format("ssl_verify: {} ({})", trust, config.ssl_verify.source);
    } else if (trust != "true") {
        options.ca_source += ", which overrides ssl_verify";
    }
    options.client_cert = config.client_ssl_cert.value;
    options.client_key = config.client_ssl_cert_key.value;
    GPKG_CHECK(check_mirrors(context));
    GPKG_TRY(options.mirrors,
             mirrored_places(config.mirrored_channels.value, channel_context(context)));
    options.on_mirror_failed = [&out = context.out](const std::string& mirror, const Error& why) {
        out.warn(fmt::format("mirror {} failed and is now tried last: {}", mirror, why.message));
    };
    return options;
}

Result<std::shared_ptr<Transport>> open_transport(const Context& context) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (context.transport) return context.transport;
    GPKG_TRY(auto options, transport_options(context));
    context.transport = traced(context.out, make_transport(std::move(options)));
    return context.transport;
}

std::string override_variable(std::string_view package) {
    std::string name(kOverrides);
    for (const char c : package)
        name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return name;
}

Result<void> heed_usual_accelerator(const Context& context, AcceleratorWishes& wishes) {
    const auto& usual = context.config.accelerator.value;
    if (usual.empty() || says_all(wishes)) return {};
    GPKG_TRY(wishes.all, parse_accelerator_choices(usual));
    return {};
}

}  // namespace gpkg::cli
