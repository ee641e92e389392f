#pragma once

// What gpkg was told once and for all. Later sources win: defaults; conda's files, taken together;
// gpkg's own of the system, of the user and of the root prefix; the environment. Every value knows
// where it came from. What a command's flags say is the command's business.

#include "libcore/base/env_lookup.hpp"
#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/spec/channel_priority.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpkg {

std::string_view to_string(ChannelPriority priority);

/// Which scripts of packages run when these are linked and unlinked.
enum class LinkScriptPolicy {
    Run,   ///< all
    Off,   ///< none
    Ask,   ///< those that the environment's list has, and those for which a person says yes
    List,  ///< those that the environment's list has
};
std::string_view to_string(LinkScriptPolicy policy);

template <typename T>
struct Setting {
    T value{};
    /// "default", "GPKG_CACHE_DIR", "/etc/gpkg/config.yaml:3:1"; with ", " between several of
    /// conda's files that gave a part each.
    std::string source = "default";
    std::string overrides{};  ///< the sources whose value this one replaced
};

/// What stands for a name, in the order of the file.
using NamedTexts = std::vector<std::pair<std::string, std::string>>;
using NamedLists = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// What one place says of which channels may be used. No place overrides another here: what any of
/// them refuses is refused.
struct ChannelRule {
    bool allows = false;                ///< none but these may be used; else these may not
    std::vector<std::string> channels;  ///< names or URLs, each of them with all below it
    std::string source;                 ///< as in Setting
};

/// Whose file it is; later ones win.
enum class ConfigLevel { Conda, System, User, RootPrefix };
std::string_view to_string(ConfigLevel level);

struct ConfigFile {
    ConfigLevel level = ConfigLevel::RootPrefix;
    fs::path path;
    bool exists = false;
};

struct Config {
    fs::path home;  ///< of the user; "~" in values stood for it
    fs::path file;  ///< of the root prefix: read where it exists, else made by `gpkg config set`
    std::vector<ConfigFile> files;  ///< gpkg's own and those of conda's that exist, later ones win

    Setting<fs::path> root_prefix;  ///< GPKG_ROOT_PREFIX, else ~/.local/share/gpkg
    /// Folders of environments, the first that can be written to for new ones; the root prefix's
    /// envs/ is always among them.
    Setting<std::vector<fs::path>> envs_dirs{};
    Setting<fs::path> cache_dir;                       ///< else the root prefix
    Setting<std::vector<fs::path>> store_layers{};     ///< stores of others, read, never written
    Setting<std::vector<fs::path>> conda_pkgs_dirs{};  ///< read, never written
    Setting<std::string> accelerator{};                ///< of new environments; empty: auto
    Setting<std::string> devices{};  ///< which GPUs count, as --devices has it; empty: all
    Setting<std::vector<fs::path>> profile_folders{};  ///< of a site, behind the user's own
    Setting<std::string> link{"auto"};                 ///< "auto", "hardlink", "reflink" or "copy"

    Setting<std::vector<std::string>> channels{{"conda-forge"}};
    Setting<ChannelPriority> channel_priority{ChannelPriority::Strict};
    Setting<std::string> channel_alias{"https://conda.anaconda.org"};
    Setting<std::vector<std::string>> default_channels{
        {"https://repo.anaconda.com/pkgs/main", "https://repo.anaconda.com/pkgs/r"}};
    Setting<NamedTexts> custom_channels{};       ///< the URL below which the channel is found
    Setting<NamedLists> custom_multichannels{};  ///< a name for several channels
    Setting<NamedLists> mirrored_channels{};     ///< base URLs of a channel, the first tried first
    Setting<int> channel_relations_max_depth{10};  ///< 0: what channels declare is ignored
    std::vector<ChannelRule> channel_rules{};
    /// What the system's files say by themselves, where there are rules: theirs mean what channels'
    /// names mean there, whatever a user's files make of them. Null where there is no rule.
    std::shared_ptr<const Config> site{};
    /// The configuration without environment variables such as GPKG_CHANNELS. Null if none is set.
    std::shared_ptr<const Config> by_files{};

    Setting<std::string> platform;                    ///< else this machine's
    Setting<NamedTexts> override_virtual_packages{};  ///< "cuda" -> "12.4"; empty: absent
    Setting<std::vector<std::string>> pinned_packages{};
    Setting<std::vector<std::string>> create_default_packages{};  ///< specs

