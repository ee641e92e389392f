#include "libcore/config/config.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>
#include <map>

using namespace gpkg;

namespace config_test {
namespace {

struct Fixture {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    fs::path home = folder.path();
    fs::path root = home / ".local/share/gpkg";
    fs::path file = root / "config.yaml";
    std::map<std::string, std::string, std::less<>> variables;

    bool skips_invalid = false;

    Result<Config> load() {
        ConfigSources sources;
        sources.skips_invalid = skips_invalid;
        sources.home = home;
        sources.native_platform = "linux-64";
        sources.system = home / "system";
        sources.environment = [this](std::string_view name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional(found->second);
        };
        return load_config(sources);
    }
    Result<Config> load(std::string_view text) {
        REQUIRE(write_file_atomically(file, text));
        return load();
    }
    void put(const fs::path& path, std::string_view text) {
        REQUIRE(write_file_atomically(home / path, text));
    }
};

}  // namespace

TEST_CASE("without a file and variables the defaults count", "[config]") {
    Fixture f;
    const auto config = f.load().value();
    CHECK(config.root_prefix.value == f.root);
    CHECK(config.root_prefix.source == "default");
    CHECK(config.envs_dirs.value == std::vector<fs::path>{f.root / "envs"});
    CHECK(config.package_store() == f.root / "pkgs");
    CHECK(config.index_cache() == f.root / "cache");
    CHECK(config.file == f.file);
    CHECK(config.channels.value == std::vector<std::string>{"conda-forge"});
    CHECK(config.channel_priority.value == ChannelPriority::Strict);
    CHECK(config.channel_alias.value == "https://conda.anaconda.org");
    CHECK(config.platform.value == "linux-64");
    CHECK(config.download_threads.value == 8);
    CHECK(config.solve_limit.value == 50'000);
    CHECK(config.explain_limit.value == 10);
    CHECK(config.channel_relations_max_depth.value == 10);
    CHECK(config.warnings.empty());
    CHECK_FALSE(fs::exists(f.root));
}

TEST_CASE("the file's values know their place", "[config]") {
    Fixture f;
    const auto config = f.load(R"(# site
channels:
  - bioconda
  - ./local
  - https://corp.example/c
channel_priority: flexible
channel_alias: https://corp.example
channel_relations_max_depth: 0
subdir: linux-aarch64
download_threads: 3
cache_dir: ../big
)")
                            .value();
    CHECK(config.channels.value == std::vector<std::string>{"bioconda",
                                                            (f.root / "local").native(),
                                                            "https://corp.example/c"});
    CHECK(config.channels.source == f.file.native() + ":3:3");
    CHECK(config.channel_priority.value == ChannelPriority::Flexible);
    CHECK(config.channel_priority.source == f.file.native() + ":6:19");
    CHECK(config.channel_alias.value == "https://corp.example");
    CHECK(config.platform.value == "linux-aarch64");
    CHECK(config.download_threads.value == 3);
    CHECK(config.channel_relations_max_depth.value == 0);
    CHECK(config.package_store() == f.home / ".local/share/big/pkgs");
    CHECK(config.warnings.empty());
}

TEST_CASE("an empty file says nothing", "[config]") {
    Fixture f;
    CHECK(f.load("").value().channels.source == "default");
    CHECK(f.load("# only a comment\n").value().warnings.empty());
    CHECK(f.load("channels: []\n").value().channels.value.empty());
}

TEST_CASE("what the file has wrong is told with its place", "[config]") {
    Fixture f;
    struct Row {
        std::string text, told;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"channels: {a: b}\n",            ":1:11: expected a list of channels, found a map"},
        {"channels:\n  - [a]\n",          ":2:5: expected channels, found a list"},
        {"channels: [a, '']\n",           ":1:11: a channel is empty"},
        {"channel_priority: stric\n",     ":1:19: expected strict, flexible or disabled, found 'stric'"},
        {"channel_priority: [strict]\n",  ":1:19: expected strict, flexible or disabled, found a list"},
        {"channel_alias: conda-forge\n",  ":1:16: expected a URL, found 'conda-forge'"},
        {"platform: linux_64\n",          ":1:11: expected a platform such as linux-64, found 'linux_64'"},
        {"platform: linux-64\nsubdir: linux-64\n", ":2:9: platform and subdir are the same setting"},
        {"download_threads: many\n",      ":1:19: expected a whole number for download_threads, found many"},
        {"solve_limit: 10\n",              ":1:14: expected a number from 1000 to 1000000000, found 10"},
        {"download_threads: 0\n",         ":1:19: expected a number from 1 to 64, found 0"},
        {"channel_relations_max_depth: -1\n", ":1:30: expected a number from 0 to 100, found -1"},
        {"cache_dir: ''\n",               ":1:12: expected a folder, found nothing"},
        {"cache_dir: [a]\n",              ":1:12: expected a folder, found a list"},
        {"- conda-forge\n",               ":1:1: expected keys and values, found a list"},
        {"channels: [a\n",                ":2:1: unclosed list: missing ']'"},
        {"channels: a\nchannels: b\n",    ":2:1: duplicate key 'channels'"},
    }));
    // clang-format on
    CAPTURE(row.text);
    const auto config = f.load(row.text);
    REQUIRE_FALSE(config);
    CHECK(config.error().message == f.file.native() + row.told);
}

