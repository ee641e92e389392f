#include "libcore/indexing/patch_instructions.hpp"

#include "tests/unit/indexing/indexed_channel.hpp"

using gpkg::PatchInstructions;
using gpkg::tests::Channel;

namespace patch_instructions_test {
namespace {

Json instructions(const Json& more) {
    Json json{{"patch_instructions_version", 1}};
    json.update(more);
    return json;
}

void write(const fs::path& file, const Json& json) {
    if (const auto done = gpkg::write_file_atomically(file, json.dump()); !done)
        FAIL(done.error().to_string());
}

Json record_of(const Channel& channel, const std::string& file) {
    const auto repodata = channel.json("c/linux-64/repodata.json");
    return repodata.at(file.ends_with(".conda") ? "packages.conda" : "packages").at(file);
}

/// Every file of the channel that clients may read, with its bytes.
std::map<std::string, std::string> published(const Channel& channel) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(channel.at("c"))) {
        const auto path = entry.path();
        const auto name = path.filename().native();
        if (!entry.is_regular_file() || name.starts_with('.')) continue;
        if (path.parent_path().filename() == "shards") continue;
        files[fs::relative(path, channel.at("c"))] = gpkg::read_file(path).value();
    }
    return files;
}

}  // namespace

TEST_CASE("hotfixes change the index, and without them it is the old one", "[build]") {
    Channel channel;
    channel.add({{"license", "MIT"}, {"track_features", "x"}});
    channel.add({}, "linux-64", true);
    channel.add({{"name", "gone"}});
    channel.add({{"name", "odd"}}, "linux-64", true);
    channel.add({{"name", "new"}, {"schema_version", 3}});
    channel.add({{"name", "n"}}, "noarch");
    channel.index();
    const auto before = published(channel);

    write(channel.at("p/linux-64/patch_instructions.json"),
          instructions({{"packages", {{"a-1-h0_0.tar.bz2", {{"depends", {"b >=2"}}}}}},
                        {"packages.conda",
                         {{"a-1-h0_0.conda", {{"license", nullptr}, {"constrains", {"c <1"}}}},
                          {"new-1-h0_0.conda", {{"depends", {"b >=3"}}}}}},
                        {"revoke", {"odd-1-h0_0.tar.bz2"}},
                        {"remove", {"gone-1-h0_0.tar.bz2", "other-1-0.tar.bz2"}}}));
    channel.options.timestamp = 2000;
    channel.options.patch = channel.at("p");
    const auto summary = channel.index();
    REQUIRE(summary.patches.size() == 1);
    CHECK(summary.patches[0].unmatched == std::vector<std::string>{"other-1-0.tar.bz2"});
    CHECK(summary.subdirs[0].read == 0);
    CHECK(summary.subdirs[0].packages == 4);

    const auto conda = record_of(channel, "a-1-h0_0.conda");
    CHECK(conda.at("depends") == Json{"b >=2"});
    CHECK(conda.at("constrains") == Json{"c <1"});
    CHECK_FALSE(conda.contains("license"));
    CHECK(conda.at("track_features") == "x");
    CHECK(conda.at("indexed_timestamp") == 1000);
    CHECK(record_of(channel, "a-1-h0_0.tar.bz2").at("depends") == Json{"b >=2"});
    CHECK_FALSE(record_of(channel, "a-1-h0_0.tar.bz2").contains("constrains"));
    CHECK(record_of(channel, "odd-1-h0_0.tar.bz2").at("depends") ==
          Json{"b >=1", "package_has_been_revoked"});
    const auto repodata = channel.json("c/linux-64/repodata.json");
    CHECK(repodata.at("removed") == Json{"gone-1-h0_0.conda"});
    CHECK(repodata.at("v3").at("conda").at("new-1-h0_0").at("depends") ==
          Json{R"(b[version=">=3"])"});
    // CEP 12: all that the packages say.
    CHECK(channel.text("c/linux-64/run_exports.json") == before.at("linux-64/run_exports.json"));
    CHECK(channel.text("c/linux-64/repodata_from_packages.json") ==
          before.at("linux-64/repodata.json"));
    CHECK(channel.text("c/noarch/repodata.json") == before.at("noarch/repodata.json"));

    // They stay until they are taken away; what is removed is not withdrawn for good, not even
    // where the indexer's memory got lost.
    channel.options.patch.reset();
    const auto patched = published(channel);
    channel.index();
    CHECK(published(channel) == patched);
    fs::remove(channel.at("c/linux-64/.gpkg-index"));
    channel.index();
    CHECK(published(channel) == patched);
    channel.options.drop_patch = true;
    channel.index();
    CHECK(published(channel) == before);
}

