#include "libcore/config/config.hpp"

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/setting_json.hpp"
#include "cli/table.hpp"
#include "cli/usage.hpp"
#include "cli/workflow/channel_rules.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/base/text.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/config/edit.hpp"
#include "libcore/net/url.hpp"
#include "libcore/trust/signing_key.hpp"
#include "virtual-packages/host.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;
using KeyAndValue = std::pair<std::string, std::string>;

/// Both ways of saying it: `gpkg config append channels x` and conda's `--append channels x`.
struct ConfigOptions {
    CLI::App* list = nullptr;
    CLI::App* get = nullptr;
    CLI::App* describe = nullptr;
    const CLI::Option* flag_describe = nullptr;
    CLI::App* set = nullptr;
    CLI::App* append = nullptr;
    CLI::App* prepend = nullptr;
    CLI::App* remove = nullptr;
    CLI::App* remove_key = nullptr;
    std::string key;
    Words values;
    bool with_sources = false;
    bool of_user = false;
    bool of_system = false;

    std::string flag_show, flag_get, flag_described, flag_remove_key;
    KeyAndValue flag_set, flag_append, flag_prepend, flag_remove;
};

/// The value that counts if a setting has none.
std::string value_if_empty(const Config& config, std::string_view key) {
    if (key == "accelerator") return "auto";
    if (key == "devices" || key == "allowlist_channels") return "all";
    if (key == "module_root") return config.modules_folder().native();
    return "none";
}

/// A row of the table for a key; of a map, one for each name, as `gpkg config set` takes it.
void add_rows(Table& table, const ShownSetting& setting, const Config& config, bool with_source) {
    auto source = with_source ? "# " + setting.source : "";
    if (with_source && !setting.overrides.empty()) source += "; overrides " + setting.overrides;
    const auto add = [&](const std::string& key, const Words& values) {
        const auto text = fmt::format("{}", fmt::join(values, ", "));
        table.add({key + ":", text.empty() ? value_if_empty(config, key) : text, source});
    };
    if (setting.entries.empty()) add(setting.key, setting.values);
    for (const auto& [name, values] : setting.entries)
        add(fmt::format("{}.{}", setting.key, name), values);
}

/// Of several lists of allowed channels only what is in all of them is allowed.
void note_allowed_by_all(Context& context) {
    const auto lists = std::ranges::count(context.config.channel_rules, true, &ChannelRule::allows);
    if (lists < 2) return;
    const auto allowed = channels_allowed_by_all(context);
    if (!allowed) return context.out.warn(allowed.error().message);
    context.out.note(
        fmt::format("allowed by all {} lists of allowlist_channels: {}",
                    lists,
                    allowed->empty() ? "no channel" : join_some(*allowed, "and", allowed->size())));
}

int list_settings(Context& context, bool with_sources) {
    const auto settings = shown_settings(context.config);
    for (const auto& line : context.config.unheeded) context.out.warn(line);
    warn_of_shared_secrets(context);
    if (context.out.json_mode()) {
        Json document;
        for (const auto& setting : settings)
            document[setting.key] =
                with_sources ? Json{{"value", setting_json(setting)}, {"source", setting.source}}
                             : setting_json(setting);
        context.out.json(document);
        return 0;
    }
    Table table;
    table.may_wrap(1);
    for (const auto& setting : settings) add_rows(table, setting, context.config, with_sources);
    context.out.result(table);
    note_allowed_by_all(context);
    const auto& ignored_keys = context.config.ignored_keys;
    if (!with_sources && !ignored_keys.empty())
        context.out.note(
            fmt::format("note: {} of conda's files {} ignored; to list them: gpkg config list "
                        "--show-sources",
                        count_text(ignored_keys.size(), "setting"),
                        ignored_keys.size() == 1 ? "is" : "are"));
    if (!with_sources) return 0;
    context.out.result("\n# files; later files override earlier ones");
    Table files;
    files.may_wrap(1);
    for (const auto& file : context.config.files)
        files.add({fmt::format("# {}", to_string(file.level)),
                   file.path.native(),
                   file.exists ? "" : "(does not exist)"});
    context.out.result(files);
    if (ignored_keys.empty()) return 0;
    context.out.result("\n# other settings in conda's files, which gpkg ignores");
    Table ignored;
    ignored.may_wrap(1);
    for (const auto& [key, place] : ignored_keys) ignored.add({"# " + key, place});
    context.out.result(ignored);
    return 0;
}