TEST_CASE("unknown keys are warned of, with the near ones", "[config]") {
    Fixture f;
    const auto config = f.load("chanels: [a]\nanaconda_upload: true\n").value();
    CHECK(config.warnings ==
          std::vector<std::string>{
              f.file.native() + ":1:10: unknown key 'chanels'; did you mean channels",
              f.file.native() + ":2:18: unknown key 'anaconda_upload'"});
}

TEST_CASE("config.yml will do, but not beside config.yaml", "[config]") {
    Fixture f;
    const auto other = f.root / "config.yml";
    REQUIRE(write_file_atomically(other, "download_threads: 2\n"));
    CHECK(f.load().value().download_threads.value == 2);
    CHECK(f.load().value().file == other);
    const auto both = f.load("download_threads: 3\n").value();
    CHECK(both.download_threads.value == 3);
    CHECK(both.warnings ==
          std::vector<std::string>{other.native() +
                                   ": ignored: config.yaml in the same folder is used"});
}

TEST_CASE("variables win over the file", "[config]") {
    Fixture f;
    const auto other = f.home / "other";
    REQUIRE(write_file_atomically(other / "config.yaml", "platform: osx-64\ncache_dir: /big\n"));
    f.variables = {{"GPKG_ROOT_PREFIX", "~/other/"},
                   {"GPKG_CACHE_DIR", "/scratch/ann"},
                   {"CONDA_SUBDIR", "linux-ppc64le"},
                   {"CONDA_PKGS_DIRS", "/a/pkgs::~/b"}};
    const auto config = f.load().value();
    CHECK(config.root_prefix.value == other);
    CHECK(config.root_prefix.source == "GPKG_ROOT_PREFIX");
    CHECK(config.package_store() == "/scratch/ann/pkgs");
    CHECK(config.index_cache() == "/scratch/ann/cache");
    CHECK(config.cache_dir.source == "GPKG_CACHE_DIR");
    CHECK(config.platform.value == "linux-ppc64le");
    CHECK(config.platform.source == "CONDA_SUBDIR");
    CHECK(config.conda_pkgs_dirs.value == std::vector<fs::path>{"/a/pkgs", f.home / "b"});

    f.variables["CONDA_SUBDIR"] = "";
    CHECK(f.load().value().platform.value == "osx-64");
    f.variables["CONDA_SUBDIR"] = "Linux 64";
    CHECK(f.load().error().message ==
          "CONDA_SUBDIR: expected a platform such as linux-64, found 'Linux 64'");
}

TEST_CASE("without a home the root prefix must be named", "[config]") {
    Fixture f;
    f.home.clear();
    CHECK(f.load().error().to_string() ==
          "no root prefix: HOME and GPKG_ROOT_PREFIX are not set\n"
          "  hint: set HOME or GPKG_ROOT_PREFIX");
    f.variables["GPKG_ROOT_PREFIX"] = "~/gpkg";
    CHECK(f.load().error().message == "GPKG_ROOT_PREFIX: cannot resolve '~/gpkg': no home folder");
    f.variables["GPKG_ROOT_PREFIX"] = f.root.native();
    CHECK(f.load());
}

TEST_CASE("a file that cannot be read is an error", "[config]") {
    Fixture f;
    REQUIRE(make_folders(f.file));
    CHECK(f.load().error().message == f.file.native() + ": cannot read: Is a directory");
}

