#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "libcore/config/config_keys_internal.hpp"
#include "libcore/fs/system_user.hpp"
#include "libcore/hardware/asked_spec.hpp"
#include "libcore/net/transport.hpp"
#include "libcore/net/url.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace gpkg {
namespace {

using yaml::Node;
using Texts = std::vector<std::string>;
using Shape = ConfigKey::Shape;

constexpr std::string_view kDefault = "default";
constexpr int kMostThreads = 64;
constexpr int kMostDepth = 100;
constexpr int kMostNotices = 100;
constexpr int kLeastConflicts = 1'000;
constexpr int kMostConflicts = 1'000'000'000;
constexpr int kMostSeconds = 86'400;

// ---- variables in values

bool is_name_part(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// $NAME and ${NAME} replaced. A variable that is not set is an error: nobody wants a folder that
/// is called "$USER".
Result<std::string> expanded(std::string_view text, std::string_view where, const Reading& how) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool braces = text.substr(i).starts_with("${");
        const auto first = i + (braces ? 2 : 1);
        auto last = first;
        while (last < text.size() && is_name_part(text[last])) ++last;
        if (text[i] != '$' || last == first || (braces && text.substr(last, 1) != "}")) {
            result += text[i];
            continue;
        }
        const auto name = text.substr(first, last - first);
        auto value = how.environment ? how.environment(name) : std::nullopt;
        // Prologs and epilogs of Slurm, and services, run without it.
        if (const auto user = name == "USER" && !value ? system_user(::geteuid()) : std::nullopt)
            value = user->name;
        if (name == "GPKG_ROOT_PREFIX" && !how.root_prefix.empty())
            value = how.root_prefix.native();
        if (!value)
            return fail(ErrorKind::Parse,
                        fmt::format("{}: environment variable {} is not set", where, name));
        result += *value;
        i = braces ? last : last - 1;
    }
    return result;
}

// ---- reading

Result<std::string> text_of(const Node& node, std::string_view what, const Reading& how) {
    GPKG_TRY(const auto text, node.as_text(what));
    return expanded(text, node.place(), how);
}

Result<Texts> texts_of(const Node& node, std::string_view what, const Reading& how) {
    if (node.is_scalar() && node.text().find(',') != std::string::npos)
        return node.fail(fmt::format("expected a list of {}, found a string with a comma", what),
                         "write a list: [a, b]");
    GPKG_TRY(auto texts, node.as_texts(what));
    for (auto& text : texts) {
        GPKG_TRY(text, expanded(text, node.place(), how));
    }
    return texts;
}

/// "./x" and "../x" start where the file is; "~" is home; a channel's name or URL stays.
std::string from_folder(const std::string& text, const Reading& how) {
    const bool relative =
        text == "." || text == ".." || text.starts_with("./") || text.starts_with("../");
    if (!relative || how.folder.empty()) return text;
    return absolute_path((how.folder / text).native(), how.home).native();
}

Result<Texts> channels(const Node& node, const Reading& how) {
    GPKG_TRY(auto texts, texts_of(node, how.key, how));
    for (auto& text : texts) {
        if (trim(text).empty()) return node.fail("a channel is empty");
        text = from_folder(text, how);
    }
    return texts;
}

Result<ChannelPriority> priority(const Node& node, const Reading& /*how*/) {
    GPKG_TRY(const auto text, node.as_text("strict, flexible or disabled"));
    if (text == "strict") return ChannelPriority::Strict;
    // conda also takes the words of its older, two-valued setting.
    if (text == "flexible" || text == "true") return ChannelPriority::Flexible;
    if (text == "disabled" || text == "false") return ChannelPriority::Disabled;
    return node.fail(fmt::format("expected strict, flexible or disabled, found '{}'", text));
}