/// "custom_channels.mine" is one name of a map.
Result<int> get_setting(Context& context, const std::string& key, bool with_source) {
    auto settings = shown_settings(context.config);
    const auto name = key.substr(0, key.find('.'));
    const auto found = std::find_if(
        settings.begin(), settings.end(), [&](const auto& setting) { return setting.key == name; });
    if (found == settings.end()) {
        // conda's word for one of them, or nearly one
        GPKG_TRY(const auto known, find_config_key(name));
        return get_setting(context, std::string(known.name) + key.substr(name.size()), with_source);
    }
    if (name != key) {
        const auto entry = key.substr(name.size() + 1);
        std::erase_if(found->entries, [&](const auto& one) { return one.first != entry; });
        if (found->entries.empty())
            return fail(ErrorKind::NotFound, fmt::format("{} is not set", key));
    }
    if (context.out.json_mode()) {
        const auto setting = setting_json(*found);
        const auto value = name == key ? setting : setting.front();
        context.out.json(
            {{key, with_source ? Json{{"value", value}, {"source", found->source}} : value}});
        return 0;
    }
    for (const auto& value : found->values) context.out.verbatim(value);
    for (const auto& [entry, values] : found->entries) {
        for (const auto& value : values)
            context.out.result(name == key ? fmt::format("{}: {}", entry, value) : value);
    }
    if (with_source) context.out.result("# " + found->source);
    if (name == "allowlist_channels") note_allowed_by_all(context);
    return 0;
}

/// The setting as a list of values, without its name; "" without values.
std::string value_text(const ShownSetting& setting) {
    auto texts = setting.values;
    for (const auto& [name, values] : setting.entries)
        for (const auto& value : values) texts.push_back(fmt::format("{}: {}", name, value));
    return fmt::format("{}", fmt::join(texts, ", "));
}

const ShownSetting& setting_of(const std::vector<ShownSetting>& settings, std::string_view key) {
    return *std::ranges::find(settings, key, &ShownSetting::key);
}

/// How to set one name of a map; of other settings nothing.
std::string example_of(const ConfigKey& key) {
    if (key.shape != ConfigKey::Shape::Map) return {};
    static const std::map<std::string_view, std::string_view> examples{
        {"custom_channels", "mine https://example.com/channels"},
        {"custom_multichannels", "both conda-forge bioconda"},
        {"mirrored_channels", "conda-forge https://mirror.example.com/conda-forge"},
        {"override_virtual_packages", "cuda 12.4"},
        {"proxy_servers", "https http://proxy.example.com:3128"},
        {"trusted_keys", "https://example.com/channel KEY"},
    };
    const auto found = examples.find(key.name);
    return fmt::format(
        "gpkg config set {}.{}", key.name, found == examples.end() ? "NAME VALUE" : found->second);
}

/// What one setting means, or every one of them without a key.
Result<int> describe_settings(Context& context, const std::string& key) {
    std::vector<ConfigKey> keys(config_keys().begin(), config_keys().end());
    if (!key.empty()) {
        GPKG_TRY(const auto known, find_config_key(key.substr(0, key.find('.'))));
        keys = {known};
    }
    const auto settings = shown_settings(context.config);
    const auto defaults = shown_settings(Config{});
    if (context.out.json_mode()) {
        Json document;
        for (const auto& known : keys) {
            const auto& setting = setting_of(settings, known.name);
            document[std::string(known.name)] = {
                {"description", known.help},
                {"value", setting_json(setting)},
                {"source", setting.source},
                {"default", setting_json(setting_of(defaults, known.name))}};
        }
        context.out.json(document);
        return 0;
    }
    Table table;
    table.may_wrap(1);
    if (key.empty()) {
        for (const auto& known : keys)
            table.add({std::string(known.name), std::string(known.help)});
    } else {
        const auto& known = keys.front();
        const auto& setting = setting_of(settings, known.name);
        const auto usual = value_text(setting_of(defaults, known.name));
        context.out.result(fmt::format("{}: {}", known.name, known.help));
        if (const auto value = value_text(setting); !value.empty()) table.add({"  value:", value});
        table.add({"  set by:", setting.source});
        if (!usual.empty()) table.add({"  default:", usual});
        if (const auto example = example_of(known); !example.empty())
            table.add({"  example:", example});
    }
    context.out.result(table);
    return 0;
}