TEST_CASE("settings are shown with their source", "[config]") {
    Fixture f;
    const auto shown = shown_settings(f.load("channels: [a, b]\n").value());
    const auto channels = std::find_if(
        shown.begin(), shown.end(), [](const auto& one) { return one.key == "channels"; });
    REQUIRE(channels != shown.end());
    CHECK(channels->shape == ConfigKey::Shape::List);
    CHECK(channels->values == std::vector<std::string>{"a", "b"});
    CHECK(channels->source == f.file.native() + ":1:11");
    for (const auto& key : config_keys())
        CHECK(std::any_of(
            shown.begin(), shown.end(), [&](const auto& one) { return one.key == key.name; }));
}

TEST_CASE("invalid settings are left out on request", "[config]") {
    Fixture f;
    f.variables["GPKG_LINK"] = "bogus";
    f.variables["GPKG_DOWNLOAD_THREADS"] = "3";
    f.put(".condarc", "channels: [unclosed\n");
    constexpr auto kText = "channels: {a: b}\nchangeps1: false\n";
    REQUIRE_FALSE(f.load(kText));
    f.skips_invalid = true;
    const auto config = f.load(kText).value();
    CHECK(config.channels.value == std::vector<std::string>{"conda-forge"});
    CHECK(config.download_threads.value == 3);
    CHECK_FALSE(config.changeps1.value);
    CHECK(config.link.value == "auto");
    REQUIRE(config.errors.size() == 3);
    const auto tells = [&](const std::string& begin) {
        return std::any_of(config.errors.begin(), config.errors.end(), [&](const auto& error) {
            return error.message.starts_with(begin);
        });
    };
    CHECK(tells(f.file.native() + ":1:"));
    CHECK(tells((f.home / ".condarc").native() + ":2:1:"));
    CHECK(tells("GPKG_LINK: "));

    f.variables["GPKG_ROOT_PREFIX"] = "$NOWHERE/x";
    CHECK(f.load().value().root_prefix.value == f.root);
}

TEST_CASE("what is valid for conda stops nothing", "[config]") {
    Fixture f;
    f.put(".condarc",
          "proxy_servers:\n  http://inside.example: http://proxy:3128\n  ftp: http://proxy:21\n"
          "ssl_verify: /etc/certs\nclient_cert: me.pem\nclient_ssl_cert_key: me.key\n"
          "repodata_use_zst: false\ncreate_default_packages: [pip]\nsafety_checks: enabled\n");
    const auto config = f.load().value();
    CHECK(config.unheeded.empty());
    CHECK(config.warnings.empty());
    CHECK(config.proxy_servers.value == NamedTexts{{"http://inside.example", "http://proxy:3128"}});
    CHECK(config.client_ssl_cert.value == f.home / "me.pem");
    CHECK(config.client_ssl_cert_key.value == f.home / "me.key");
    CHECK_FALSE(config.repodata_use_zst.value);
    CHECK(config.create_default_packages.value == std::vector<std::string>{"pip"});
    f.put(".condarc", "safety_checks: disabled\n");
    CHECK(f.load().value().unheeded.front().ends_with("safety_checks (gpkg checks every package)"));
    CHECK(f.load("proxy_servers: {ftp: http://proxy:21}\n")
              .error()
              .message.find("found one of ftp") != std::string::npos);
}

TEST_CASE("secrets of settings are not shown", "[config]") {
    Fixture f;
    const auto config = f.load(
                             "proxy_servers: {https: 'u:SECRET@h:9', http: SECRET@h}\n"
                             "channels: ['https://h/t/SECRET/c', 'u:SECRET@h/c']\n"
                             "channel_alias: https://h/c#access_token=SECRET\n")
                            .value();
    for (const auto& setting : shown_settings(config)) {
        CAPTURE(setting.key);
        for (const auto& value : setting.values) CHECK(value.find("SECRET") == std::string::npos);
        for (const auto& [name, values] : setting.entries)
            for (const auto& value : values)
                CHECK(value == (name == "https" ? "***@h:9" : "***@h"));
    }
    CHECK(key_of_variable("GPKG_CHANNELS")->name == "channels");
    CHECK(key_of_variable("CONDA_SUBDIR")->name == "platform");
    CHECK_FALSE(key_of_variable("GPKG_PROXY_SERVERS"));  // maps have none
    CHECK_FALSE(key_of_variable("GPKG_PASSWORD"));
}

TEST_CASE("keys are found, and near ones named", "[config]") {
    CHECK(find_config_key("channels")->shape == ConfigKey::Shape::List);
    CHECK(find_config_key("subdir")->name == "platform");
    CHECK(find_config_key("channel").error().to_string() ==
          "unknown setting 'channel'\n"
          "  hint: did you mean channels, channel_alias or custom_channels?");
    CHECK(find_config_key("xyzzy").error().hint == "to list the settings: gpkg config describe");
    CHECK_THAT(find_config_key("DATA").error().hint,
               ContainsSubstring("gpkg env config vars set -n NAME DATA=VALUE"));
}