    Setting<bool> repodata_use_zst{true};     ///< repodata.json.zst is asked for
    Setting<bool> repodata_use_shards{true};  ///< shards are asked for
    Setting<int> solve_limit{50'000};         ///< conflicts that the solver may meet
    Setting<int> explain_limit{10};           ///< seconds for why a request cannot be solved
    Setting<int> download_threads{8};         ///< transfers at a time
    Setting<std::string> ssl_verify{
        "true"};  ///< "true", "false", or the file or folder of certificates
    Setting<fs::path> client_ssl_cert{};      ///< for servers that ask who one is
    Setting<fs::path> client_ssl_cert_key{};  ///< empty: it is in client_ssl_cert
    Setting<NamedTexts> proxy_servers{};      ///< by scheme
    Setting<NamedLists> trusted_keys{};       ///< by channel: public keys, or a file of them
    Setting<int> number_channel_notices{5};   ///< shown by one command; 0: none
    Setting<bool> changeps1{true};            ///< activation changes the prompt
    Setting<bool> always_yes{false};          ///< as -y on every command line
    Setting<bool> offline{false};             ///< as --offline on every command line
    Setting<LinkScriptPolicy> link_scripts{LinkScriptPolicy::Run};
    Setting<fs::path> module_root{};  ///< empty: modules/ of the root prefix
    Setting<std::string> module_name{"{name}/{generation}"};  ///< a template, see module_name_of()
    /// On disks of a cluster's nodes; empty: TMPDIR and /tmp.
    Setting<std::vector<fs::path>> local_folders{};
    Setting<bool> use_condarc{true};  ///< conda's files are read

    /// What users do not share lies here: cache_dir, or where that is another user's, who may let
    /// others write into its pkgs/, ~/.cache/gpkg.
    fs::path own_dir;

    /// For people: keys nobody knows, two files where one is read.
    std::vector<std::string> warnings;
    /// Invalid files, keys and variables, where ConfigSources::skips_invalid left them out.
    std::vector<Error> errors;
    /// What conda's files say that gpkg does not heed, a line for each file.
    std::vector<std::string> unheeded;
    /// The keys of conda's files that gpkg ignores, without a warning too, and where they are set.
    NamedTexts ignored_keys;

    /// For what lies in cache_dir where this user may not write there.
    fs::path users_cache() const { return home / ".cache/gpkg"; }
    fs::path package_store() const { return cache_dir.value / "pkgs"; }
    fs::path index_cache() const { return own_dir / "cache"; }
    /// Images and archives of environments that nodes are brought.
    fs::path image_cache() const { return cache_dir.value / "images"; }
    /// Where modulefiles are written.
    fs::path modules_folder() const {
        return module_root.value.empty() ? root_prefix.value / "modules" : module_root.value;
    }
    /// What was seen of signed channels: it is no cache.
    fs::path trust_folder() const { return own_dir / "trust"; }
    /// The file that is edited for a level other than Conda.
    fs::path file_of(ConfigLevel level) const;
};

struct ConfigSources {
    EnvLookup environment;
    fs::path home;                ///< empty: unknown, GPKG_ROOT_PREFIX must then be set
    std::string native_platform;  ///< what `platform` is when nobody says otherwise
    fs::path system = "/";        ///< where etc/gpkg and etc/conda are
    /// Leaves out invalid files, keys and variables instead of failing, for commands that must work
    /// without them.
    bool skips_invalid = false;
};

/// Reads everything. A value of the wrong kind is an error with file, line and column; relative
/// paths in a file start at its folder, and $NAME in paths and URLs stands for that variable.
Result<Config> load_config(const ConfigSources& sources);

/// One key that a file may have.
struct ConfigKey {
    enum class Shape { Value, List, Map };
    std::string_view name;
    Shape shape = Shape::Value;
    std::string_view help;
    bool has_urls = false;  ///< its values may be URLs or hosts, with logins
};
std::span<const ConfigKey> config_keys();
/// The key of that name or of conda's name for it, or a Usage error with the near ones.
Result<ConfigKey> find_config_key(std::string_view name);

/// The key whose value the environment variable sets (GPKG_CHANNELS, CONDA_SUBDIR), if any.
std::optional<ConfigKey> key_of_variable(std::string_view variable);
/// A value of a setting as people may see it: with *** for passwords and tokens.
std::string shown_value(const ConfigKey& key, std::string_view value);

/// A setting as text, for `gpkg config list` and `get`.
struct ShownSetting {
    std::string key;
    ConfigKey::Shape shape = ConfigKey::Shape::Value;
    std::vector<std::string> values;  ///< one for a Value, none for a Map
    NamedLists entries;               ///< of a Map
    std::string source;
    std::string overrides;  ///< as in Setting
};
/// Without secrets: see shown_value().
std::vector<ShownSetting> shown_settings(const Config& config);

}  // namespace gpkg