/// The settings as they are in the files now.
Result<Config> reloaded(const Context& context) {
    return load_config(
        {context.env, context.home, virtual_packages::this_machine().native_platform});
}

/// The file that is edited.
ConfigLevel level_of(const ConfigOptions& options) {
    if (options.of_user) return ConfigLevel::User;
    return options.of_system ? ConfigLevel::System : ConfigLevel::RootPrefix;
}

ConfigTarget file_to_edit(const Context& context, const ConfigOptions& options) {
    return {context.config, context.config.file_of(level_of(options)), context.env};
}

/// What wins over the edited file has not been asked to.
void warn_of_winner(Context& context, const ConfigTarget& target, const std::string& key) {
    const auto& config = context.config;
    const auto edited = std::find_if(config.files.begin(), config.files.end(), [&](const auto& f) {
        return f.path == target.file && f.level != ConfigLevel::Conda;
    });
    for (const auto& setting : shown_settings(config)) {
        if (setting.key != key.substr(0, key.find('.')) || setting.source == "default") continue;
        const auto said_in =
            std::find_if(config.files.begin(), config.files.end(), [&](const auto& f) {
                return setting.source.starts_with(f.path.native() + ":");
            });
        if (said_in == config.files.end() || said_in > edited)
            context.out.warn(fmt::format("{}: overridden by {}", key, setting.source));
    }
}

/// Lists of allowed channels do not add up.
void warn_of_other_lists(Context& context, const ConfigTarget& target, const std::string& key) {
    if (key != "allowlist_channels") return;
    for (const auto& rule : context.config.channel_rules) {
        if (rule.allows && !rule.source.starts_with(target.file.native() + ":"))
            context.out.warn(fmt::format(
                "{}: only channels that are also in the list in {} are allowed", key, rule.source));
    }
}

/// A shorter list of denied channels allows nothing that another file denies.
void warn_of_denied(Context& context, const ConfigTarget& target, const std::string& key) {
    if (key != "denylist_channels") return;
    for (const auto& rule : context.config.channel_rules) {
        if (!rule.allows && !rule.source.starts_with(target.file.native() + ":"))
            context.out.warn(
                fmt::format("{}: the channels in the list in {} stay denied", key, rule.source));
    }
}

/// Paths are kept absolute: the file must mean the same from every folder.
std::string settled(const Context& context, const std::string& key, const std::string& value) {
    const bool is_path = value.starts_with('.') || value.starts_with('~');
    const bool takes_paths = key.find("channels") != std::string::npos || key.ends_with("_dir") ||
                             key.ends_with("_dirs") || key == "ssl_verify";
    const bool is_root = key.starts_with("trusted_keys.") && !is_public_key(value);
    return (is_path && takes_paths) || is_root ? absolute_path(value, context.home).native()
                                               : value;
}

/// "a,b" for two channels: names of channels have no commas.
Result<void> check_channel_names(const std::string& key, const Words& values) {
    if (key != "channels" && key != "default_channels") return {};
    for (const auto& value : values) {
        if (value.find(',') == std::string::npos || value.find_first_of("/[") != std::string::npos)
            continue;
        std::vector<std::string> names;
        for (const auto part : split(value, ',')) {
            if (!trim(part).empty()) names.emplace_back(trim(part));
        }
        return fail(
            ErrorKind::Usage,
            fmt::format("{}: '{}' is not a channel name: it contains ','", key, value),
            fmt::format(
                "separate values with spaces: gpkg config set {} {}", key, shell_words(names)));
    }
    return {};
}

/// conda's "__cuda" as "cuda": one name for each virtual package.
std::string without_underscores(std::string key) {
    constexpr std::string_view kMap = "override_virtual_packages.";
    if (key.starts_with(kMap) && key.substr(kMap.size()).starts_with("__"))
        key.erase(kMap.size(), 2);
    return key;
}