TEST_CASE("system, user, root prefix, environment: the later wins", "[config]") {
    Fixture f;
    f.put("system/etc/gpkg/config.yaml",
          "download_threads: 2\nchannels: [site]\nchannel_priority: disabled\n");
    f.put(".config/gpkg/config.yaml", "channels: [mine]\nchannel_priority: flexible\n");
    auto config = f.load("channel_priority: strict\n").value();
    CHECK(config.download_threads.value == 2);
    CHECK(config.channels.value == std::vector<std::string>{"mine"});
    CHECK(config.channels.source == (f.home / ".config/gpkg/config.yaml:1:11").native());
    CHECK(config.channel_priority.value == ChannelPriority::Strict);

    f.variables = {{"GPKG_CHANNELS", "a, b"}, {"CONDA_CHANNEL_PRIORITY", "flexible"}};
    config = f.load().value();
    CHECK(config.channels.value == std::vector<std::string>{"a", "b"});
    CHECK(config.channels.source == "GPKG_CHANNELS");
    CHECK(config.channel_priority.source == "CONDA_CHANNEL_PRIORITY");
    f.variables["CONDA_CHANNELS"] = "c";
    CHECK(f.load().value().channels.source == "GPKG_CHANNELS");

    f.put("elsewhere.yaml", "download_threads: 5\n");
    f.put("xdg/gpkg/config.yaml", "channels: [other]\n");
    f.variables = {{"GPKG_SYSTEM_CONFIG", (f.home / "elsewhere.yaml").native()},
                   {"XDG_CONFIG_HOME", (f.home / "xdg").native()}};
    config = f.load().value();
    CHECK(config.download_threads.value == 5);
    CHECK(config.channels.value == std::vector<std::string>{"other"});
    CHECK(config.file_of(ConfigLevel::System) == f.home / "elsewhere.yaml");
    CHECK(config.file_of(ConfigLevel::User) == f.home / "xdg/gpkg/config.yaml");
    CHECK(config.file_of(ConfigLevel::RootPrefix) == f.file);
}

// The order of files and the rules of joining: conda's SEARCH_PATH and configuration documentation.
TEST_CASE("conda's files count as one, below gpkg's", "[config]") {
    Fixture f;
    f.put("system/etc/conda/.condarc",
          "channels: [site]\nssl_verify: /etc/site.pem\n"
          "custom_channels:\n  mine: https://old/\n  ours: https://site/c\n");
    f.put("system/etc/conda/condarc.d/20.yml", "fetch_threads: 3\n");
    f.put("system/etc/conda/condarc.d/10.yaml", "fetch_threads: 4\nchannels: [early]\n");
    f.put("system/etc/conda/condarc.d/ignored.txt", "channels: [no]\n");
    f.put(".condarc",
          "channels:\n  - mine\n  - site\nchannel_priority: false\nchangeps1: no\n"
          "custom_channels: {mine: 'https://new/'}\npkgs_dirs: [~/pkgs]\nsubdir: linux-aarch64\n"
          "proxy_servers:\n  https: http://${WHO}:pw@proxy:3128\n"
          "virtual_packages:\n  cuda: '12.4'\n  __glibc:\npinned_packages: [numpy 1.26.*]\n"
          "mirrored_channels:\n  conda-forge: [https://near/cf, "
          "https://conda.anaconda.org/conda-forge]\n");
    f.variables["WHO"] = "eve";
    auto config = f.load().value();
    CHECK(config.channels.value == std::vector<std::string>{"mine", "site", "early"});
    const auto user = (f.home / ".condarc").native();
    CHECK(config.channels.source ==
          user + ":2:3, " + (f.home / "system/etc/conda/condarc.d/10.yaml:2:11").native());
    CHECK(config.channel_priority.value == ChannelPriority::Disabled);
    CHECK_FALSE(config.changeps1.value);
    CHECK(config.custom_channels.value ==
          NamedTexts{{"mine", "https://new/"}, {"ours", "https://site/c"}});
    CHECK(config.download_threads.value == 3);
    CHECK(config.ssl_verify.value == "/etc/site.pem");
    CHECK(config.conda_pkgs_dirs.value == std::vector<fs::path>{f.home / "pkgs"});
    CHECK(config.platform.value == "linux-aarch64");
    CHECK(config.proxy_servers.value == NamedTexts{{"https", "http://eve:pw@proxy:3128"}});
    CHECK(config.override_virtual_packages.value == NamedTexts{{"cuda", "12.4"}, {"glibc", ""}});
    CHECK(config.pinned_packages.value == std::vector<std::string>{"numpy 1.26.*"});
    CHECK(config.mirrored_channels.value.at(0).second.size() == 2);
    CHECK(config.unheeded.empty());
    CHECK(config.files.size() == 7);

    config = f.load("channels: [own]\n").value();
    CHECK(config.channels.value == std::vector<std::string>{"own"});
    CHECK(config.download_threads.value == 3);
    config = f.load("use_condarc: false\n").value();
    CHECK(config.channels.value == std::vector<std::string>{"conda-forge"});
    CHECK(config.files.size() == 3);
    f.variables["GPKG_USE_CONDARC"] = "true";
    CHECK(f.load().value().channels.value.front() == "mine");
}

