#include "libcore/channel/channel.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

namespace channel_test {
namespace {

ChannelContext context() {
    ChannelContext context;
    context.home = "/home/ann";
    context.folder = "/work dir";
    return context;
}

}  // namespace

TEST_CASE("every way to write a channel has one canonical form", "[channel]") {
    struct Row {
        std::string text, base_url, name;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"conda-forge",                          "https://conda.anaconda.org/conda-forge",          "conda-forge"},
        {" conda-forge/ ",                       "https://conda.anaconda.org/conda-forge",          "conda-forge"},
        {"conda-forge/label/rc",                 "https://conda.anaconda.org/conda-forge/label/rc", "conda-forge/label/rc"},
        {"HCC",                                  "https://conda.anaconda.org/HCC",                  "HCC"},
        {"pkgs/main",                            "https://repo.anaconda.com/pkgs/main",             "pkgs/main"},
        {"https://conda.anaconda.org/nvidia/",   "https://conda.anaconda.org/nvidia",               "nvidia"},
        {"HTTPS://Conda.Anaconda.Org:443/nvidia", "https://conda.anaconda.org/nvidia",              "nvidia"},
        {"https://h.example:8443/a/b",           "https://h.example:8443/a/b",                      "https://h.example:8443/a/b"},
        {"https://h.example",                    "https://h.example",                               "https://h.example"},
        {"https://h.example/~joe/conda",         "https://h.example/~joe/conda",                    "https://h.example/~joe/conda"},
        {"https://u:p@h.example/a",              "https://h.example/a",                             "https://h.example/a"},
        {"https://h.example/t/tk-1/a/label/b",   "https://h.example/a/label/b",                     "https://h.example/a/label/b"},
        {"/data/chan/",                          "file:///data/chan",                               "file:///data/chan"},
        {"./chan",                               "file:///work%20dir/chan",                         "file:///work%20dir/chan"},
        {"../chan",                              "file:///chan",                                    "file:///chan"},
        {".",                                    "file:///work%20dir",                              "file:///work%20dir"},
        {"~/chan",                               "file:///home/ann/chan",                           "file:///home/ann/chan"},
        {"~",                                    "file:///home/ann",                                "file:///home/ann"},
        {"file:///data//x/../my chan",           "",                                                ""},
        {"file:///data//x/../my%20chan/",        "file:///data/my%20chan",                          "file:///data/my%20chan"},
        {"file://localhost/data",                "file:///data",                                    "file:///data"},
    }));
    // clang-format on
    CAPTURE(row.text);
    const auto channel = Channel::parse(row.text, context());
    REQUIRE(channel.has_value() == !row.base_url.empty());
    if (!channel) return;
    CHECK(channel->base_url() == row.base_url);
    CHECK(channel->name() == row.name);
    CHECK(Channel::parse(channel->base_url(), context()).value() == *channel);
}

TEST_CASE("what is no channel is refused with the reason", "[channel]") {
    struct Row {
        std::string text, told;
    };
    const std::string allowed =
        "\n  hint: use a name (letters, digits, '-', '_', '.'), a URL, or a path that starts with "
        "'./', '/' or '~'";
    // clang-format off
    const auto row = GENERATE_COPY(values<Row>({
        {"",                 "channel '': the name is empty"},
        {"  ",               "channel '  ': the name is empty"},
        {"conda forge",      "channel 'conda forge': 'conda forge' is not allowed in a channel name" + allowed},
        {"-conda",           "channel '-conda': '-conda' is not allowed in a channel name" + allowed},
        {"conda>1",          "channel 'conda>1': 'conda>1' is not allowed in a channel name" + allowed},
        {"a//b",             "channel 'a//b': a path part is empty"},
        {"a/../b",           "channel 'a/../b': '.' and '..' are not allowed"},
        {"a/label",          "channel 'a/label': the label after '/label' is missing"},
        {"a/label/1",        "channel 'a/label/1': '1' is not a label; labels start with a letter"},
        {"~joe/chan",        "channel '~joe/chan': '~user' is not supported\n  hint: write the path in full"},
        {"C:\\chan",         "channel 'C:\\chan': Windows paths do not work on this system"},
        {"conda-forge/linux-64", "channel 'conda-forge/linux-64': 'linux-64' is a platform, not a part of the channel\n  hint: use -c conda-forge --platform linux-64"},
        {"/data/noarch/",    "channel '/data/noarch/': 'noarch' is a platform, not a part of the channel\n  hint: use -c /data"},
        {"https://u:pw@h/t/tk/c/osx-arm64", "channel 'https://h/c/osx-arm64': 'osx-arm64' is a platform, not a part of the channel\n  hint: use -c https://h/c --platform osx-arm64"},
        {"https://h/a?x=1",  "channel 'https://h/a': '?' and '#' are not allowed"},
        {"https://h/a/../b", "channel 'https://h/a/../b': '.' and '..' are not allowed"},
        {"s3://h/a",         "s3://h/a: 's3' URLs are not supported\n  hint: use http, https, oci or file"},
        {"file://server/a",  "file://server/a: cannot read files on host 'server'\n  hint: a path on this machine needs three slashes: file:///path"},
        {"/",                "channel '/': the root folder is not a channel"},
        {"defaults",         "channel 'defaults': the name stands for several channels\n  hint: use one of https://repo.anaconda.com/pkgs/main or https://repo.anaconda.com/pkgs/r"},
    }));
    // clang-format on
    CAPTURE(row.text);
    const auto channel = Channel::parse(row.text, context());
    REQUIRE_FALSE(channel);
    CHECK(channel.error().to_string() == row.told);
}