/// What could never be trusted is refused when it is set, not by the next command.
Result<void> check_keys(const std::string& key, const Words& values) {
    constexpr std::string_view kMap = "trusted_keys.";
    if (!key.starts_with(kMap)) return {};
    if (const auto channel = key.substr(kMap.size()); channel.starts_with('.'))
        return fail(ErrorKind::Usage,
                    fmt::format("{}: '{}' is another folder for each working folder", key, channel),
                    fmt::format("name the channel by its URL: {}file://{}",
                                kMap,
                                fs::absolute(channel).lexically_normal().native()));
    for (const auto& value : values) {
        std::error_code code;
        if (!is_public_key(value) && !fs::exists(value, code))
            return fail(
                ErrorKind::Usage,
                fmt::format(
                    "{}: '{}' is neither a public key (64 hex digits) nor the file of a root",
                    key,
                    value),
                "gpkg keys show FILE prints the public key of a private key");
    }
    return {};
}

/// A value that the user gave for a setting, without secrets.
std::string shown_value_of(const std::string& key, const std::string& value) {
    const auto known = find_config_key(key.substr(0, key.find('.')));
    return shown_value(known ? *known : ConfigKey{}, value);
}

/// Whether the file is the user's, in the home folder: not one that a site's users share.
bool is_own_file(const Context& context, const fs::path& file) {
    struct stat status {};
    return file.native().starts_with(context.home.native() + "/") &&
           ::stat(file.c_str(), &status) == 0 && status.st_uid == ::geteuid();
}

/// A password in a file that others can read: takes their permission away, or warns.
void protect_secrets(Context& context,
                     const fs::path& file,
                     const std::string& key,
                     const Words& values) {
    std::error_code code;
    const auto mode = fs::status(file, code).permissions();
    const bool is_shared =
        (mode & (fs::perms::group_read | fs::perms::others_read)) != fs::perms::none;
    const bool is_secret = std::any_of(values.begin(), values.end(), [&](const auto& value) {
        return shown_value_of(key, value) != value;
    });
    if (!is_shared || !is_secret) return;
    if (is_own_file(context, file)) {
        fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write, code);
        if (!code)
            return context.out.note(
                fmt::format("{}: contains a password; other users cannot read it any more (mode "
                            "600)",
                            file.native()));
    }
    context.out.warn_once(shared_secret_text(file));
}

void warn_of_missing_folders(Context& context, const std::string& key, const Words& values) {
    if (key != "channels") return;
    for (const auto& value : values) {
        std::error_code code;
        const auto folder =
            value.starts_with("file://") ? path_of_file_url(value) : fs::path(value);
        if (folder && folder->is_absolute() && !fs::exists(*folder, code))
            context.out.warn(fmt::format("channels: no folder at {}", folder->native()));
        if (folder && folder->is_relative() && !has_scheme(value) && fs::is_directory(value, code))
            context.out.warn(fmt::format(
                "channels: {0} is taken as the name of a channel; for the folder: ./{0}", value));
    }
}

int done(Context& context,
         const ConfigTarget& target,
         const std::string& key,
         bool changed,
         const std::string& what) {
    if (changed) warn_of_winner(context, target, key);
    if (context.out.json_mode())
        context.out.json({{"success", true}, {"changed", changed}, {"file", target.file.native()}});
    else
        context.out.print(fmt::format("{}: {}", target.file.native(), what));
    return 0;
}

/// Values as people may see them.
std::string told(const std::string& key, const Words& values) {
    Words texts;
    texts.reserve(values.size());
    for (const auto& value : values) texts.push_back(shown_value_of(key, value));
    return fmt::format("{}", fmt::join(texts, ", "));
}

class Edit {
public:
    Edit(Context& context, const ConfigOptions& options)
        : context_(context), target_(file_to_edit(context, options)) {}

    Result<int> set(const std::string& key, Words values) {
        for (auto& value : values) value = settled(context_, key, value);
        GPKG_CHECK(check_channel_names(key, values));
        GPKG_CHECK(check_keys(key, values));
        std::error_code ignored;
        if (key == "ssl_verify" && values.size() == 1 && values.front().starts_with('/') &&
            values.front().find('$') == std::string::npos && !fs::exists(values.front(), ignored))
            return fail(ErrorKind::Usage,
                        fmt::format("ssl_verify: no such file: {}", values.front()),
                        "ssl_verify takes true, false, or a file or folder of certificates");
        GPKG_CHECK(set_config(target_, key, values));
        warn_of_denied(context_, target_, key);
        warn_of_other_lists(context_, target_, key);
        protect_secrets(context_, target_.file, key, values);
        warn_of_missing_folders(context_, key, values);
        return done(
            context_, target_, key, true, fmt::format("set {} to {}", key, told(key, values)));
    }