Result<LinkScriptPolicy> script_policy(const Node& node, const Reading& /*how*/) {
    GPKG_TRY(const auto text, node.as_text("run, off, ask or list"));
    for (const auto policy : {LinkScriptPolicy::Run,
                              LinkScriptPolicy::Off,
                              LinkScriptPolicy::Ask,
                              LinkScriptPolicy::List}) {
        if (text == to_string(policy)) return policy;
    }
    // YAML 1.1 has "off" as a word for false.
    if (text == "false") return LinkScriptPolicy::Off;
    return node.fail(fmt::format("expected run, off, ask or list, found '{}'", text));
}

Result<std::string> url(const Node& node, const Reading& how) {
    GPKG_TRY(auto text, text_of(node, "a URL", how));
    if (text.find("://") == std::string::npos)
        return node.fail(fmt::format("expected a URL, found '{}'", text));
    return text;
}

Result<std::string> platform(const Node& node, const Reading& /*how*/) {
    GPKG_TRY(auto text, node.as_text("a platform"));
    if (text == "noarch" || !is_subdir(text))
        return node.fail(fmt::format("expected a platform such as linux-64, found '{}'", text));
    return text;
}

template <int least, int most>
Result<int> number(const Node& node, const Reading& how) {
    GPKG_TRY(const auto count, node.as_int(how.key));
    if (count < least || count > most)
        return node.fail(
            fmt::format("expected a number from {} to {}, found {}", least, most, count));
    return static_cast<int>(count);
}

Result<bool> flag(const Node& node, const Reading& how) {
    // YAML 1.1, which conda reads, has more words for it.
    const auto word = to_lower(node.text());
    if (word == "yes" || word == "on" || word == "1") return true;
    if (word == "no" || word == "off" || word == "0") return false;
    if (node.is_scalar() && word != "true" && word != "false")
        return node.fail(fmt::format("expected true or false, found '{}'", node.text()));
    return node.as_bool(how.key);
}

Result<fs::path> folder(const Node& node, const Reading& how) {
    GPKG_TRY(const auto text, node.as_text("a folder"));
    if (text.empty()) return node.fail("expected a folder, found nothing");
    return folder_from(text, node.place(), how);
}

Result<fs::path> file(const Node& node, const Reading& how) {
    GPKG_TRY(const auto text, node.as_text("a file"));
    if (text.empty()) return node.fail("expected a file, found nothing");
    return folder_from(text, node.place(), how);
}

Result<std::vector<fs::path>> folders(const Node& node, const Reading& how) {
    GPKG_TRY(const auto texts, node.as_texts(how.key));
    std::vector<fs::path> result;
    for (const auto& text : texts) {
        if (trim(text).empty()) continue;
        GPKG_TRY(auto one, folder_from(text, node.place(), how));
        result.push_back(std::move(one));
    }
    return result;
}

/// A file or folder of certificates, or whether they are looked at. conda's "truststore" is the
/// system's, which is what gpkg looks at anyway.
Result<std::string> tls_trust(const Node& node, const Reading& how) {
    GPKG_TRY(const auto text,
             text_of(node, "true, false, or a file or folder of certificates", how));
    const auto word = to_lower(text);
    if (word == "true" || word == "yes" || word == "1" || word == "truststore") return "true";
    if (word == "false" || word == "no" || word == "0") return "false";
    if (text.empty()) return node.fail("expected true, false or a file of certificates");
    GPKG_TRY(const auto path, folder_from(text, node.place(), how));
    return path.native();
}

Result<std::string> link_word(const Node& node, const Reading& how) {
    GPKG_TRY(auto word, node.as_text(how.key));
    if (word == "auto" || word == "hardlink" || word == "reflink" || word == "copy") return word;
    return node.fail(fmt::format("expected auto, hardlink, reflink or copy, found '{}'", word));
}