TEST_CASE("a kept indexer sees hotfixes come and go", "[build]") {
    const Channel channel;
    channel.add({});
    gpkg::ChannelIndexer indexer(channel.at("c"), channel.options);
    CHECK(indexer.look() == true);
    const auto file = channel.at("c/linux-64/patch_instructions.json");
    write(file, instructions({{"remove", {"a-1-h0_0.conda"}}}));
    CHECK(indexer.look() == true);
    CHECK(Json::parse(indexer.repodata("linux-64")).at("packages.conda").empty());
    CHECK(indexer.look() == false);
    fs::remove(file);
    CHECK(indexer.look() == true);
    CHECK(Json::parse(indexer.repodata("linux-64")).at("packages.conda").size() == 1);
}

TEST_CASE("version 2 changes run_exports, version 1 does not", "[build]") {
    const int version = GENERATE(1, 2);
    Channel channel;
    channel.add({});
    write(channel.at("c/linux-64/patch_instructions.json"),
          {{"patch_instructions_version", version},
           {"packages",
            {{"a-1-h0_0.tar.bz2", {{"run_exports", {{"weak", {"a >=1,<2"}}, {"x", 1}}}}}}}});
    channel.index();
    const auto exports = channel.json("c/linux-64/run_exports.json")
                             .at("packages.conda")
                             .at("a-1-h0_0.conda")
                             .at("run_exports");
    CHECK(exports == Json{{"weak", {version == 2 ? "a >=1,<2" : "a >=1"}}});
    CHECK_FALSE(record_of(channel, "a-1-h0_0.conda").contains("run_exports"));
}

TEST_CASE("hotfixes come from a folder, a package or a file that says its subdir", "[build]") {
    Channel channel;
    channel.add({});
    channel.add({}, "noarch");
    const auto removal = instructions({{"remove", {"a-1-h0_0.conda"}}});
    const auto counts = [&] {
        const auto summary = channel.index();
        return std::pair(summary.subdirs[0].packages, summary.subdirs[1].packages);
    };
    write(channel.at("p/linux-64/patch_instructions.json"), removal);
    write(channel.at("p/noarch/patch_instructions.json"), removal);
    channel.options.patch = channel.at("p/linux-64/patch_instructions.json");
    CHECK(counts() == std::pair<std::size_t, std::size_t>(0, 1));
    channel.options.patch = channel.at("p");
    CHECK(counts() == std::pair<std::size_t, std::size_t>(0, 0));
    // A folder says all: what it leaves out is not patched any more.
    fs::remove(channel.at("p/linux-64/patch_instructions.json"));
    CHECK(counts() == std::pair<std::size_t, std::size_t>(1, 0));

    const bool bz2 = GENERATE(false, true);
    gpkg::PackageContent content;
    content.folder = channel.at("p");
    content.files = {"noarch/patch_instructions.json"};
    write(channel.at("p/noarch/patch_instructions.json"), removal);
    const auto sum = gpkg::sha256_of_file(channel.at("p/noarch/patch_instructions.json")).value();
    content.info = {
        {"index.json",
         R"({"name":"fixes","version":"1","build":"0","build_number":0,"subdir":"noarch"})"},
        {"paths.json",
         Json{
             {"paths_version", 1},
             {"paths",
              {{{"_path", content.files[0]},
                {"path_type", "hardlink"},
                {"sha256", sum},
                {"size_in_bytes", fs::file_size(channel.at("p/noarch/patch_instructions.json"))}}}}}
             .dump()}};
    const auto package = bz2 ? gpkg::write_tar_bz2(content, channel.at("out"), {})
                             : gpkg::write_conda(content, channel.at("out"), {});
    REQUIRE(package);
    channel.options.patch.reset();
    channel.options.drop_patch = true;
    CHECK(counts() == std::pair<std::size_t, std::size_t>(1, 1));
    channel.options.drop_patch = false;
    channel.options.patch = *package;
    CHECK(counts() == std::pair<std::size_t, std::size_t>(1, 0));
}