TEST_CASE("rules of channels add up, whoever says them", "[config]") {
    Fixture f;
    f.put(".condarc", "denylist_channels: [evil, worse]\nwhitelist_channels: []\n");
    f.variables["GPKG_ALLOWLIST_CHANNELS"] = "mine,yours";
    const auto config = f.load("allowlist_channels: [mine]\n").value();
    REQUIRE(config.channel_rules.size() == 3);
    CHECK_FALSE(config.channel_rules[0].allows);
    CHECK(config.channel_rules[0].channels == std::vector<std::string>{"evil", "worse"});
    CHECK(config.channel_rules[0].source == (f.home / ".condarc").native() + ":1:20");
    CHECK(config.channel_rules[1].allows);
    CHECK(config.channel_rules[1].channels == std::vector<std::string>{"mine"});
    CHECK(config.channel_rules[2].channels == std::vector<std::string>{"mine", "yours"});
    CHECK(config.channel_rules[2].source == "GPKG_ALLOWLIST_CHANNELS");
    CHECK(f.load("allowlist_channels: [a, '']\n").error().message ==
          f.file.native() + ":1:21: a channel is empty");
}

TEST_CASE("what conda's files say in vain is told", "[config]") {
    Fixture f;
    f.put(".condarc",
          "auto_activate_base: false\nsolver: libmamba\nalways_copy: true\n"
          "offline: true\nchannels: [a] #!final\n");
    const auto file = (f.home / ".condarc").native();
    CHECK(f.load().value().unheeded ==
          std::vector<std::string>{
              file + ": ignored settings: the marks #!top, #!bottom and #!final, always_copy"});
    CHECK(f.load().value().warnings.empty());
    const auto ignored = f.load().value().ignored_keys;
    REQUIRE(ignored.size() == 3);
    CHECK(ignored.front() ==
          std::pair<std::string, std::string>("auto_activate_base", file + ":1:21"));

    f.put(".condarc", "channels: {a: b}\n");
    CHECK(f.load().error().to_string() ==
          file +
              ":1:11: expected a list of channels, found a map\n  hint: to ignore conda's "
              "configuration files, set use_condarc: false in " +
              f.file.native());
}

TEST_CASE("variables stand in paths and URLs", "[config]") {
    Fixture f;
    f.variables = {{"USER", "eve"}, {"HOST", "h"}};
    const auto config = f.load(
                             "cache_dir: /scratch/$USER/gpkg\n"
                             "channels: ['https://${HOST}/a$']\n")
                            .value();
    CHECK(config.cache_dir.value == "/scratch/eve/gpkg");
    CHECK(config.channels.value.at(0) == "https://h/a$");
    CHECK(f.load("cache_dir: /scratch/$NOBODY/gpkg\n").error().message ==
          f.file.native() + ":1:12: environment variable NOBODY is not set");
}

TEST_CASE("$GPKG_ROOT_PREFIX is the root prefix, whether or not the variable is set", "[config]") {
    Fixture f;
    const std::string text = "envs_dirs: [$GPKG_ROOT_PREFIX/envs, /apps/envs]\n";
    CHECK(f.load(text).value().envs_dirs.value ==
          std::vector<fs::path>{f.root / "envs", "/apps/envs"});
    f.put(".config/gpkg/config.yaml", text);
    f.variables = {{"GPKG_ROOT_PREFIX", "/scratch/eve"}};
    CHECK(f.load().value().envs_dirs.value ==
          std::vector<fs::path>{"/scratch/eve/envs", "/apps/envs"});
}

}  // namespace config_test
