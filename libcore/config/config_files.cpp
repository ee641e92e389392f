#include "libcore/base/text.hpp"
#include "libcore/config/config_files_internal.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

/// config.yaml of a folder, or config.yml where only that is there.
fs::path yaml_in(const fs::path& folder, std::vector<std::string>& warnings) {
    auto file = folder / "config.yaml";
    std::error_code ignored;
    auto other = folder / "config.yml";
    if (!fs::exists(other, ignored)) return file;
    if (!fs::exists(file, ignored)) return other;
    warnings.push_back(
        fmt::format("{}: ignored: config.yaml in the same folder is used", other.native()));
    return file;
}

ConfigFile file_at(ConfigLevel level, fs::path path) {
    std::error_code ignored;
    const bool exists = fs::exists(path, ignored);
    return {level, std::move(path), exists};
}

/// $XDG_CONFIG_HOME, else ~/.config; empty without a home.
fs::path user_folder(const ConfigSources& sources) {
    if (const auto value = variable(sources, "XDG_CONFIG_HOME"); value && value->front() == '/')
        return *value;
    return sources.home.empty() ? fs::path() : sources.home / ".config";
}

bool is_regular(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

/// .condarc, condarc and condarc.d/*.y[a]ml of a folder.
void add_condarcs(const fs::path& folder, std::vector<fs::path>& found) {
    for (const auto* name : {".condarc", "condarc"}) {
        if (is_regular(folder / name)) found.push_back(folder / name);
    }
    std::vector<fs::path> parts;
    std::error_code code;
    for (fs::directory_iterator entry(folder / "condarc.d", code), end; !code && entry != end;
         entry.increment(code)) {
        const auto extension = entry->path().extension();
        if ((extension == ".yml" || extension == ".yaml") && is_regular(entry->path()))
            parts.push_back(entry->path());
    }
    std::sort(parts.begin(), parts.end());
    found.insert(found.end(), parts.begin(), parts.end());
}

}  // namespace

std::string_view to_string(ConfigLevel level) {
    switch (level) {
    case ConfigLevel::Conda: return "conda";
    case ConfigLevel::System: return "system";
    case ConfigLevel::User: return "user";
    case ConfigLevel::RootPrefix: return "root prefix";
    }
    return "root prefix";
}

std::optional<std::string> variable(const ConfigSources& sources, std::string_view name) {
    auto value = sources.environment ? sources.environment(name) : std::nullopt;
    if (value && trim(*value).empty()) return std::nullopt;
    return value;
}

std::vector<ConfigFile> own_config_files(const ConfigSources& sources,
                                         const fs::path& root_prefix,
                                         std::vector<std::string>& warnings) {
    std::vector<ConfigFile> files;
    if (const auto named = variable(sources, "GPKG_SYSTEM_CONFIG")) {
        files.push_back(file_at(ConfigLevel::System, absolute_path(*named, sources.home)));
        if (!files.back().exists)
            warnings.push_back(
                fmt::format("{}: not found (GPKG_SYSTEM_CONFIG); no site settings apply",
                            files.back().path.native()));
    } else {
        files.push_back(
            file_at(ConfigLevel::System, yaml_in(sources.system / "etc/gpkg", warnings)));
    }
    if (const auto folder = user_folder(sources); !folder.empty())
        files.push_back(file_at(ConfigLevel::User, yaml_in(folder / "gpkg", warnings)));
    files.push_back(file_at(ConfigLevel::RootPrefix, yaml_in(root_prefix, warnings)));
    return files;
}

std::vector<fs::path> conda_config_files(const ConfigSources& sources,
                                         const fs::path& root_prefix) {
    std::vector<fs::path> found;
    add_condarcs(sources.system / "etc/conda", found);
    add_condarcs(sources.system / "var/lib/conda", found);
    if (const auto root = variable(sources, "CONDA_ROOT")) add_condarcs(*root, found);
    add_condarcs(root_prefix, found);
    if (const auto folder = user_folder(sources); !folder.empty())
        add_condarcs(folder / "conda", found);
    if (!sources.home.empty()) {
        add_condarcs(sources.home / ".conda", found);
        if (is_regular(sources.home / ".condarc")) found.push_back(sources.home / ".condarc");
    }
    if (const auto active = variable(sources, "CONDA_PREFIX")) add_condarcs(*active, found);
    if (const auto named = variable(sources, "CONDARC"); named && is_regular(*named))
        found.emplace_back(*named);

    // A folder may be several of these at once; where it counts most is its place.
    std::vector<fs::path> once;
    for (auto i = found.size(); i-- > 0;) {
        if (std::find(once.begin(), once.end(), found[i]) == once.end()) once.push_back(found[i]);
    }
    std::reverse(once.begin(), once.end());
    return once;
}

}  // namespace gpkg
