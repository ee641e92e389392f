// `info`: settings, paths and virtual packages. `info --report` adds what a bug report needs. Both
// are for the moment when something is broken: a part that fails has its error as its content.

#include "cli/command.hpp"
#include "cli/command_log.hpp"
#include "cli/commands/info_environment.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/setting_json.hpp"
#include "cli/table.hpp"
#include "cli/version.hpp"
#include "cli/workflow/channel_rules.hpp"
#include "cli/workflow/settings.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/base/text.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/room.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/fs/file_system.hpp"
#include "libcore/net/url.hpp"
#include "libcore/process/process.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sys/utsname.h>
#include <unistd.h>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InfoOptions {
    TargetOptions target;
    bool environments = false;
    bool base = false;
    bool report = false;
};

struct Place {
    std::string what;  ///< "root prefix, package store"
    fs::path path;
    Room room;
};

struct Facts {
    std::string active;  ///< path; empty: none
    std::string active_name;
    Result<std::vector<std::string>> channel_urls;
    Result<std::vector<PackageRecord>> virtual_packages;
    bool root_writable = false;
    std::vector<Place> places;
};

/// A quota program that has not answered by then is not waited for.
constexpr auto kPatience = std::chrono::seconds(2);

/// The room at the places that gpkg fills. Of several on one file system the first stands for all.
std::vector<Place> places_of(const Config& config) {
    std::vector<std::pair<std::string, fs::path>> wanted = {
        {"root prefix", config.root_prefix.value}, {"package store", config.package_store()}};
    if (!config.envs_dirs.value.empty())
        wanted.emplace_back("environments", config.envs_dirs.value.front());
    std::vector<Place> places;
    for (const auto& [what, path] : wanted) {
        const auto mount_point = file_system_of(path).mount_point;
        const auto same = std::find_if(places.begin(), places.end(), [&](const Place& place) {
            return place.room.system.mount_point == mount_point;
        });
        if (same != places.end()) {
            same->what += ", " + what;
            continue;
        }
        if (auto room = room_at(path, ask_within(kPatience)))
            places.push_back({what, path, *std::move(room)});
    }
    return places;
}

Json place_document(const Place& place) {
    const auto& room = place.room;
    const auto limit = [](const QuotaLimit& one) {
        return Json{{"used", one.used},
                    {"limit", one.limit == 0 ? Json() : Json(one.limit)},
                    {"soft_limit", one.soft == 0 ? Json() : Json(one.soft)}};
    };
    Json json;
    json["path"] = place.path.native();
    json["mount_point"] = room.system.mount_point.native();
    json["type"] = room.system.type;
    json["name"] = room.system.title;
    json["shared"] = room.system.is_shared;
    json["free_bytes"] = room.free_bytes;
    json["free_files"] = room.free_files ? Json(*room.free_files) : Json();
    json["quotas"] = Json::array();
    for (const auto& quota : room.quotas)
        json["quotas"].push_back(
            {{"whose", quota.whose}, {"bytes", limit(quota.bytes)}, {"files", limit(quota.files)}});
    json["quotas_known"] = room.trouble.empty();
    return json;
}

/// "Lustre (network) at /scratch: 1.2 TB free; quota of user alice: 9.5 GB of 10 GB"
std::string place_text(const Place& place) {
    const auto& room = place.room;
    auto text = fmt::format("{}{} at {}: {} free",
                            room.system.title,
                            room.system.is_shared ? " (network)" : "",
                            room.system.mount_point.native(),
                            human_size(room.free_bytes));
    if (room.free_files) text += fmt::format(", {} files free", with_thousands(*room.free_files));
    for (const auto& quota : room.quotas) text += "; quota of " + quota_text(quota);
    if (!room.trouble.empty()) text += fmt::format("; quotas unknown: {}", room.trouble);
    return text;
}

Result<std::vector<std::string>> channel_urls(const Context& context) {
    const auto& config = context.config;
    GPKG_TRY(const auto channels, parse_channels(config.channels.value, channel_context(context)));
    std::vector<std::string> urls;
    for (const auto& channel : channels) {
        for (const auto& subdir : subdirs_for(config.platform.value))
            urls.push_back(mask_secrets(channel.with_credentials(channel.subdir_url(subdir))));
    }
    return urls;
}