    Result<int> add(const std::string& key, Words values, ListEnd end) {
        bool changed = false;
        const auto copied_from = other_source(key);
        for (auto& value : values) value = settled(context_, key, value);
        GPKG_CHECK(check_channel_names(key, values));
        GPKG_CHECK(check_keys(key, values));
        // Of several values in front the first named stands first.
        if (end == ListEnd::Front) std::reverse(values.begin(), values.end());
        for (const auto& value : values) {
            GPKG_TRY(const bool added, add_to_config(target_, key, value, end));
            changed = changed || added;
        }
        if (changed) protect_secrets(context_, target_.file, key, values);
        if (changed) warn_of_other_lists(context_, target_, key);
        if (changed) warn_of_missing_folders(context_, key, values);
        if (changed && !copied_from.empty())
            context_.out.note(fmt::format(
                "{} now has a copy of the values from {}; later changes there have no effect",
                target_.file.native(),
                copied_from));
        return done(context_,
                    target_,
                    key,
                    changed,
                    changed ? fmt::format("{} added to {}{}",
                                          told(key, values),
                                          end == ListEnd::Front ? "the front of " : "",
                                          key)
                            : fmt::format("{} is already in {}", told(key, values), key));
    }

    Result<int> remove(const std::string& key, const Words& values) {
        const auto shown = [&](std::string_view one) {
            return shown_value_of(key, std::string(one));
        };
        for (const auto& value : values) {
            auto removed = remove_from_config(target_, key, value);
            if (!removed && removed.error().kind == ErrorKind::NotFound)
                removed = remove_from_config(target_, key, settled(context_, key, value), shown);
            if (!removed && removed.error().kind == ErrorKind::NotFound && key == "channels")
                name_with_login(value, removed.error());
            GPKG_CHECK(removed);
        }
        tell_if_empty(key);
        return done(context_,
                    target_,
                    key,
                    true,
                    fmt::format("{} removed from {}", told(key, values), key));
    }

    Result<int> unset(const std::string& key) {
        auto removed = unset_config(target_, key);
        if (!removed && removed.error().kind == ErrorKind::NotFound)
            name_other_file(key, removed.error());
        GPKG_CHECK(removed);
        warn_of_denied(context_, target_, key);
        // Removing a key may be what mends a configuration that cannot be loaded.
        const auto now = reloaded(context_);
        const auto settings = now ? shown_settings(*now) : std::vector<ShownSetting>();
        const auto setting = std::ranges::find(settings, key, &ShownSetting::key);
        if (setting == settings.end())  // or one entry of a map
            return done(context_, target_, key, true, fmt::format("{} removed", key));
        const auto value = value_text(*setting);
        return done(
            context_,
            target_,
            key,
            true,
            fmt::format("{} removed; now {}, {}",
                        key,
                        value.empty() ? "not set" : value,
                        setting->source == "default" ? "the default" : "from " + setting->source));
    }

private:
    /// "--user": how commands name the file; "" for the file that is edited without an option.
    std::string option_of(const fs::path& file) const {
        if (file == context_.config.file_of(ConfigLevel::User)) return "--user";
        return file == context_.config.file_of(ConfigLevel::System) ? "--system" : "";
    }

    /// Of a setting, or an entry of a map, that another file than the edited one has.
    void name_other_file(const std::string& key, Error& error) const {
        const auto dot = std::min(key.find('.'), key.size());
        const auto settings = shown_settings(context_.config);
        const auto setting = std::ranges::find(settings, key.substr(0, dot), &ShownSetting::key);
        if (setting == settings.end() || setting->source == "default") return;
        const auto is_meant = [&](const auto& entry) { return entry.first == key.substr(dot + 1); };
        if (dot < key.size() && std::ranges::none_of(setting->entries, is_meant)) return;
        error.hint = "it is set by " + setting->source;
        for (const auto& file : context_.config.files) {
            if (!setting->source.starts_with(file.path.native() + ":")) continue;
            error.hint = "it is set in " + setting->source;
            if (file.level == ConfigLevel::Conda) continue;
            const auto option = option_of(file.path);
            error.hint += option.empty() ? ": leave out --user or --system" : ": add " + option;
        }
    }