TEST_CASE("without a home there is no ~", "[channel]") {
    CHECK(Channel::parse("~/chan", {}).error().to_string() ==
          "channel '~/chan': no home folder found\n  hint: write the path in full");
}

TEST_CASE("a part may have 128 characters", "[channel]") {
    CHECK(Channel::parse(std::string(128, 'a'), context()));
    CHECK_FALSE(Channel::parse(std::string(129, 'a'), context()));
}

TEST_CASE("names are looked up below the alias, with its credentials", "[channel]") {
    auto mine = context();
    mine.alias = "https://u:p@corp.example/t/tok/conda/";
    const auto channel = Channel::parse("tools", mine).value();
    CHECK(channel.base_url() == "https://corp.example/conda/tools");
    CHECK(channel.name() == "tools");
    CHECK(channel.subdir_url("noarch") == "https://corp.example/conda/tools/noarch");
    CHECK(channel.with_credentials("https://corp.example/conda/tools/noarch/a.conda") ==
          "https://u:p@corp.example/t/tok/conda/tools/noarch/a.conda");
    CHECK(channel.with_credentials("https://corp.example/other/a.conda") ==
          "https://u:p@corp.example/other/a.conda");
    CHECK(channel.with_credentials("https://corp.example/conda/toolsmith/a") ==
          "https://u:p@corp.example/conda/toolsmith/a");
    CHECK(channel.with_credentials("https://cdn.example/a.conda") == "https://cdn.example/a.conda");
    CHECK(channel.with_credentials("http://corp.example/conda/tools/a") ==
          "http://corp.example/conda/tools/a");
}

TEST_CASE("lists of channels are unfolded and keep the first of equals", "[channel]") {
    const auto names = [](const std::vector<std::string>& texts) {
        std::vector<std::string> found;
        found.reserve(texts.size());
        const auto channels = parse_channels(texts, context()).value();
        for (const auto& channel : channels) found.push_back(channel.name());
        return found;
    };
    CHECK(names({"defaults"}) == std::vector<std::string>{"pkgs/main", "pkgs/r"});
    CHECK(names({"conda-forge", "nodefaults"}) == std::vector<std::string>{"conda-forge"});
    CHECK(names({"a", "https://conda.anaconda.org/a", "b", "a"}) ==
          std::vector<std::string>{"a", "b"});
    CHECK_FALSE(parse_channels(std::vector<std::string>{"a", "b c"}, context()));
}

TEST_CASE("a platform is read before noarch", "[channel]") {
    CHECK(subdirs_for("linux-64") == std::vector<std::string>{"linux-64", "noarch"});
    CHECK(subdirs_for("noarch") == std::vector<std::string>{"noarch"});
}

TEST_CASE("a local channel knows its folder", "[channel]") {
    CHECK(Channel::parse("./my chan", context())->folder() == "/work dir/my chan");
    CHECK(Channel::parse("./my chan", context())->is_local());
    CHECK_FALSE(Channel::parse("conda-forge", context())->is_local());
}

// conda: custom_channels gives the location, the channel's name is appended.
TEST_CASE("channels can have a place of their own", "[channel]") {
    auto where = context();
    where.custom = {{"mine", "https://user:pw@host/conda/"},
                    {"mine/deep", "https://deep"},
                    {"here", "~/channels"}};
    const auto url = [&](std::string_view text) {
        return Channel::parse(text, where).value().base_url();
    };
    CHECK(url("mine") == "https://host/conda/mine");
    CHECK(url("mine/label/rc") == "https://host/conda/mine/label/rc");
    CHECK(url("mine/deep") == "https://deep/mine/deep");
    CHECK(url("minerals") == "https://conda.anaconda.org/minerals");
    CHECK(url("here") == "file://" + (where.home / "channels/here").native());
    const auto mine = Channel::parse("mine", where).value();
    CHECK(mine.name() == "mine");
    CHECK(mine.with_credentials("https://host/conda/mine/noarch/repodata.json") ==
          "https://user:pw@host/conda/mine/noarch/repodata.json");
    CHECK(Channel::parse("https://host/conda/mine/label/rc", where)->name() == "mine/label/rc");
}

TEST_CASE("a name can stand for several channels", "[channel]") {
    auto where = context();
    where.several = {{"defaults", {"a", "https://host/b"}}, {"lab", {"c", "a"}}};
    const auto channels =
        parse_channels(std::vector<std::string>{"lab", "defaults"}, where).value();
    std::vector<std::string> names;
    for (const auto& channel : channels) names.push_back(channel.name());
    CHECK(names == std::vector<std::string>{"c", "a", "https://host/b"});
    where.several = {{"loop", {"loop"}}};
    CHECK_FALSE(parse_channels("loop", where));
}

}  // namespace channel_test
