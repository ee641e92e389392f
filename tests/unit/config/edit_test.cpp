#include "libcore/config/edit.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

namespace edit_test {
namespace {

struct Fixture {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    fs::path file = folder.path() / "config.yaml";
    std::string channels_variable{};  ///< GPKG_CHANNELS

    Config load() {
        ConfigSources sources;
        sources.environment = [this](std::string_view name) -> std::optional<std::string> {
            if (name == "GPKG_ROOT_PREFIX") return folder.path().native();
            if (name == "GPKG_CHANNELS" && !channels_variable.empty()) return channels_variable;
            return std::nullopt;
        };
        sources.native_platform = "linux-64";
        return load_config(sources).value();
    }
    Config load(std::string_view text) {
        REQUIRE(write_file_atomically(file, text));
        return load();
    }
    ConfigTarget target() {
        now = load();
        return {now, file, {}};
    }
    ConfigTarget target(std::string_view text) {
        now = load(text);
        return {now, file, {}};
    }
    std::string text() const { return read_file(file).value(); }
    Config now;
};

const std::string kSite = R"(# The site's settings.

channels:
  # our own first
  - tools  # kept by Eve
  - conda-forge

# Slow disks.
download_threads: 2   # per user
channel_priority: strict
)";

}  // namespace

TEST_CASE("the first setting makes the file", "[config]") {
    Fixture f;
    REQUIRE(set_config(f.target(), "channel_priority", {"flexible"}));
    CHECK(f.text() == "channel_priority: flexible\n");
    REQUIRE(set_config(f.target(), "channels", {"a", "./b c", "yes"}));
    CHECK(f.text() == "channel_priority: flexible\nchannels:\n  - a\n  - ./b c\n  - \"yes\"\n");
}

TEST_CASE("setting a key leaves the rest alone", "[config]") {
    Fixture f;
    REQUIRE(set_config(f.target(kSite), "download_threads", {"5"}));
    auto expected = kSite;
    expected.replace(expected.find("download_threads: 2"), 19, "download_threads: 5");
    CHECK(f.text() == expected);
    CHECK(f.load().download_threads.value == 5);
    REQUIRE(set_config(f.target(), "channels", {}));
    CHECK(f.load().channels.value.empty());
    CHECK_THAT(f.text(), ContainsSubstring("# The site's settings.\n\nchannels: []\n\n# Slow"));
    REQUIRE(set_config(f.target(), "pinned_packages", {"[]"}));
    CHECK(f.load().pinned_packages.value.empty());
    CHECK_THAT(f.text(), ContainsSubstring("pinned_packages: []\n"));
}

TEST_CASE("one of several invalid keys can be changed or removed", "[config]") {
    Fixture f;
    auto target = f.target();
    REQUIRE(write_file_atomically(f.file, "link: bogus\nchannels: {a: b}\n"));
    REQUIRE(set_config(target, "link", {"copy"}));
    CHECK(f.text() == "link: copy\nchannels: {a: b}\n");
    CHECK(set_config(target, "link", {"bogus"}).error().message.starts_with("link: "));
    REQUIRE(unset_config(target, "channels"));
    CHECK(f.text() == "link: copy\n");
}

TEST_CASE("secrets are copied into the file, although they are not shown", "[config]") {
    Fixture f;
    auto target = f.target();
    f.now.channels = {{"https://u:SECRET@h/c"}, "elsewhere"};
    REQUIRE(add_to_config(target, "channels", "more", ListEnd::Back));
    CHECK(f.load().channels.value == std::vector<std::string>{"https://u:SECRET@h/c", "more"});
}

TEST_CASE("values are added to lists line by line", "[config]") {
    Fixture f;
    CHECK(add_to_config(f.target(kSite), "channels", "bioconda", ListEnd::Back).value());
    CHECK(add_to_config(f.target(), "channels", "mine", ListEnd::Front).value());
    CHECK_THAT(f.text(),
               ContainsSubstring("channels:\n  # our own first\n  - mine\n  - tools  # kept by "
                                 "Eve\n  - conda-forge\n  - bioconda\n\n# Slow disks.\n"));
    CHECK_FALSE(add_to_config(f.target(), "channels", "tools", ListEnd::Back).value());
}