    /// An empty list is not the default.
    void tell_if_empty(const std::string& key) const {
        const auto now = reloaded(context_);
        if (!now) return;
        const auto settings = shown_settings(*now);
        const auto setting = std::ranges::find(settings, key, &ShownSetting::key);
        if (setting == settings.end() || !value_text(*setting).empty() ||
            !setting->source.starts_with(target_.file.native() + ":"))
            return;
        auto option = option_of(target_.file);
        if (!option.empty()) option += ' ';
        context_.out.note(
            fmt::format("{0} is now an empty list; to return to the default: gpkg config "
                        "remove-key {1}{0}",
                        key,
                        option));
    }

    /// Of a channel that is configured with a login or token, and was named without.
    void name_with_login(const std::string& value, Error& error) const {
        for (const auto& channel : context_.config.channels.value) {
            if (channel != value && without_secrets(channel) == value)
                error.hint = fmt::format("did you mean {}?",
                                         shell_word(shown_value_of("channels", channel)));
        }
    }

    /// Where a list comes from that the edited file does not have; "" for its default.
    std::string other_source(const std::string& key) const {
        if (key == "allowlist_channels" || key == "denylist_channels") return "";
        const auto& config = context_.config.by_files ? *context_.config.by_files : context_.config;
        const auto settings = shown_settings(config);
        const auto setting = std::ranges::find(settings, key, &ShownSetting::key);
        const bool is_elsewhere = setting != settings.end() && setting->source != "default" &&
                                  !setting->source.starts_with(target_.file.native() + ":");
        return is_elsewhere ? setting->source : "";
    }

    Context& context_;
    ConfigTarget target_;
};

/// All settings, or the one that was named.
Result<int> show_settings(Context& context, const std::string& key, bool with_sources) {
    return key.empty() ? Result<int>(list_settings(context, with_sources))
                       : get_setting(context, key, with_sources);
}

/// "[]" is the empty list, which CLI11 reads as no value at all.
Result<Words> values_to_set(const Context& context, const ConfigOptions& options) {
    if (!options.values.empty()) return options.values;
    const auto& words = context.arguments;
    if (std::ranges::find(words, "[]") != words.end()) return Words{"[]"};
    return missing_argument(*options.set, "VALUE");
}

Result<int> run_config(Context& context, const ConfigOptions& options) {
    if (*options.list) return show_settings(context, options.key, options.with_sources);
    if (*options.get) return get_setting(context, options.key, options.with_sources);
    if (*options.describe) return describe_settings(context, options.key);
    Edit edit(context, options);
    if (*options.set) {
        GPKG_TRY(auto values, values_to_set(context, options));
        return edit.set(without_underscores(options.key), std::move(values));
    }
    if (*options.append) return edit.add(options.key, options.values, ListEnd::Back);
    if (*options.prepend) return edit.add(options.key, options.values, ListEnd::Front);
    if (*options.remove) return edit.remove(options.key, options.values);
    if (*options.remove_key) return edit.unset(options.key);

    if (options.flag_describe->count() > 0)
        return describe_settings(context, options.flag_described);
    if (!options.flag_get.empty())
        return get_setting(context, options.flag_get, options.with_sources);
    if (const auto& [key, value] = options.flag_set; !key.empty())
        return edit.set(without_underscores(key), {value});
    if (const auto& [key, value] = options.flag_append; !key.empty())
        return edit.add(key, {value}, ListEnd::Back);
    if (const auto& [key, value] = options.flag_prepend; !key.empty())
        return edit.add(key, {value}, ListEnd::Front);
    if (const auto& [key, value] = options.flag_remove; !key.empty())
        return edit.remove(key, {value});
    if (!options.flag_remove_key.empty()) return edit.unset(options.flag_remove_key);
    return show_settings(context, options.flag_show, options.with_sources);
}

