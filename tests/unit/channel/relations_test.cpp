#include "libcore/channel/relations.hpp"

#include "tests/support/catch.hpp"

#include <fmt/format.h>
#include <map>

using namespace gpkg;

namespace relations_test {
namespace {

/// What channels declare, by name; a channel may be there once for each subdir.
using World = std::multimap<std::string, ChannelRelations>;

/// The names of the ordered channels, or the error's message.
struct Ordered {
    std::string text;
    RelatedChannels related;
    std::vector<std::vector<std::string>> loaded;  ///< names, call by call
};

Ordered order(const std::vector<std::string>& wanted,
              const World& world,
              const RelationOptions& options = {}) {
    Ordered ordered;
    const auto load = [&](std::span<const Channel> channels) -> Result<std::vector<Declarations>> {
        std::vector<Declarations> all;
        ordered.loaded.emplace_back();
        for (const auto& channel : channels) {
            ordered.loaded.back().push_back(channel.name());
            Declarations declared;
            const auto [begin, end] = world.equal_range(channel.name());
            for (auto one = begin; one != end; ++one) declared.push_back(one->second);
            all.push_back(std::move(declared));
        }
        return all;
    };
    const auto channels = parse_channels(wanted, options.context).value();
    auto related = relate_channels(channels, load, options);
    if (!related) {
        ordered.text = related.error().message;
        return ordered;
    }
    for (const auto& channel : related->channels)
        ordered.text += (ordered.text.empty() ? "" : " ") + channel.name();
    ordered.related = *std::move(related);
    return ordered;
}

ChannelRelations base(std::string reference) { return {std::move(reference), ""}; }
ChannelRelations overrides(std::string reference) { return {"", std::move(reference)}; }

}  // namespace

TEST_CASE("CEP 42: the examples", "[channel]") {
    const World world{
        {"bioconda", base("../conda-forge")},
        {"conda-forge/label/rc", overrides("../..")},
        {"my-channel", base("../bioconda")},
        {"both", {"../conda-forge", "../my-hotfixes"}},
    };
    struct Row {
        std::vector<std::string> wanted;
        std::string order;
    };
    const auto row = GENERATE(values<Row>({
        {{"conda-forge"}, "conda-forge"},
        {{"bioconda"}, "conda-forge bioconda"},
        {{"conda-forge/label/rc"}, "conda-forge/label/rc conda-forge"},
        {{"my-channel"}, "conda-forge bioconda my-channel"},
        {{"both"}, "conda-forge both my-hotfixes"},
        {{"conda-forge", "bioconda"}, "conda-forge bioconda"},
        {{"bioconda", "conda-forge"}, "bioconda conda-forge"},
    }));
    CAPTURE(row.wanted);
    CHECK(order(row.wanted, world).text == row.order);
}

TEST_CASE("every edge holds, and related channels stand side by side", "[channel]") {
    struct Row {
        std::string what;
        std::vector<std::string> wanted;
        World world;
        std::string order;
    };
    const auto row = GENERATE(values<Row>({
        {"nothing declared: the user's order", {"c", "a", "b"}, {}, "c a b"},
        {"a shared base", {"a", "b"}, {{"a", base("../x")}, {"b", base("../x")}}, "x a b"},
        {"own bases", {"a", "b"}, {{"a", base("../x")}, {"b", base("../y")}}, "x a y b"},
        {"overridden: before the user's next", {"a", "b"}, {{"a", overrides("../x")}}, "a x b"},
        {"overridden by both",
         {"a", "b"},
         {{"a", overrides("../x")}, {"b", overrides("../x")}},
         "a b x"},
        {"a chain below",
         {"a", "b"},
         {{"a", overrides("../x")}, {"x", overrides("../y")}},
         "a x y b"},
        {"a base with an override of its own",
         {"a"},
         {{"a", base("../x")}, {"x", overrides("../y")}},
         "x y a"},
        {"an override with a base of its own",
         {"a"},
         {{"a", overrides("../x")}, {"x", base("../y")}},
         "a y x"},
        {"each subdir speaks for itself",
         {"a"},
         {{"a", base("../x")}, {"a", overrides("../y")}},
         "x a y"},
        {"both subdirs say the same", {"a"}, {{"a", base("../x")}, {"a", base("../x")}}, "x a"},
        {"a diamond",
         {"a"},
         {{"a", {"../x", "../y"}}, {"x", overrides("../z")}, {"z", overrides("../a")}},
         "x z a y"},
        {"agreed twice over", {"a", "b"}, {{"a", overrides("../b")}, {"b", base("../a")}}, "a b"},
        {"both ways, and the user decides",
         {"b", "a"},
         {{"a", base("../b")}, {"b", base("../a")}},
         "b a"},
        {"a relation over three of the user's", {"a", "b", "c"}, {{"a", base("../c")}}, "a b c"},
        {"a channel the user names is not moved",
         {"a", "x", "b"},
         {{"b", base("../x")}, {"a", base("../x")}},
         "a x b"},
    }));
    CAPTURE(row.what);
    CHECK(order(row.wanted, row.world).text == row.order);
}

TEST_CASE("what channels bring along, and what the user's order overrules, is told", "[channel]") {
    const World world{{"bioconda", base("../conda-forge")},
                      {"bioconda", base("../conda-forge")},
                      {"rc", overrides("../main")}};
    const auto ordered = order({"bioconda", "conda-forge", "rc"}, world);
    CHECK(ordered.text == "bioconda conda-forge rc main");
    CHECK(ordered.related.ignored ==
          std::vector<std::string>{"bioconda declares conda-forge as its base; using your order"});
    CHECK(ordered.related.added ==
          std::vector<std::string>{"also using main: rc declares that it overrides main"});
}

TEST_CASE("each channel is read once, all of one distance together", "[channel]") {
    const World world{
        {"a", base("../c")}, {"b", base("../d")}, {"c", base("../e")}, {"d", {"../e", "../b/sub"}}};
    CHECK(order({"a", "b", "a"}, world).loaded ==
          std::vector<std::vector<std::string>>{{"a", "b"}, {"c", "d"}, {"e", "b/sub"}});
}

TEST_CASE("circles are refused, and who declares what is said", "[channel]") {
    struct Row {
        std::vector<std::string> wanted;
        World world;
        std::string message;
    };
    const auto row = GENERATE(values<Row>({
        {{"a"},
         {{"a", base("../b")}, {"b", base("../a")}},
         "conflicting channel order: b declares a as its base and a declares b as its base"},
        {{"a"}, {{"a", base("../a")}}, "conflicting channel order: a declares a as its base"},
        {{"a"},
         {{"a", base("../b")}, {"a", overrides("../b")}},
         "conflicting channel order: a declares that it overrides b and a declares b as its base"},
        {{"my", "cf"},
         {{"my", base("../bio")}, {"bio", base("../cf")}},
         "conflicting channel order: bio declares cf as its base, your order has my before cf and "
         "my declares bio as its base"},
        {{"a", "free"},
         {{"a", base("../b")}, {"b", base("../c")}, {"c", base("../d")}, {"d", base("../b")}},
         "conflicting channel order: d declares b as its base, b declares c as its base and c "
         "declares d as its base"},
        {{"a", "b"}, {{"a", {"../b", "../b"}}}, "a: declares b both as its base and as overridden"},
    }));
    CAPTURE(row.message);
    CHECK(order(row.wanted, row.world).text == row.message);
}

TEST_CASE("chains have a limit", "[channel]") {
    World world;
    for (int i = 0; i < 20; ++i)
        world.emplace(fmt::format("c{}", i), base(fmt::format("../c{}", i + 1)));
    CHECK(order({"c10"}, world).related.channels.size() == 11);
    CHECK(order({"c9"}, world).text ==
          "c20: 11 levels of channel relations exceed channel_relations_max_depth (10)");
    CHECK(order({"c10"}, world).text.starts_with("c20 c19 "));
    RelationOptions options;
    options.most_depth = 1;
    CHECK(order({"c19"}, world, options).text == "c20 c19");
    CHECK(order({"c18"}, world, options).related.channels.empty());
    options.most_depth = 0;
    const auto off = order({"c18", "a"}, world, options);
    CHECK(off.text == "c18 a");
    CHECK(off.loaded.empty());

    // As many as a server can invent.
    World wide;
    for (int i = 0; i < 300; ++i) wide.emplace("a", base(fmt::format("../x{}", i)));
    CHECK(order({"a"}, wide).text == "a: channel relations add more than 100 channels");
}

TEST_CASE("references are relative, and stay with their server", "[channel]") {
    const auto resolved = [](const std::string& channel, const std::string& reference) {
        const auto found = resolve_reference(Channel::parse(channel, {}).value(), reference, {});
        return found ? found->with_credentials(found->base_url()) : "refused";
    };
    struct Row {
        std::string channel, reference, resolved;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"bioconda",                  "../conda-forge",    "https://conda.anaconda.org/conda-forge"},
        {"bioconda",                  "../conda-forge/",   "https://conda.anaconda.org/conda-forge"},
        {"conda-forge/label/rc",      "../..",             "https://conda.anaconda.org/conda-forge"},
        {"conda-forge/label/rc",      "../../",            "https://conda.anaconda.org/conda-forge"},
        {"conda-forge/label/rc",      "../../label/dev",   "https://conda.anaconda.org/conda-forge/label/dev"},
        {"https://h.example:8443/a/b", "../../c",          "https://h.example:8443/c"},
        {"https://h.example/a",       "../",               "https://h.example"},
        {"https://u:p@h.example/a",   "../b",              "https://u:p@h.example/b"},
        {"https://h.example/t/tk-1/a", "../b",             "https://h.example/t/tk-1/b"},
        {"https://h.example/x/t/tk-1/a", "../b",           "https://h.example/x/t/tk-1/b"},
        {"https://h.example/x/t/tk-1/a", "../../y/b",      "https://h.example/y/b"},
        {"/data/chan",                "../other",          "file:///data/other"},
        {"/data/my chan",             "../my%20other",     "file:///data/my%20other"},
        // not relative, or not as it must be written
        {"bioconda",                  "conda-forge",       "refused"},
        {"bioconda",                  "./conda-forge",     "refused"},
        {"bioconda",                  "/conda-forge",      "refused"},
        {"bioconda",                  "..",                "refused"},
        {"bioconda",                  "https://evil.example/x", "refused"},
        {"bioconda",                  "//evil.example/x",  "refused"},
        {"bioconda",                  "..\\conda-forge",   "refused"},
        // beyond the server, or hiding that
        {"bioconda",                  "../../x",           "refused"},
        {"bioconda",                  "../..",             "refused"},
        {"https://h.example/t/tk-1/a", "../../b",          "refused"},
        {"bioconda",                  "../x/../../../y",   "refused"},
        {"bioconda",                  "../x/./y",          "refused"},
        {"bioconda",                  "..//evil.example",  "refused"},
        {"bioconda",                  "../%2e%2e/x",       "refused"},
        {"bioconda",                  "../x%2F..%2fy",     "refused"},
        {"bioconda",                  "../x?y",            "refused"},
        {"bioconda",                  "../x#y",            "refused"},
        {"bioconda",                  "../x y",            "refused"},
        {"bioconda",                  "../x\ny",           "refused"},
        {"bioconda",                  "../linux-64",       "refused"},
        {"/data",                     "../../x",           "refused"},
        {"/data",                     "../%2e%2e/x",       "refused"},
        {"/data",                     "../",               "refused"},
    }));
    // clang-format on
    CAPTURE(row.channel, row.reference);
    CHECK(resolved(row.channel, row.reference) == row.resolved);
}

