#include "libcore/config/config.hpp"

#include "libcore/base/text.hpp"
#include "libcore/config/config_files_internal.hpp"
#include "libcore/config/config_keys_internal.hpp"
#include "libcore/fs/file_system.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace gpkg {
namespace {

using yaml::Node;

/// A file's document, parsed once.
struct Document {
    fs::path file;
    Node root;
};

Result<Node> parse_config(std::string_view text, const fs::path& file) {
    GPKG_TRY(auto root, Node::parse(text, file.native()));
    if (!root.is_null() && !root.is_map())
        return root.fail(fmt::format("expected keys and values, found {}", root.kind_name()),
                         "write settings like this: channel_priority: strict");
    return root;
}

/// Why this user cannot open a file, as errno; 0 where he can.
int refusal_of(const fs::path& file) {
    return ::faccessat(AT_FDCWD, file.c_str(), R_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/// The text of a file; nothing of one that does not exist. One that this user may not read counts
/// as absent, with a warning: HOME may be another user's.
Result<std::optional<std::string>> readable_text(const fs::path& file, Config& config) {
    auto text = read_file(file, kLongestWritten);
    if (text) return std::optional(*std::move(text));
    const int refusal = refusal_of(file);
    if (refusal == EACCES) config.warnings.push_back("ignored " + text.error().message);
    // A part of the path may be a file: HOME=/dev/null.
    if (refusal == EACCES || refusal == ENOENT || refusal == ENOTDIR) return std::nullopt;
    return pass(std::move(text).error());
}

/// Fails with the error, or keeps it where invalid settings are left out.
Result<void> skip_or_fail(bool skips_invalid, Error error, Config& config) {
    if (!skips_invalid) return pass(std::move(error));
    const auto is_known = [&](const Error& other) { return other.message == error.message; };
    if (std::none_of(config.errors.begin(), config.errors.end(), is_known))
        config.errors.push_back(std::move(error));
    return {};
}

/// Takes the keys of a document that gpkg knows, and hands the others to `on_other`.
template <typename OnOther>
Result<void> apply_document(const Document& document,
                            Reading reading,
                            Config& config,
                            const OnOther& on_other) {
    std::vector<std::pair<const KeyRow*, std::string_view>> seen;
    for (const auto& [key, value] : document.root.entries()) {
        const auto* row = find_row(key);
        if (row == nullptr) {
            on_other(key, value);
            continue;
        }
        const auto twin = std::find_if(
            seen.begin(), seen.end(), [&](const auto& other) { return other.first == row; });
        if (twin != seen.end()) {
            auto error =
                value.fail(fmt::format("{} and {} are the same setting", twin->second, key));
            GPKG_CHECK(skip_or_fail(reading.skips_invalid, std::move(error).value(), config));
            continue;
        }
        seen.emplace_back(row, key);
        // conda takes null for "not said".
        if (reading.joins && value.is_null()) continue;
        reading.key = row->key.name;
        if (auto applied = row->apply(value, reading, config); !applied)
            GPKG_CHECK(skip_or_fail(reading.skips_invalid, std::move(applied).error(), config));
    }
    return {};
}

Result<void> apply_own(const Document& document, const ConfigSources& sources, Config& config) {
    Reading reading;
    reading.skips_invalid = sources.skips_invalid;
    reading.folder = document.file.parent_path();
    reading.home = config.home;
    reading.root_prefix = config.root_prefix.value;
    reading.environment = sources.environment;
    return apply_document(
        document, reading, config, [&](const std::string& key, const Node& value) {
            std::vector<std::string> names;
            for (const auto& known : config_keys()) names.emplace_back(known.name);
            const auto near = near_names(key, names);
            config.warnings.push_back(
                fmt::format("{}: unknown key '{}'{}",
                            value.place(),
                            key,
                            near.empty() ? "" : "; did you mean " + join_or(near)));
        });
}

/// "chanels (did you mean channels?)": a key of conda's files that may be misspelled.
std::string with_near_key(const std::string& key) {
    constexpr std::size_t kMostDifference = 2;
    std::vector<std::string> names;
    for (const auto& row : key_rows()) {
        names.emplace_back(row.key.name);
        for (const auto name : row.conda_names) names.emplace_back(name);
    }
    // Longer names that contain the key are other settings.
    std::erase_if(names, [&](const std::string& name) {
        return std::max(name.size(), key.size()) - std::min(name.size(), key.size()) >
               kMostDifference;
    });
    const auto near = near_names(key, names);
    return near.empty() ? key : fmt::format("{} (did you mean {}?)", key, join_or(near));
}

/// Keys that are about conda itself, or about what gpkg does in its own way: nobody who set them
/// would be surprised.
// clang-format off
constexpr std::array<std::string_view, 40> kOfCondaAlone = {
    "add_anaconda_token", "add_binstar_token", "anaconda_anon_usage", "anaconda_upload", "auto_activate",
    "auto_activate_base", "auto_stack", "auto_update_conda", "binstar_upload", "bld_path", "conda-build",
    "conda_build", "console", "croot", "debug", "default_activation_env", "default_threads", "dev",
    "error_upload_url", "execute_threads", "experimental", "experimental_solver", "extra_safety_checks", "json",
    "local_repodata_ttl", "notify_outdated_conda", "plugins", "quiet", "register_envs",
    "report_errors", "repodata_fns", "repodata_threads",
    "rollback_enabled", "sat_solver", "shortcuts", "show_channel_urls", "solver", "unsatisfiable_hints",
    "use_index_cache", "verify_threads",
};
// clang-format on

/// Whose files are read.
enum class Whose { Everybodys, Systems };

/// Takes the keys of one of conda's files. Returns those that gpkg ignores.
Result<std::vector<std::string>> apply_condarc(const ConfigSources& sources,
                                               const fs::path& file,
                                               Config& config) {
    GPKG_TRY(const auto text, readable_text(file, config));
    if (!text) return std::vector<std::string>();
    GPKG_TRY(auto root, parse_config(*text, file));
    Reading reading;
    reading.folder = file.parent_path();
    reading.home = config.home;
    reading.root_prefix = config.root_prefix.value;
    reading.environment = sources.environment;
    reading.joins = true;
    reading.skips_invalid = sources.skips_invalid;
    std::vector<std::string> others;
    if (text->find("#!final") != std::string::npos || text->find("#!top") != std::string::npos ||
        text->find("#!bottom") != std::string::npos)
        others.emplace_back("the marks #!top, #!bottom and #!final");
    GPKG_CHECK(apply_document(
        {file, std::move(root)}, reading, config, [&](const std::string& key, const Node& value) {
            config.ignored_keys.emplace_back(key, value.place());
            const bool is_of_conda =
                std::find(kOfCondaAlone.begin(), kOfCondaAlone.end(), key) != kOfCondaAlone.end();
            if (key == "safety_checks" && value.text() == "disabled")
                others.emplace_back("safety_checks (gpkg checks every package)");
            else if (!is_of_conda && key != "safety_checks")
                others.push_back(with_near_key(key));
        }));
    return others;
}

/// conda's files count as one: a list or map is what they all say, those that win first.
Result<void> apply_condarcs(const ConfigSources& sources, Whose whose, Config& config) {
    auto files = conda_config_files(sources, config.root_prefix.value);
    if (whose == Whose::Systems)
        std::erase_if(files, [&](const fs::path& file) {
            const auto inside = file.lexically_relative(sources.system).native();
            return !inside.starts_with("etc/conda/") && !inside.starts_with("var/lib/conda/");
        });
    std::vector<std::string> unheeded;
    for (auto file = files.rbegin(); file != files.rend(); ++file) {
        config.files.insert(config.files.begin(), ConfigFile{ConfigLevel::Conda, *file, true});
        const auto others = apply_condarc(sources, *file, config);
        if (!others) {
            auto error = others.error();
            if (error.hint.empty())
                error.hint = "to ignore conda's configuration files, set use_condarc: false in " +
                             config.file.native();
            GPKG_CHECK(skip_or_fail(sources.skips_invalid, std::move(error), config));
        } else if (!others->empty()) {
            unheeded.push_back(fmt::format("{}: ignored setting{}: {}",
                                           file->native(),
                                           others->size() == 1 ? "" : "s",
                                           fmt::join(*others, ", ")));
        }
    }
    config.unheeded.assign(unheeded.rbegin(), unheeded.rend());
    return {};
}

Node variable_node(const KeyRow& row, const std::string& value, std::string name) {
    if (row.key.shape == ConfigKey::Shape::Value) return Node::of_text(value, std::move(name));
    std::vector<std::string> texts;
    std::string_view rest = value;
    while (!rest.empty()) {
        const auto end = std::min(rest.find_first_of(row.separators), rest.size());
        if (const auto text = trim(rest.substr(0, end)); !text.empty()) texts.emplace_back(text);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return Node::of_texts(texts, std::move(name));
}

/// GPKG_KEY, else conda's CONDA_KEY. Maps have no variables. Returns whether any is set.
Result<bool> read_environment(const ConfigSources& sources, Config& config) {
    bool any = false;
    for (const auto& row : key_rows()) {
        for (const auto& name : variables_of(row)) {
            const auto value = variable(sources, name);
            if (!value) continue;
            Reading reading;
            reading.key = row.key.name;
            reading.home = sources.home;
            reading.root_prefix = config.root_prefix.value;
            reading.environment = sources.environment;
            auto applied = row.apply(variable_node(row, *value, name), reading, config);
            if (!applied) {
                auto error = std::move(applied).error();
                error.kind = ErrorKind::Usage;
                GPKG_CHECK(skip_or_fail(sources.skips_invalid, std::move(error), config));
                break;
            }
            any = true;
            break;
        }
    }
    return any;
}

/// The root prefix's envs/ is always searched.
void add_own_environments(Config& config) {
    auto& folders = config.envs_dirs.value;
    const auto own = config.root_prefix.value / "envs";
    if (std::find(folders.begin(), folders.end(), own) == folders.end()) folders.push_back(own);
}

fs::path default_root_prefix(const ConfigSources& sources) {
    return sources.home / ".local/share/gpkg";
}

Result<Setting<fs::path>> find_root_prefix(const ConfigSources& sources) {
    constexpr std::string_view kName = "GPKG_ROOT_PREFIX";
    if (const auto value = variable(sources, kName)) {
        Reading reading;
        reading.home = sources.home;
        reading.environment = sources.environment;
        GPKG_TRY(auto folder, folder_from(*value, kName, reading));
        return Setting<fs::path>{std::move(folder), std::string(kName)};
    }
    if (sources.home.empty())
        return fail(ErrorKind::Usage,
                    "no root prefix: HOME and GPKG_ROOT_PREFIX are not set",
                    "set HOME or GPKG_ROOT_PREFIX");
    return Setting<fs::path>{default_root_prefix(sources)};
}

/// Everything but that the root prefix has environments, whatever else has.
Result<Config> read_all(const ConfigSources& sources, Whose whose) {
    Config defaults;
    defaults.home = sources.home;
    defaults.platform.value = sources.native_platform;
    if (auto root = find_root_prefix(sources)) {
        defaults.root_prefix = *std::move(root);
    } else {
        if (sources.home.empty()) return pass(std::move(root).error());
        GPKG_CHECK(skip_or_fail(sources.skips_invalid, std::move(root).error(), defaults));
        defaults.root_prefix.value = default_root_prefix(sources);
    }
    defaults.cache_dir = defaults.root_prefix;
    defaults.files = own_config_files(sources, defaults.root_prefix.value, defaults.warnings);
    defaults.file = defaults.files.back().path;

    std::vector<Document> own;
    for (const auto& file : defaults.files) {
        if (whose == Whose::Systems && file.level != ConfigLevel::System) continue;
        const auto text = readable_text(file.path, defaults);
        if (text && !*text) continue;
        auto root = text ? parse_config(**text, file.path) : Result<Node>(pass(text.error()));
        if (root)
            own.push_back({file.path, *std::move(root)});
        else
            GPKG_CHECK(skip_or_fail(sources.skips_invalid, std::move(root).error(), defaults));
    }
    const auto with_own = [&](Config config) -> Result<Config> {
        for (const auto& document : own) GPKG_CHECK(apply_own(document, sources, config));
        if (whose == Whose::Systems) return config;
        auto by_files = config;
        GPKG_TRY(const bool has_variables, read_environment(sources, config));
        if (has_variables) {
            add_own_environments(by_files);
            config.by_files = std::make_shared<const Config>(std::move(by_files));
        }
        return config;
    };
    GPKG_TRY(auto config, with_own(defaults));
    if (!config.use_condarc.value) return config;
    // What has the last word on whether they are read has been asked; they themselves come first.
    GPKG_CHECK(apply_condarcs(sources, whose, defaults));
    return with_own(std::move(defaults));
}

bool is_of_another_user(const fs::path& folder) {
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0) return false;
    return ::geteuid() != 0 && status.st_uid != ::geteuid();
}

/// A package store of another user's that this user cannot write to becomes a layer that is read,
/// and ~/.cache/gpkg holds what is added. Commands that use packages say so.
void add_own_store(Config& config) {
    auto& cache = config.cache_dir.value;
    const auto store = cache / "pkgs";
    const auto own = config.users_cache();
    if (config.home.empty() || !is_of_another_user(is_there(store) ? store : cache) ||
        check_writable_folder(store) || !check_writable_folder(own))
        return;
    config.unheeded.push_back(fmt::format("{}: cannot be written to; new packages are kept in {}",
                                          store.native(),
                                          (own / "pkgs").native()));
    auto& layers = config.store_layers.value;
    layers.insert(layers.begin(), store);
    cache = own;
}

fs::path own_dir_of(const Config& config) {
    const auto& shared = config.cache_dir.value;
    const auto cache = shared / "cache";
    auto own = config.users_cache();
    if (config.home.empty() || !is_of_another_user(is_there(cache) ? cache : shared) ||
        !check_writable_folder(own))
        return shared;
    return own;
}

}  // namespace

Result<void> check_config_key(std::string_view text,
                              const fs::path& file,
                              std::string_view key,
                              const EnvLookup& environment,
                              Config config) {
    GPKG_TRY(const auto root, parse_config(text, file));
    const auto* row = find_row(key);
    const auto* value = root.find(key);
    if (row == nullptr || value == nullptr) return {};
    Reading reading;
    reading.key = row->key.name;
    reading.folder = file.parent_path();
    reading.home = config.home;
    reading.root_prefix = config.root_prefix.value;
    reading.environment = environment;
    return row->apply(*value, reading, config);
}

Result<Config> load_config(const ConfigSources& sources) {
    GPKG_TRY(auto config, read_all(sources, Whose::Everybodys));
    if (!config.channel_rules.empty()) {
        GPKG_TRY(auto site, read_all(sources, Whose::Systems));
        config.site = std::make_shared<const Config>(std::move(site));
    }
    add_own_environments(config);
    add_own_store(config);
    config.own_dir = own_dir_of(config);
    return config;
}

fs::path Config::file_of(ConfigLevel level) const {
    const auto found = std::find_if(
        files.begin(), files.end(), [&](const ConfigFile& one) { return one.level == level; });
    return found == files.end() ? file : found->path;
}

}  // namespace gpkg