void add_verbs(CLI::App& app, ConfigOptions& options) {
    const auto verb = [&](const char* name, const char* help, const char* examples) {
        auto* sub = app.add_subcommand(name, help);
        sub->footer(examples);
        sub->fallthrough();  // --json and --user after the verb
        return sub;
    };
    const auto key = [&](CLI::App* sub) {
        sub->add_option("key", options.key, "name of the setting")->required()->type_name("KEY");
        return sub;
    };
    options.list =
        verb("list", "show every setting", "  gpkg config list\n  gpkg config list --show-sources");
    options.list->add_option("key", options.key, "show only this setting")->type_name("KEY");
    options.list->add_flag("--sources,--show-sources",
                           options.with_sources,
                           "also show where each setting comes from");
    options.get = key(verb("get",
                           "show one setting",
                           "  gpkg config get channels\n  gpkg config get channels "
                           "--show-sources"));
    options.get->add_flag(
        "--sources,--show-sources", options.with_sources, "also show where the setting comes from");
    options.describe = verb("describe",
                            "show what a setting means; without KEY, every setting",
                            "  gpkg config describe\n  gpkg config describe always_yes");
    options.describe->add_option("key", options.key, "name of the setting")->type_name("KEY");
    options.set = key(
        verb("set",
             "set a value or a whole list",
             "  gpkg config set channel_priority flexible\n  gpkg config set channels conda-forge "
             "bioconda\n  gpkg config set --user custom_channels.mine https://host/conda"));
    options.append = key(verb(
        "append", "add values to the end of a list", "  gpkg config append channels bioconda"));
    options.prepend = key(verb(
        "prepend", "add values to the start of a list", "  gpkg config prepend channels bioconda"));
    options.set
        ->add_option("values", options.values, "value, or values of the list; [] is the empty list")
        ->type_name("VALUE");
    for (auto* sub : {options.append, options.prepend})
        sub->add_option("values", options.values, "values to add")->required()->type_name("VALUE");
    options.remove =
        key(verb("remove", "remove values from a list", "  gpkg config remove channels bioconda"));
    options.remove->add_option("values", options.values, "values to remove")
        ->required()
        ->type_name("VALUE");
    options.remove_key = key(verb("remove-key",
                                  "remove a setting from the file",
                                  "  gpkg config remove-key channel_priority\n  gpkg config "
                                  "remove-key custom_channels.mine  # one entry of a map"));
    for (const auto* sub :
         {options.set, options.append, options.prepend, options.remove, options.remove_key})
        set_effect(*sub, Effect::Changes);
}

void add_flags(CLI::App& app, ConfigOptions& options) {
    auto* group = app.add_option_group("conda's spelling");
    group->require_option(0, 1);
    const auto pair = [&](const char* names, KeyAndValue& words, const char* help) {
        set_effect(*group->add_option(names, words, help)->type_name("KEY VALUE"), Effect::Changes);
    };
    group->add_option("--show", options.flag_show, "same as list; with KEY, same as get")
        ->type_name("KEY")
        ->expected(0, 1);
    group->add_option("--get", options.flag_get, "same as get")->type_name("KEY");
    options.flag_describe =
        group->add_option("--describe", options.flag_described, "same as describe")
            ->type_name("KEY")
            ->expected(0, 1);
    pair("--set", options.flag_set, "same as set");
    pair("--append", options.flag_append, "same as append");
    pair("--add,--prepend", options.flag_prepend, "same as prepend");
    pair("--remove", options.flag_remove, "same as remove");
    auto* remove_key =
        group->add_option("--remove-key", options.flag_remove_key, "same as remove-key")
            ->type_name("KEY");
    set_effect(*remove_key, Effect::Changes);
    app.add_flag(
        "--sources,--show-sources", options.with_sources, "also show where settings come from");
    auto* user = app.add_flag(
        "--user", options.of_user, "edit the user's file (~/.config/gpkg/config.yaml)");
    app.add_flag("--system",
                 options.of_system,
                 "edit the system's file (GPKG_SYSTEM_CONFIG or /etc/gpkg/config.yaml)")
        ->excludes(user);
}

}  // namespace

Action bind_config(CLI::App& app) {
    const auto options = std::make_shared<ConfigOptions>();
    add_verbs(app, *options);
    add_flags(app, *options);
    app.require_subcommand(0, 1);
    app.footer(
        "Shows settings and changes them in config.yaml of the root prefix, or with --user or "
        "--system in another file.\n\n"
        "  gpkg config describe             # all settings and their meaning\n"
        "  gpkg config list --show-sources  # their values\n"
        "  gpkg config prepend channels https://host/mine\n"
        "  gpkg config set --user custom_channels.mine https://host/conda");

    return [options](Context& context) { return run_config(context, *options); };
}

}  // namespace gpkg::cli