Facts gather(Context& context) {
    const auto& config = context.config;
    Facts facts;
    facts.active = context.env("CONDA_PREFIX").value_or("");
    if (!facts.active.empty())
        facts.active_name = environment_folders(config).name_of(facts.active);
    facts.channel_urls = channel_urls(context);
    Machine machine;
    machine.platform = config.platform.value;
    facts.virtual_packages = detected_packages(context, machine);
    facts.root_writable = check_writable_folder(config.root_prefix.value).has_value();
    facts.places = places_of(config);
    return facts;
}

/// Variables that change what gpkg does. Values are shown of those that cannot hold a secret;
/// gpkg's own are known by the setting they are for.
std::vector<std::pair<std::string, std::string>> steering_variables() {
    constexpr auto kShown = std::to_array<std::string_view>({"CONDARC",
                                                             "CONDA_DEFAULT_ENV",
                                                             "CONDA_PREFIX",
                                                             "CONDA_SHLVL",
                                                             "GPKG_CREDENTIALS",
                                                             "GPKG_ROOT_PREFIX",
                                                             "GPKG_SYSTEM_CONFIG",
                                                             "NETRC",
                                                             "NO_COLOR"});
    constexpr auto kHidden = std::to_array<std::string_view>(
        {"ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy"});
    const auto is_among = [](const auto& names, const std::string& name) {
        return std::ranges::find(names, name) != names.end();
    };
    std::vector<std::pair<std::string, std::string>> found;
    for (const auto& [name, value] : current_environment()) {
        const auto key = key_of_variable(name);
        if (key || name.starts_with(kOverrides) || is_among(kShown, name))
            found.emplace_back(name, shown_value(key.value_or(ConfigKey{}), value));
        else if (name.starts_with("GPKG_") || is_among(kHidden, name))
            found.emplace_back(name, "<set>");
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// What somebody set, and is not shown otherwise.
std::vector<ShownSetting> other_settings(const Config& config) {
    const std::set<std::string, std::less<>> shown = {"root_prefix",
                                                      "channels",
                                                      "channel_priority",
                                                      "allowlist_channels",
                                                      "denylist_channels",
                                                      "envs_dirs"};
    auto settings = shown_settings(config);
    std::erase_if(settings, [&](const ShownSetting& setting) {
        const bool is_set =
            setting.source != "default" && setting.source != config.root_prefix.source;
        const bool is_empty_map = setting.shape == ConfigKey::Shape::Map && setting.entries.empty();
        return !is_set || is_empty_map || shown.contains(setting.key);
    });
    return settings;
}

/// What is wrong with a folder of others that is read: a slip of the pen, or its mode.
std::string folder_state(const fs::path& folder) {
    std::error_code code;
    if (!fs::exists(folder, code))
        return code == std::errc::permission_denied ? " (no permission to read)"
                                                    : " (does not exist)";
    return ::access(folder.c_str(), R_OK | X_OK) == 0 ? "" : " (no permission to read)";
}

/// "mirrored_channels: conda-forge: https://mirror (/etc/gpkg/config.yaml:4:1)"
std::string setting_text(const ShownSetting& setting) {
    constexpr std::string_view kFolders[] = {"store_layers", "profile_folders", "conda_pkgs_dirs"};
    const bool are_folders =
        std::find(std::begin(kFolders), std::end(kFolders), setting.key) != std::end(kFolders);
    std::vector<std::string> texts;
    for (const auto& value : setting.values)
        texts.push_back(value + (are_folders ? folder_state(value) : ""));
    for (const auto& [name, list] : setting.entries) {
        for (const auto& value : list) texts.push_back(fmt::format("{}: {}", name, value));
    }
    return fmt::format("{}: {} ({})", setting.key, fmt::join(texts, ", "), setting.source);
}

std::string error_text(const Error& error) {
    return fmt::format("error: {}", hide_secrets(error.message));
}

/// Errors of the parts that could not be found out.
std::vector<std::string> errors_of(const Facts& facts) {
    std::vector<std::string> errors;
    if (!facts.channel_urls) errors.push_back(hide_secrets(facts.channel_urls.error().message));
    if (!facts.virtual_packages)
        errors.push_back(hide_secrets(facts.virtual_packages.error().message));
    return errors;
}

/// "Debian GNU/Linux 12 (bookworm)"
std::string distribution() {
    const auto text = read_file("/etc/os-release");
    if (!text) return "unknown";
    for (const auto line : split(*text, '\n')) {
        constexpr std::string_view kName = "PRETTY_NAME=";
        if (!line.starts_with(kName)) continue;
        auto name = std::string(line.substr(kName.size()));
        std::erase(name, '"');
        return name;
    }
    return "unknown";
}

std::string kernel() {
    struct utsname names {};
    return ::uname(&names) == 0 ? fmt::format("{}/{}", names.sysname, names.release) : "unknown";
}

Json document(const Context& context, const Facts& facts) {
    const auto& config = context.config;
    const auto root = config.root_prefix.value.native();
    Json json;
    json["gpkg_version"] = GPKG_VERSION;
    json["platform"] = config.platform.value;
    json["active_prefix"] = facts.active.empty() ? Json() : Json(facts.active);
    json["active_prefix_name"] = facts.active.empty() ? Json() : Json(facts.active_name);
    json["default_prefix"] = facts.active.empty() ? root : facts.active;
    json["root_prefix"] = root;
    json["conda_prefix"] = root;
    json["root_writable"] = facts.root_writable;
    json["envs_dirs"] = Json::array();
    for (const auto& folder : config.envs_dirs.value) json["envs_dirs"].push_back(folder.native());
    json["pkgs_dirs"] = {config.package_store().native()};
    json["file_systems"] = Json::array();
    for (const auto& place : facts.places) json["file_systems"].push_back(place_document(place));
    json["rc_path"] = config.file.native();
    json["user_rc_path"] = config.file_of(ConfigLevel::User).native();
    json["config_files"] = Json::array();
    for (const auto& file : config.files) {
        if (file.exists) json["config_files"].push_back(file.path.native());
    }
    json["config_errors"] = Json::array();
    for (const auto& error : config.errors)
        json["config_errors"].push_back(hide_secrets(error.message));
    json["channels"] = facts.channel_urls ? Json(*facts.channel_urls) : Json::array();
    json["channel_rules"] = Json::array();
    for (const auto& rule : config.channel_rules)
        json["channel_rules"].push_back(
            {{"allows", rule.allows}, {"channels", named_in(rule)}, {"source", rule.source}});
    json["channel_priority"] = to_string(config.channel_priority.value);
    json["settings"] = Json::object();
    for (const auto& setting : other_settings(config))
        json["settings"][setting.key] = {{"value", setting_json(setting)},
                                         {"source", setting.source}};
    json["virtual_pkgs"] = Json::array();
    if (facts.virtual_packages) {
        for (const auto& record : *facts.virtual_packages)
            json["virtual_pkgs"].push_back({record.name, record.version, record.build});
    }
    json["errors"] = Json::array();
    for (const auto& text : errors_of(facts)) json["errors"].push_back(text);
    json["env_vars"] = Json::object();
    for (const auto& [name, value] : steering_variables()) json["env_vars"][name] = value;
    json["netrc_file"] = context.env("NETRC") ? Json(*context.env("NETRC")) : Json();
    json["user_agent"] = "gpkg/" GPKG_VERSION;
    json["UID"] = ::getuid();
    json["GID"] = ::getgid();
    add_environments(json, context);
    return json;
}

void print_last_commands(const Context& context) {
    constexpr std::ptrdiff_t kMostCommands = 10;
    auto entries = logged_commands(context.config);
    if (std::ssize(entries) > kMostCommands)
        entries.erase(entries.begin(), entries.end() - kMostCommands);
    auto& out = context.out;
    out.result("\nlast commands that changed something or failed:");
    for (const auto& entry : entries) {
        const auto outcome = outcome_of(entry);
        out.result(fmt::format("  {} ({}) {}",
                               entry.time,
                               outcome.empty() ? "exit status 0" : outcome,
                               entry.command));
        for (const auto line : split(entry.error, '\n'))
            if (!line.empty()) out.result(fmt::format("    {}", line));
    }
    if (entries.empty()) out.result("  none");
}

void print(const Context& context, const Facts& facts, bool is_report) {
    const auto& config = context.config;
    Table table({0});
    table.may_wrap(1);
    const auto row = [&](const char* name, std::string value) {
        table.add({name, ": " + std::move(value)});
    };
    const auto rows = [&](const char* name, const std::vector<std::string>& values) {
        for (std::size_t i = 0; i < values.size(); ++i)
            table.add({i == 0 ? name : "", (i == 0 ? ": " : "  ") + values[i]});
    };
    std::error_code ignored;
    row("gpkg version", GPKG_VERSION);
    if (is_report) row("gpkg commit", commit().empty() ? "unknown" : std::string(commit()));
    row("platform", config.platform.value);
    row("system", kernel());
    if (is_report) row("distribution", distribution());
    row("active environment", facts.active.empty() ? "none" : facts.active_name);
    if (!facts.active.empty()) row("active prefix", facts.active);
    row("root prefix",
        fmt::format("{} ({})",
                    config.root_prefix.value.native(),
                    facts.root_writable ? "writable" : "read only"));
    std::vector<std::string> files;
    for (const auto& file : config.files) {
        if (file.exists || file.path == config.file)
            files.push_back(file.path.native() + (file.exists ? "" : " (does not exist)"));
    }
    rows("config files", files);
    std::vector<std::string> invalid;
    for (const auto& error : config.errors) invalid.push_back(error_text(error));
    rows("invalid settings", invalid);
    row("package store", config.package_store().native());
    row("index cache", config.index_cache().native());
    std::vector<std::string> envs;
    for (const auto& folder : config.envs_dirs.value) envs.push_back(folder.native());
    rows("environments", envs);
    std::vector<std::string> places;
    for (const auto& place : facts.places)
        places.push_back(facts.places.size() == 1
                             ? place_text(place)
                             : fmt::format("{}: {}", place.what, place_text(place)));
    rows("file systems", places);
    if (facts.channel_urls)
        rows("channels", *facts.channel_urls);
    else
        row("channels", error_text(facts.channel_urls.error()));
    for (const auto& rule : config.channel_rules)
        row(rule.allows ? "channels allowed" : "channels denied",
            fmt::format("{} ({})", fmt::join(named_in(rule), ", "), rule.source));
    row("channel priority", std::string(to_string(config.channel_priority.value)));
    std::vector<std::string> settings;
    for (const auto& setting : other_settings(config)) settings.push_back(setting_text(setting));
    rows("settings", settings);
    std::vector<std::string> packages;
    if (!facts.virtual_packages) packages.push_back(error_text(facts.virtual_packages.error()));
    for (const auto& record : facts.virtual_packages.value_or(std::vector<PackageRecord>()))
        packages.push_back(fmt::format("{}={}={}", record.name, record.version, record.build));
    rows("virtual packages", packages);
    std::vector<std::string> variables;
    for (const auto& [name, value] : steering_variables())
        variables.push_back(fmt::format("{}={}", name, value));
    rows("variables", variables);
    context.out.result(table);
    if (!is_report) return;
    print_last_commands(context);
    context.out.note(
        "known forms of passwords and tokens are hidden; read the report before you share it");
}

Result<int> info(Context& context, const InfoOptions& options) {
    auto& out = context.out;
    if (options.base) {
        const auto root = context.config.root_prefix.value.native();
        if (out.json_mode())
            out.json({{"root_prefix", root}});
        else
            out.verbatim(root);
        return 0;
    }
    if (options.environments) {
        print_environments(context);
        return 0;
    }
    std::optional<EnvironmentFacts> environment;
    if (!options.target.name.empty() || !options.target.prefix.empty()) {
        GPKG_TRY(const auto prefix, existing_prefix(context, options.target));
        GPKG_TRY(environment, environment_facts(prefix));
        if (!out.json_mode()) {
            print_environment(context, *environment);
            return 0;
        }
    }
    const auto facts = gather(context);
    warn_of_shared_secrets(context);
    if (out.json_mode()) {
        auto json = document(context, facts);
        if (environment) json["environment"] = environment_document(context, *environment);
        out.json(json);
    } else {
        print(context, facts, options.report);
    }
    return 0;
}

}  // namespace

Action bind_info(CLI::App& app) {
    const auto options = std::make_shared<InfoOptions>();
    add_target_options(app, options->target);
    auto* environments = app.add_flag("-e,--envs", options->environments, "list the environments");
    app.add_flag("--base", options->base, "print the path of the root prefix")
        ->excludes(environments);
    app.add_flag("--report", options->report, "print what a bug report needs, without secrets")
        ->excludes("--json");
    for (const auto* flag : {"--envs", "--base", "--report"}) {
        for (const auto* target : {"--name", "--prefix"})
            app.get_option(flag)->excludes(app.get_option(target));
    }
    app.footer(
        "Shows the folders gpkg uses, its channels and settings, and the virtual packages of this "
        "machine. With -n or -p, shows an environment: its accelerator, pins and channels.\n\n"
        "  gpkg info\n"
        "  gpkg info -n ml\n"
        "  gpkg info --json\n  gpkg info --report  # for a bug report");

    return [options](Context& context) { return info(context, *options); };
}

}  // namespace gpkg::cli