TEST_CASE("every way to write a list can be added to", "[config]") {
    Fixture f;
    struct Row {
        std::string before, after;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"",                             "channels:\n  - conda-forge\n  - new\n"},
        {"download_threads: 2",          "download_threads: 2\nchannels:\n  - conda-forge\n  - new\n"},
        {"channels:\n- a\n- b\n",        "channels:\n- a\n- b\n- new\n"},
        {"channels: [a, b]\n",           "channels:\n  - a\n  - b\n  - new\n"},
        {"channels: [a,\n  b]\nplatform: osx-64\n", "channels:\n  - a\n  - b\n  - new\nplatform: osx-64\n"},
        {"channels: a\n",                "channels:\n  - a\n  - new\n"},
        {"channels:\n",                  "channels:\n  - new\n"},
        {"channels: []\n",               "channels:\n  - new\n"},
        {"\"channels\":\n    -   a\n",   "\"channels\":\n    -   a\n    - new\n"},
    }));
    // clang-format on
    CAPTURE(row.before);
    REQUIRE(add_to_config(f.target(row.before), "channels", "new", ListEnd::Back));
    CHECK(f.text() == row.after);
}

TEST_CASE("values of environment variables are not written to the file", "[config]") {
    Fixture f;
    f.channels_variable = "/only/this/shell";
    REQUIRE(f.load().channels.value == std::vector<std::string>{"/only/this/shell"});
    CHECK(add_to_config(f.target(), "channels", "bioconda", ListEnd::Back).value());
    CHECK(f.text() == "channels:\n  - conda-forge\n  - bioconda\n");
    CHECK(f.load().by_files->channels.value == std::vector<std::string>{"conda-forge", "bioconda"});
}

TEST_CASE("values are removed line by line", "[config]") {
    Fixture f;
    REQUIRE(remove_from_config(f.target(kSite), "channels", "tools"));
    CHECK_THAT(f.text(), ContainsSubstring("channels:\n  # our own first\n  - conda-forge\n\n#"));
    REQUIRE(remove_from_config(f.target(), "channels", "conda-forge"));
    CHECK_THAT(f.text(), ContainsSubstring("settings.\n\nchannels: []\n\n# Slow disks.\n"));
    CHECK(remove_from_config(f.target(), "channels", "conda-forge").error().message ==
          f.file.native() + ": channels does not contain 'conda-forge'");
}

TEST_CASE("a value is removed by the text that lists show of it", "[config]") {
    Fixture f;
    REQUIRE(set_config(f.target(), "channels", {"https://me:secret@h/c", "bioconda"}));
    const auto shown = [](std::string_view value) {
        return value == "https://me:secret@h/c" ? std::string("https://h/c") : std::string(value);
    };
    CHECK(!remove_from_config(f.target(), "channels", "https://h/c"));
    REQUIRE(remove_from_config(f.target(), "channels", "https://h/c", shown));
    CHECK(f.load().channels.value == std::vector<std::string>{"bioconda"});
}

TEST_CASE("a key is taken out whole", "[config]") {
    Fixture f;
    REQUIRE(unset_config(f.target(kSite), "channels"));
    CHECK(f.text() ==
          "# The site's settings.\n\n\n# Slow disks.\ndownload_threads: 2   # per "
          "user\nchannel_priority: strict\n");
    CHECK(unset_config(f.target(), "channels").error().message ==
          f.file.native() + ": channels is not set");
}

TEST_CASE("conda's word for the platform is kept where it stands", "[config]") {
    Fixture f;
    REQUIRE(set_config(f.target("subdir: osx-64\n"), "platform", {"linux-64"}));
    CHECK(f.text() == "subdir: linux-64\n");
}

