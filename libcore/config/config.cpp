#include "libcore/config/config.hpp"

#include "libcore/base/text.hpp"
#include "libcore/config/config_file_internal.hpp"

#include <fmt/format.h>

namespace gpkg {
namespace {

/// A variable that is set to nothing counts as not set.
std::optional<std::string> variable(const ConfigSources& sources, std::string_view name) {
    auto value = sources.environment ? sources.environment(name) : std::nullopt;
    if (value && trim(*value).empty()) return std::nullopt;
    return value;
}

/// The folder that the variable `name` says.
Result<Setting<fs::path>> folder_from(const ConfigSources& sources,
                                      std::string_view name,
                                      std::string_view text) {
    if (text.starts_with('~') && sources.home.empty())
        return fail(ErrorKind::Usage,
                    fmt::format("{}: no home folder is known, so '{}' has no meaning", name, text),
                    "write the path in full");
    return Setting<fs::path>{absolute_path(text, sources.home), std::string(name)};
}

Result<Setting<fs::path>> find_root_prefix(const ConfigSources& sources) {
    constexpr std::string_view kName = "GPKG_ROOT_PREFIX";
    if (const auto value = variable(sources, kName)) return folder_from(sources, kName, *value);
    if (sources.home.empty())
        return fail(ErrorKind::Usage,
                    "no home folder is known, so gpkg does not know where its root prefix is",
                    "set GPKG_ROOT_PREFIX");
    return Setting<fs::path>{sources.home / ".local/share/gpkg"};
}

/// Reads config.yaml or config.yml of the root prefix.
Result<void> read_config_file(Config& config) {
    const auto root = config.root_prefix.value;
    config.file = root / "config.yaml";
    std::error_code ignored;
    const auto other = root / "config.yml";
    if (fs::exists(other, ignored)) {
        if (fs::exists(config.file, ignored)) {
            config.warnings.push_back(fmt::format("{}: not read, {} stands beside it",
                                                  other.native(),
                                                  config.file.filename().native()));
        } else {
            config.file = other;
        }
    }
    const auto text = read_file(config.file, kLongestWritten);
    if (!text && text.error().kind == ErrorKind::NotFound) return {};
    if (!text) return pass(text.error());
    return apply_config_file(*text, config.file, config);
}

Result<void> read_environment(const ConfigSources& sources, Config& config) {
    if (const auto value = variable(sources, "GPKG_CACHE_DIR")) {
        GPKG_TRY(config.cache_dir, folder_from(sources, "GPKG_CACHE_DIR", *value));
    }
    if (const auto value = variable(sources, "CONDA_SUBDIR")) {
        if (!is_platform_name(*value))
            return fail(
                ErrorKind::Usage,
                fmt::format("CONDA_SUBDIR: expected a platform such as linux-64, found '{}'",
                            *value));
        config.platform = {*value, "CONDA_SUBDIR"};
    }
    if (const auto value = variable(sources, "CONDA_PKGS_DIRS")) {
        config.conda_pkgs_dirs.source = "CONDA_PKGS_DIRS";
        for (const auto folder : split(*value, ':')) {
            if (trim(folder).empty()) continue;
            GPKG_TRY(auto layer, folder_from(sources, "CONDA_PKGS_DIRS", folder));
            config.conda_pkgs_dirs.value.push_back(std::move(layer.value));
        }
    }
    return {};
}

}  // namespace

std::string_view to_string(ChannelPriority priority) {
    switch (priority) {
    case ChannelPriority::Strict: return "strict";
    case ChannelPriority::Flexible: return "flexible";
    case ChannelPriority::Disabled: return "disabled";
    }
    return "strict";
}

Result<Config> load_config(const ConfigSources& sources) {
    Config config;
    config.home = sources.home;
    config.platform.value = sources.native_platform;
    GPKG_TRY(config.root_prefix, find_root_prefix(sources));
    config.cache_dir = config.root_prefix;
    GPKG_CHECK(read_config_file(config));
    GPKG_CHECK(read_environment(sources, config));
    return config;
}

std::vector<ShownSetting> shown_settings(const Config& config) {
    const auto one = [](std::string key, std::string value, const std::string& source) {
        return ShownSetting{std::move(key), false, {std::move(value)}, source};
    };
    std::vector<std::string> layers;
    for (const auto& folder : config.conda_pkgs_dirs.value) layers.push_back(folder.native());
    return {
        one("root_prefix", config.root_prefix.value.native(), config.root_prefix.source),
        one("cache_dir", config.cache_dir.value.native(), config.cache_dir.source),
        {"channels", true, config.channels.value, config.channels.source},
        one("channel_priority",
            std::string(to_string(config.channel_priority.value)),
            config.channel_priority.source),
        one("channel_alias", config.channel_alias.value, config.channel_alias.source),
        one("channel_relations_max_depth",
            std::to_string(config.channel_relations_max_depth.value),
            config.channel_relations_max_depth.source),
        one("platform", config.platform.value, config.platform.source),
        one("download_threads",
            std::to_string(config.download_threads.value),
            config.download_threads.source),
        {"conda_pkgs_dirs", true, std::move(layers), config.conda_pkgs_dirs.source},
    };
}

}  // namespace gpkg