Result<std::string> accelerator_choices(const Node& node, const Reading& how) {
    std::string text;
    if (node.is_list()) {  // as environment.yml has it
        GPKG_TRY(const auto words, node.as_texts(how.key));
        text = fmt::format("{}", fmt::join(words, ","));
    } else {
        GPKG_TRY(text, node.as_text(how.key));
    }
    if (auto choices = parse_accelerator_choices(text); !choices)
        return node.fail(choices.error().message, choices.error().hint);
    return text;
}

/// What --devices takes. Which GPUs there are is not known here.
Result<std::string> device_choice(const Node& node, const Reading& how) {
    GPKG_TRY(auto text, node.as_text(how.key));
    const auto words = split(text, ',');
    const bool is_numbers = std::all_of(words.begin(), words.end(), [](std::string_view word) {
        return whole_number<std::size_t>(trim(word)).has_value();
    });
    if (text == "all" || text == "compute" || is_numbers) return text;
    return node.fail(fmt::format("expected all, compute or numbers of GPUs, found '{}'", text),
                     "use the numbers of gpkg hardware: \"0,2\"");
}

Result<std::string> name_template(const Node& node, const Reading& how) {
    GPKG_TRY(auto text, node.as_text(how.key));
    if (trim(text).empty()) return node.fail("expected names of modules, found nothing");
    return text;
}

Result<Texts> specs(const Node& node, const Reading& how) {
    GPKG_TRY(auto texts, node.as_texts(how.key));
    for (const auto& text : texts) {
        if (const auto spec = MatchSpec::parse(text); !spec)
            return node.fail(spec.error().message, spec.error().hint);
    }
    return texts;
}

Result<NamedLists> lists_by_name(const Node& node, const Reading& how) {
    if (!node.is_null() && !node.is_map())
        return node.fail(fmt::format("expected names and lists, found {}", node.kind_name()));
    NamedLists lists;
    for (const auto& [name, value] : node.entries()) {
        GPKG_TRY(auto list, channels(value, how));
        lists.emplace_back(name, std::move(list));
    }
    return lists;
}

Result<NamedTexts> texts_by_name(const Node& node, const Reading& how) {
    if (!node.is_null() && !node.is_map())
        return node.fail(fmt::format("expected names and values, found {}", node.kind_name()));
    NamedTexts texts;
    for (const auto& [name, value] : node.entries()) {
        if (value.is_null()) {
            texts.emplace_back(name, "");
            continue;
        }
        GPKG_TRY(auto text, text_of(value, "a string", how));
        texts.emplace_back(name, std::move(text));
    }
    return texts;
}

Result<NamedTexts> urls_by_name(const Node& node, const Reading& how) {
    GPKG_TRY(auto texts, texts_by_name(node, how));
    for (auto& [name, text] : texts) {
        text = from_folder(text, how);
        const bool is_path = text.starts_with('/') || text.starts_with('~');
        if (text.find("://") == std::string::npos && !is_path)
            return node.fail(fmt::format("expected a URL for {}, found '{}'", name, text));
    }
    return texts;
}

/// By scheme, or by scheme and host as conda has it. Of conda's files, schemes that gpkg never asks
/// are left out.
Result<NamedTexts> proxies(const Node& node, const Reading& how) {
    GPKG_TRY(auto texts, texts_by_name(node, how));
    const auto is_unknown = [](const auto& proxy) {
        const auto& name = proxy.first;
        return name != "http" && name != "https" && name != "all" && !host_proxy(name, "");
    };
    if (how.joins) std::erase_if(texts, is_unknown);
    const auto unknown = std::find_if(texts.begin(), texts.end(), is_unknown);
    if (unknown != texts.end())
        return node.fail(fmt::format("expected proxies of http, https, all or https://HOST, found "
                                     "one of {}",
                                     mask_login(unknown->first)),
                         "for hosts without a proxy, use NO_PROXY");
    return texts;
}

/// "__cuda" and "cuda" are one name; conda's has no underscores.
Result<NamedTexts> overrides(const Node& node, const Reading& how) {
    GPKG_TRY(auto texts, texts_by_name(node, how));
    for (auto& [name, text] : texts) {
        if (name.starts_with("__")) name.erase(0, 2);
    }
    return texts;
}