TEST_CASE("what could not be loaded is not written", "[config]") {
    Fixture f;
    const auto refused = [&](std::string_view key, const std::vector<std::string>& values) {
        const auto done = set_config(f.target(kSite), key, values);
        CHECK(f.text() == kSite);
        REQUIRE_FALSE(done);
        return done.error().message;
    };
    CHECK(refused("channel_priority", {"best"}) ==
          "channel_priority: expected strict, flexible or disabled, found 'best'");
    CHECK(refused("channel_priority", {"strict", "flexible"}) ==
          "channel_priority takes one value");
    CHECK(refused("chanels", {"a"}) == "unknown setting 'chanels'");
    CHECK(add_to_config(f.target(), "platform", "x", ListEnd::Back).error().to_string() ==
          "platform is not a list\n  hint: gpkg config set platform VALUE");
}

TEST_CASE("a file written in a way that lines cannot express is left alone", "[config]") {
    Fixture f;
    const std::string flow = "{channels: [a], platform: osx-64}\n";
    const auto done = set_config(f.target(flow), "channels", {"b"});
    REQUIRE_FALSE(done);
    CHECK(f.text() == flow);
}

TEST_CASE("a link to a file elsewhere stays a link", "[config]") {
    Fixture f;
    const auto real = f.folder.path() / "dotfiles/gpkg.yaml";
    REQUIRE(write_file_atomically(real, "platform: osx-64\n"));
    fs::create_symlink(real, f.file);
    REQUIRE(set_config(f.target(), "platform", {"linux-64"}));
    CHECK(fs::is_symlink(f.file));
    CHECK(read_file(real).value() == "platform: linux-64\n");
}

TEST_CASE("what stands for one name of a map is changed alone", "[config]") {
    Fixture f;
    REQUIRE(set_config(f.target(), "custom_channels.mine", {"https://host/c"}));
    CHECK(f.text() == "custom_channels:\n  mine: https://host/c\n");
    REQUIRE(set_config(f.target(), "custom_channels.other", {"file:///c"}));
    REQUIRE(set_config(f.target(), "custom_channels.mine", {"https://new/c"}));
    REQUIRE(set_config(f.target(), "platform", {"linux-64"}));
    CHECK(f.text() ==
          "custom_channels:\n  mine: https://new/c\n  other: file:///c\nplatform: linux-64\n");
    REQUIRE(unset_config(f.target(), "custom_channels.mine"));
    CHECK(f.text() == "custom_channels:\n  other: file:///c\nplatform: linux-64\n");
    REQUIRE(unset_config(f.target(), "custom_channels.other"));
    CHECK(f.text() == "platform: linux-64\n");
    REQUIRE(unset_config(f.target("custom_channels:\n  # mine\n  a: file:///a\n"),
                         "custom_channels.a"));
    CHECK(f.text() == "custom_channels:\n  # mine\n");

    const std::string kept =
        "mirrored_channels:\n    # near ones first\n    conda-forge:\n"
        "      - https://a/cf\n    b: [https://b]\n";
    REQUIRE(add_to_config(
        f.target(kept), "mirrored_channels.conda-forge", "https://z/cf", ListEnd::Back));
    CHECK(f.text() ==
          "mirrored_channels:\n    # near ones first\n    conda-forge:\n"
          "      - https://a/cf\n      - https://z/cf\n    b: [https://b]\n");
    CHECK(f.load().mirrored_channels.value ==
          NamedLists{{"conda-forge", {"https://a/cf", "https://z/cf"}}, {"b", {"https://b"}}});

    CHECK(set_config(f.target(), "custom_channels", {"x"}).error().to_string() ==
          "custom_channels is a map; set one name at a time\n"
          "  hint: gpkg config set custom_channels.NAME VALUE");
    CHECK(set_config(f.target(), "channels.x", {"x"}).error().message ==
          "channels.x: channels is not a map");
    CHECK(set_config(f.target(), "custom_channels.mine", {"nowhere"}).error().message ==
          "custom_channels: expected a URL for mine, found 'nowhere'");
}

}  // namespace edit_test