TEST_CASE("what cannot be applied is named, and nothing is written", "[build]") {
    struct Row {
        std::string text, error;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"{", "f: not JSON: "},
        {"[]", "f: not a JSON object"},
        {"{}", "f: not patch instructions: patch_instructions_version is missing"},
        {R"({"patch_instructions_version": 3})",
         "f: unsupported patch instructions version 3 (this gpkg supports 1 to 2)"},
        {R"({"patch_instructions_version": 1, "packages": []})", "f: packages is not an object"},
        {R"({"patch_instructions_version": 1, "revoke": "a"})", "f: revoke is not a list of file names"},
        {R"({"patch_instructions_version": 1, "packages.conda": {"a-1-0.conda": []}})",
         "f: a-1-0.conda: is not an object"},
        {R"({"patch_instructions_version": 1, "packages.conda": {"a-1-0.conda": {"sha256": "0"}}})",
         "f: a-1-0.conda: patches cannot change sha256"},
        {R"({"patch_instructions_version": 1, "packages": {"a-1-0.tar.bz2": {"depends": "b"}}})",
         "f: a-1-0.tar.bz2: depends is not a list"},
        {R"({"patch_instructions_version": 1, "packages": {"a-1-0.tar.bz2": {"depends": ["b >="]}}})",
         "f: a-1-0.tar.bz2: depends: "},
        {R"({"patch_instructions_version": 2, "packages": {"a-1-0.tar.bz2": {"run_exports": 1}}})",
         "f: a-1-0.tar.bz2: "},
    }));
    // clang-format on
    CAPTURE(row.text);
    const auto patch = PatchInstructions::parse(row.text, "f");
    REQUIRE_FALSE(patch);
    CHECK_THAT(patch.error().message, ContainsSubstring(row.error));
}

TEST_CASE("a patch that is none leaves the channel as it is", "[build]") {
    Channel channel;
    channel.add({});
    channel.index();
    const auto before = published(channel);
    const auto refused = [&](const std::string& patch) {
        channel.options.patch = channel.at(patch);
        const auto done = gpkg::index_channel(channel.at("c"), channel.options);
        REQUIRE_FALSE(done);
        CHECK(published(channel) == before);
        return done.error();
    };
    CHECK(refused("nothing").message == channel.at("nothing").native() + ": no such patch");
    fs::create_directories(channel.at("empty"));
    CHECK(refused("empty").message ==
          channel.at("empty").native() +
              ": has no SUBDIR/patch_instructions.json, such as noarch/patch_instructions.json");
    write(channel.at("x/patch_instructions.json"), instructions(Json::object()));
    CHECK(refused("x/patch_instructions.json").hint ==
          "move it to FOLDER/SUBDIR/patch_instructions.json and use --patch FOLDER");
    // One of two is damaged.
    write(channel.at("two/linux-64/patch_instructions.json"),
          instructions({{"remove", {"a-1-h0_0.conda"}}}));
    write(channel.at("two/noarch/patch_instructions.json"), "no object");
    CHECK(refused("two").message ==
          channel.at("two/noarch/patch_instructions.json").native() + ": not a JSON object");
}

}  // namespace patch_instructions_test