// ---- joining: what conda's files say together

template <typename T>
bool join(T& /*into*/, T&& /*more*/) {
    return false;
}

template <typename T>
bool join(std::vector<T>& into, std::vector<T>&& more) {
    const auto before = into.size();
    for (auto& one : more) {
        if (std::find(into.begin(), into.end(), one) == into.end()) into.push_back(std::move(one));
    }
    return into.size() > before;
}

template <typename T>
bool join(std::vector<std::pair<std::string, T>>& into,
          std::vector<std::pair<std::string, T>>&& more) {
    const auto before = into.size();
    for (auto& one : more) {
        const auto has_name = [&](const auto& other) { return other.first == one.first; };
        if (std::none_of(into.begin(), into.end(), has_name)) into.push_back(std::move(one));
    }
    return into.size() > before;
}

// ---- showing

void show_value(ShownSetting& shown, const std::string& value) { shown.values = {value}; }
void show_value(ShownSetting& shown, const fs::path& value) { shown.values = {value.native()}; }
void show_value(ShownSetting& shown, int value) { shown.values = {std::to_string(value)}; }
void show_value(ShownSetting& shown, bool value) { shown.values = {value ? "true" : "false"}; }
void show_value(ShownSetting& shown, ChannelPriority value) {
    shown.values = {std::string(to_string(value))};
}
void show_value(ShownSetting& shown, LinkScriptPolicy value) {
    shown.values = {std::string(to_string(value))};
}
void show_value(ShownSetting& shown, const Texts& value) { shown.values = value; }
void show_value(ShownSetting& shown, const std::vector<fs::path>& value) {
    for (const auto& path : value) shown.values.push_back(path.native());
}
void show_value(ShownSetting& shown, const NamedLists& value) { shown.entries = value; }
void show_value(ShownSetting& shown, const NamedTexts& value) {
    for (const auto& [name, text] : value) shown.entries.emplace_back(name, Texts{text});
}

// ---- the table

template <auto member, auto read>
Result<void> apply(const Node& node, const Reading& reading, Config& config) {
    auto& setting = config.*member;
    GPKG_TRY(auto value, read(node, reading));
    if (!reading.joins || setting.source == kDefault) {
        // The root prefix only gives the default of others.
        auto overrides = std::move(setting.overrides);
        if (setting.source != kDefault && setting.source != config.root_prefix.source)
            overrides = setting.source + (overrides.empty() ? "" : ", " + overrides);
        setting = {std::move(value), node.place(), std::move(overrides)};
    } else if (join(setting.value, std::move(value))) {
        setting.source += ", ";
        setting.source += node.place();
    }
    return {};
}

template <auto member>
ShownSetting show(const Config& config) {
    ShownSetting shown;
    shown.source = (config.*member).source;
    shown.overrides = (config.*member).overrides;
    show_value(shown, (config.*member).value);
    return shown;
}

/// Rules of channels add up, whoever says them. A list without channels is none.
template <bool allows>
Result<void> add_rule(const Node& node, const Reading& reading, Config& config) {
    GPKG_TRY(auto texts, channels(node, reading));
    if (!texts.empty()) config.channel_rules.push_back({allows, std::move(texts), node.place()});
    return {};
}

template <bool allows>
ShownSetting show_rules(const Config& config) {
    ShownSetting shown;
    for (const auto& rule : config.channel_rules) {
        if (rule.allows != allows) continue;
        shown.values.insert(shown.values.end(), rule.channels.begin(), rule.channels.end());
        shown.source += shown.source.empty() ? rule.source : ", " + rule.source;
    }
    if (shown.source.empty()) shown.source = kDefault;
    return shown;
}