TEST_CASE("local channels can be held below a folder", "[channel]") {
    RelationOptions options;
    options.local_root = "/data/channels";
    const auto here = Channel::parse("/data/channels/a", {}).value();
    CHECK(resolve_reference(here, "../b", options));
    CHECK(resolve_reference(here, "../..channels", options));
    CHECK_FALSE(resolve_reference(here, "../../b", options));
    CHECK_FALSE(resolve_reference(here, "../../channels2/b", options));
    CHECK(resolve_reference(here, "../../b", options).error().message ==
          "file:///data/channels/a: invalid channel relation '../../b': it is outside of "
          "/data/channels");
}

TEST_CASE("a reference that is refused names its channel", "[channel]") {
    const auto error = order({"bioconda"}, {{"bioconda", base("https://evil.example/\x1b[2J")}});
    CHECK(error.text ==
          "https://conda.anaconda.org/bioconda: invalid channel relation "
          "'https://evil.example/\\x1b[2J': it is not a relative path that starts with '../'");
}

TEST_CASE("what cannot be read ends it", "[channel]") {
    const auto load = [](std::span<const Channel>) -> Result<std::vector<Declarations>> {
        return fail(ErrorKind::Network, "no network");
    };
    const std::vector channels{Channel::parse("a", {}).value()};
    CHECK(relate_channels(channels, load, {}).error().message == "no network");
}

}  // namespace relations_test