template <auto member, auto read>
constexpr KeyRow row(std::string_view name,
                     Shape shape,
                     std::array<std::string_view, 2> conda_names,
                     std::string_view help,
                     std::string_view separators = ",") {
    return {{name, shape, help}, conda_names, separators, apply<member, read>, show<member>};
}

constexpr KeyRow with_urls(KeyRow row) {
    row.key.has_urls = true;
    return row;
}

// clang-format off
constexpr std::array kRows = {
    with_urls(row<&Config::channels, channels>("channels", Shape::List, {"channels"}, "where packages come from, highest priority first")),
    row<&Config::channel_priority, priority>("channel_priority", Shape::Value, {"channel_priority"}, "strict, flexible or disabled"),
    with_urls(row<&Config::channel_alias, url>("channel_alias", Shape::Value, {"channel_alias"}, "base URL of channels given by name")),
    with_urls(row<&Config::default_channels, channels>("default_channels", Shape::List, {"default_channels"}, "channels of the name 'defaults'")),
    with_urls(row<&Config::custom_channels, urls_by_name>("custom_channels", Shape::Map, {"custom_channels"}, "base URLs of channels by name")),
    with_urls(row<&Config::custom_multichannels, lists_by_name>("custom_multichannels", Shape::Map, {"custom_multichannels"}, "names that stand for several channels")),
    with_urls(row<&Config::mirrored_channels, lists_by_name>("mirrored_channels", Shape::Map, {"mirrored_channels"}, "mirror URLs of a channel, tried in this order")),
    with_urls(KeyRow{{"allowlist_channels", Shape::List, "allowed channels; with lists in several files, a channel must be in all"}, {"allowlist_channels", "whitelist_channels"}, ",", add_rule<true>, show_rules<true>}),
    with_urls(KeyRow{{"denylist_channels", Shape::List, "denied channels, from all files"}, {"denylist_channels"}, ",", add_rule<false>, show_rules<false>}),
    row<&Config::channel_relations_max_depth, number<0, kMostDepth>>("channel_relations_max_depth", Shape::Value, {}, "levels of channel relations to follow; 0 ignores them"),
    row<&Config::create_default_packages, specs>("create_default_packages", Shape::List, {"create_default_packages"}, "specs that gpkg create adds to every new environment", "&"),
    row<&Config::repodata_use_zst, flag>("repodata_use_zst", Shape::Value, {"repodata_use_zst"}, "whether to ask channels for repodata.json.zst"),
    row<&Config::repodata_use_shards, flag>("repodata_use_shards", Shape::Value, {"repodata_use_shards"}, "whether to ask channels for shards"),
    row<&Config::platform, platform>("platform", Shape::Value, {"subdir"}, "platform to solve for; default: this machine's"),
    row<&Config::override_virtual_packages, overrides>("override_virtual_packages", Shape::Map, {"override_virtual_packages", "virtual_packages"}, "virtual packages that replace the detected ones"),
    row<&Config::pinned_packages, specs>("pinned_packages", Shape::List, {"pinned_packages"}, "specs that apply to every environment", "&"),
    row<&Config::solve_limit, number<kLeastConflicts, kMostConflicts>>("solve_limit", Shape::Value, {}, "conflicts after which the solver gives up"),
    row<&Config::explain_limit, number<1, kMostSeconds>>("explain_limit", Shape::Value, {}, "seconds to explain why a request cannot be solved, and to try fixes"),
    row<&Config::envs_dirs, folders>("envs_dirs", Shape::List, {"envs_dirs", "envs_path"}, "folders of environments; new ones go to the first writable folder", ":,"),
    row<&Config::cache_dir, folder>("cache_dir", Shape::Value, {}, "folder of the package store and the index cache"),
    row<&Config::store_layers, folders>("store_layers", Shape::List, {}, "read-only package stores (pkgs/) of other users", ":,"),
    row<&Config::conda_pkgs_dirs, folders>("conda_pkgs_dirs", Shape::List, {"pkgs_dirs"}, "read-only package caches of conda", ":,"),
    row<&Config::accelerator, accelerator_choices>("accelerator", Shape::Value, {}, "accelerator of new environments: nvidia, amd, none, or a list to try in order"),
    row<&Config::devices, device_choice>("devices", Shape::Value, {}, "GPUs to consider: all, compute (no display cards), or their numbers"),
    row<&Config::profile_folders, folders>("profile_folders", Shape::List, {}, "folders with hardware profiles for --for", ":,"),
    row<&Config::link, link_word>("link", Shape::Value, {}, "how to link files: auto, hardlink, reflink or copy"),
    row<&Config::download_threads, number<1, kMostThreads>>("download_threads", Shape::Value, {"fetch_threads"}, "number of parallel downloads"),
    with_urls(row<&Config::proxy_servers, proxies>("proxy_servers", Shape::Map, {"proxy_servers"}, "proxies of http, https, all, or of one host: https://HOST")),
    row<&Config::ssl_verify, tls_trust>("ssl_verify", Shape::Value, {"ssl_verify", "verify_ssl"}, "true, false, or a file or folder of trusted certificates"),
    row<&Config::client_ssl_cert, file>("client_ssl_cert", Shape::Value, {"client_ssl_cert", "client_cert"}, "file of the certificate for servers that require one"),
    row<&Config::client_ssl_cert_key, file>("client_ssl_cert_key", Shape::Value, {"client_ssl_cert_key", "client_cert_key"}, "file of its private key; default: in client_ssl_cert"),
    row<&Config::trusted_keys, lists_by_name>("trusted_keys", Shape::Map, {}, "public keys of signed channels, or the file of a root"),
    row<&Config::number_channel_notices, number<0, kMostNotices>>("number_channel_notices", Shape::Value, {"number_channel_notices"}, "channel notices shown per command; 0 for none"),
    row<&Config::changeps1, flag>("changeps1", Shape::Value, {"changeps1"}, "whether activation changes the prompt"),
    row<&Config::always_yes, flag>("always_yes", Shape::Value, {"always_yes", "yes"}, "answer yes to all questions, as -y does"),
    row<&Config::offline, flag>("offline", Shape::Value, {"offline"}, "use only packages and indexes on this machine, as --offline does"),
    row<&Config::link_scripts, script_policy>("link_scripts", Shape::Value, {}, "link scripts of packages: run (all), off, ask or list"),
    row<&Config::module_root, folder>("module_root", Shape::Value, {}, "folder of modulefiles; default: modules/ in the root prefix"),
    row<&Config::module_name, name_template>("module_name", Shape::Value, {}, "name of an environment's module: {name}, {generation}, {accelerator}, {python}, ..."),
    row<&Config::local_folders, folders>("local_folders", Shape::List, {}, "node-local folders for gpkg deploy; default: $TMPDIR and /tmp", ":,"),
    row<&Config::use_condarc, flag>("use_condarc", Shape::Value, {}, "whether to read conda's configuration files"),
};
// clang-format on

}  // namespace

std::span<const KeyRow> key_rows() { return kRows; }

const KeyRow* find_row(std::string_view name) {
    const auto found = std::find_if(kRows.begin(), kRows.end(), [&](const KeyRow& row) {
        return !name.empty() &&
               (row.key.name == name || row.conda_names[0] == name || row.conda_names[1] == name);
    });
    return found == kRows.end() ? nullptr : &*found;
}

std::span<const ConfigKey> config_keys() {
    static const auto keys = [] {
        std::array<ConfigKey, kRows.size()> all{};
        std::transform(
            kRows.begin(), kRows.end(), all.begin(), [](const KeyRow& row) { return row.key; });
        return all;
    }();
    return keys;
}

Result<ConfigKey> find_config_key(std::string_view name) {
    constexpr std::string_view kLowerCase = "abcdefghijklmnopqrstuvwxyz";
    if (const auto* row = find_row(name)) return row->key;
    Texts names;
    names.reserve(kRows.size());
    for (const auto& row : kRows) names.emplace_back(row.key.name);
    const auto near = near_names(name, names);
    const bool is_variable =
        !name.empty() && name.find_first_of(kLowerCase) == std::string_view::npos;
    if (name == "env_prompt")  // of conda
        return fail(ErrorKind::Usage,
                    fmt::format("unknown setting '{}'", name),
                    "to keep the prompt as it is: gpkg config set changeps1 false");
    if (is_variable && near.empty())
        return fail(ErrorKind::Usage,
                    fmt::format("unknown setting '{}'", name),
                    fmt::format("for a variable of an environment: gpkg env config vars set -n "
                                "NAME {}=VALUE",
                                name));
    return fail(ErrorKind::Usage,
                fmt::format("unknown setting '{}'", name),
                did_you_mean(near, "to list the settings: gpkg config describe"));
}

Result<fs::path> folder_from(std::string_view text,
                             std::string_view where,
                             const Reading& reading) {
    GPKG_TRY(const auto path, expanded(trim(text), where, reading));
    if (path.starts_with('~') && reading.home.empty())
        return fail(ErrorKind::Usage,
                    fmt::format("{}: cannot resolve '{}': no home folder", where, path),
                    "write the path in full");
    const bool is_whole = path.starts_with('/') || path.starts_with('~') || reading.folder.empty();
    return absolute_path(is_whole ? path : (reading.folder / path).native(), reading.home);
}

std::vector<ShownSetting> settings_as_text(const Config& config) {
    ShownSetting root;
    root.key = "root_prefix";
    root.values = {config.root_prefix.value.native()};
    root.source = config.root_prefix.source;
    std::vector<ShownSetting> all{std::move(root)};
    for (const auto& row : kRows) {
        auto shown = row.show(config);
        shown.key = row.key.name;
        shown.shape = row.key.shape;
        all.push_back(std::move(shown));
    }
    return all;
}

std::string shown_value(const ConfigKey& key, std::string_view value) {
    return key.has_urls ? mask_login(value) : mask_secrets(value);
}

std::vector<ShownSetting> shown_settings(const Config& config) {
    auto all = settings_as_text(config);
    for (auto& setting : all) {
        const auto* row = find_row(setting.key);  // none for root_prefix
        const auto key = row == nullptr ? ConfigKey{} : row->key;
        for (auto& value : setting.values) value = shown_value(key, value);
        for (auto& [name, values] : setting.entries)
            for (auto& value : values) value = shown_value(key, value);
    }
    return all;
}

std::vector<std::string> variables_of(const KeyRow& row) {
    if (row.key.shape == Shape::Map) return {};
    const auto name = [](std::string_view family, std::string_view key) {
        std::string all(family);
        for (const char c : key) all += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        return all;
    };
    std::vector<std::string> names{name("GPKG_", row.key.name)};
    for (const auto conda : row.conda_names)
        if (!conda.empty()) names.push_back(name("CONDA_", conda));
    return names;
}

std::optional<ConfigKey> key_of_variable(std::string_view variable) {
    for (const auto& row : kRows) {
        const auto names = variables_of(row);
        if (std::find(names.begin(), names.end(), variable) != names.end()) return row.key;
    }
    return std::nullopt;
}

std::string_view to_string(LinkScriptPolicy policy) {
    switch (policy) {
    case LinkScriptPolicy::Run: return "run";
    case LinkScriptPolicy::Off: return "off";
    case LinkScriptPolicy::Ask: return "ask";
    case LinkScriptPolicy::List: return "list";
    }
    return "run";
}

std::string_view to_string(ChannelPriority priority) {
    switch (priority) {
    case ChannelPriority::Strict: return "strict";
    case ChannelPriority::Flexible: return "flexible";
    case ChannelPriority::Disabled: return "disabled";
    }
    return "strict";
}

}  // namespace gpkg
