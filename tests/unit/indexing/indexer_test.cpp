#include "libcore/indexing/indexer.hpp"

#include "libcore/spec/match_spec.hpp"
#include "tests/unit/indexing/indexed_channel.hpp"

#include <set>
#include <thread>

using gpkg::tests::Channel;

TEST_CASE("a channel is indexed", "[build]") {
    const Channel channel;
    const auto file = channel.add({});
    channel.add({{"name", "b"}}, "noarch", true);
    const auto summary = channel.index();
    CHECK(summary.refused.empty());
    REQUIRE(summary.subdirs.size() == 2);
    CHECK(summary.subdirs[0].subdir == "linux-64");
    CHECK(summary.subdirs[0].packages == 1);
    CHECK(summary.subdirs[0].read == 1);

    const auto repodata = channel.json("c/linux-64/repodata.json");
    CHECK(repodata.at("info") == Json{{"subdir", "linux-64"}});
    CHECK(repodata.at("repodata_version") == 1);
    CHECK(repodata.at("removed") == Json::array());
    CHECK(repodata.at("packages") == Json::object());
    const auto record = repodata.at("packages.conda").at("a-1-h0_0.conda");
    CHECK(record.at("sha256") == gpkg::sha256_of_file(file).value());
    CHECK(record.at("size") == fs::file_size(file));
    CHECK(record.at("md5").get<std::string>().size() == 32);
    CHECK(record.at("indexed_timestamp") == 1000);
    CHECK(record.at("depends") == Json{"b >=1"});
    CHECK(record.at("custom_field") == "kept");

    const auto plain = channel.text("c/linux-64/repodata.json");
    CHECK(gpkg::zstd_decompress(channel.text("c/linux-64/repodata.json.zst"), "zst", 0) == plain);
    CHECK(channel.json("c/linux-64/run_exports.json") ==
          Json::parse(R"({"info": {"subdir": "linux-64", "version": 0}, "packages": {},
              "packages.conda": {"a-1-h0_0.conda": {"run_exports": {"weak": ["a >=1"]}}}})"));
    CHECK(channel.json("c/linux-64/variants.json") ==
          Json::parse(R"({"info": {"subdir": "linux-64", "version": 1}, "packages": {},
              "packages.conda": {"a-1-h0_0.conda": {"target_platform": "linux-64"}}})"));
    CHECK(channel.json("c/noarch/repodata.json").at("packages").contains("b-1-h0_0.tar.bz2"));
}

TEST_CASE("what packages were built with stands beside the index", "[build]") {
    Channel channel;
    channel.add({}, "linux-64", false, R"({"python": "3.12.* *_cpython", "n": 2, "b": true})");
    channel.add({{"name", "bz"}}, "linux-64", true, R"({"mpi": "nompi"})");
    channel.add({{"name", "plain"}}, "linux-64", false, "{}");
    const auto expected = Json::parse(R"({"info": {"subdir": "linux-64", "version": 1},
        "packages": {"bz-1-h0_0.tar.bz2": {"mpi": "nompi"}},
        "packages.conda": {"a-1-h0_0.conda":
            {"b": "true", "n": "2", "python": "3.12.* *_cpython"}}})");
    CHECK(channel.index().odd.empty());
    CHECK(channel.json("c/linux-64/variants.json") == expected);
    const auto plain = channel.text("c/linux-64/variants.json");
    const auto time = fs::last_write_time(channel.at("c/linux-64/variants.json"));
    CHECK(gpkg::zstd_decompress(channel.text("c/linux-64/variants.json.zst"), "zst", 0) == plain);

    // Of packages that are not read again, and of what comes, goes, changes and is withdrawn.
    CHECK(channel.index().subdirs[0].read == 0);
    CHECK(channel.text("c/linux-64/variants.json") == plain);
    CHECK(fs::last_write_time(channel.at("c/linux-64/variants.json")) == time);
    channel.add({{"name", "plain"}}, "linux-64", false, R"({"now": "something"})");
    channel.add({}, "linux-64", false, R"({"python": "3.13.* *_cp313"})");
    fs::remove(channel.at("c/linux-64/bz-1-h0_0.tar.bz2"));
    CHECK(channel.index().subdirs[0].read == 2);
    const auto conda = [&] {
        return channel.json("c/linux-64/variants.json").at("packages.conda");
    };
    CHECK(conda() == Json::parse(R"({"a-1-h0_0.conda": {"python": "3.13.* *_cp313"},
                                     "plain-1-h0_0.conda": {"now": "something"}})"));
    CHECK(channel.json("c/linux-64/variants.json").at("packages") == Json::object());
    auto edited = channel.json("c/linux-64/repodata.json");
    edited["removed"] = {"a-1-h0_0.conda"};
    REQUIRE(gpkg::write_file_atomically(channel.at("c/linux-64/repodata.json"), edited.dump()));
    channel.index();
    CHECK(conda().size() == 1);
}

TEST_CASE("a package built after it was first seen is told, each time", "[build]") {
    constexpr std::int64_t kNow = 1'700'000'000'000;
    Channel channel;
    channel.options.timestamp = kNow;
    channel.add({{"name", "early"}, {"timestamp", kNow - 1}});
    channel.add({{"name", "near"}, {"timestamp", kNow + 60'000}});  // clocks differ
    const auto late = channel.add({{"timestamp", kNow + 60'001}});
    for (const std::size_t read : {3U, 0U}) {
        const auto summary = channel.index();
        CHECK(summary.subdirs[0].read == read);
        REQUIRE(summary.odd.size() == 1);
        CHECK(summary.odd[0].file == late);
        CHECK_THAT(summary.odd[0].reason,
                   ContainsSubstring("later than the time it was first indexed"));
    }
    CHECK(channel.json("c/linux-64/repodata.json").at("packages.conda").size() == 3);
}

TEST_CASE("a hash_input.json that cannot be read costs a warning, each time", "[build]") {
    const auto used = GENERATE(as<std::string>(), "{", "[]", R"({"a": {"b": "c"}})", "");
    CAPTURE(used);
    const Channel channel;
    const auto file = channel.add({}, "linux-64", false, used);
    for (const std::size_t read : {1U, 0U}) {
        const auto summary = channel.index();
        CHECK(summary.refused.empty());
        CHECK(summary.subdirs[0].read == read);
        REQUIRE(summary.odd.size() == 1);
        CHECK(summary.odd[0].file == file);
        CHECK_THAT(summary.odd[0].reason, ContainsSubstring("hash_input.json: "));
        CHECK(channel.json("c/linux-64/repodata.json").at("packages.conda").size() == 1);
        CHECK(channel.json("c/linux-64/variants.json").at("packages.conda") == Json::object());
    }
}

TEST_CASE("a package that does not belong to the channel is in none of its indexes", "[build]") {
    Channel channel;
    channel.add({});
    const auto other = channel.add({{"name", "b"}});
    channel.index();
    channel.options.belongs = [&](const fs::path& file) { return file != other; };
    channel.options.unused_shards_for = {};
    const auto summary = channel.index();
    CHECK(channel.json("c/linux-64/repodata.json").at("packages.conda").size() == 1);
    CHECK(fs::exists(other));
    // The files of the index are all that lies there, but for packages and the indexer's memory.
    std::set<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(channel.at("c"))) {
        const auto name = entry.path().filename();
        if (entry.is_regular_file() && name.extension() != ".conda" && name != ".gpkg-index")
            found.insert(entry.path());
    }
    CHECK(std::set<fs::path>(summary.files.begin(), summary.files.end()) == found);
}

TEST_CASE("an empty channel has a noarch index", "[build]") {
    const Channel channel;
    fs::create_directories(channel.at("c"));
    channel.index();
    CHECK(channel.json("c/noarch/repodata.json").at("packages.conda") == Json::object());
    CHECK(gpkg::index_channel(channel.at("none")).error().message ==
          channel.at("none").native() + ": no such channel folder");
}

TEST_CASE("indexing again is quick and keeps what cannot be found out", "[build]") {
    Channel channel;
    const auto file = channel.add({});
    channel.index();
    const auto first = channel.text("c/linux-64/repodata.json");
    const auto time = fs::last_write_time(channel.at("c/linux-64/repodata.json"));

    channel.options.timestamp = 2000;
    CHECK(channel.index().subdirs[0].read == 0);
    CHECK(channel.text("c/linux-64/repodata.json") == first);
    CHECK(fs::last_write_time(channel.at("c/linux-64/repodata.json")) == time);

    // A new package is dated now, the old one keeps its date; without the cache too.
    channel.add({{"name", "b"}});
    fs::remove(channel.at("c/linux-64/.gpkg-index"));
    channel.options.jobs = 2;
    CHECK(channel.index().subdirs[0].read == 2);
    auto records = channel.json("c/linux-64/repodata.json").at("packages.conda");
    CHECK(records.at("a-1-h0_0.conda").at("indexed_timestamp") == 1000);
    CHECK(records.at("b-1-h0_0.conda").at("indexed_timestamp") == 2000);

    // Other bytes under the same name are another artifact.
    channel.options.timestamp = 3000;
    channel.add({{"license", "MIT"}});
    CHECK(channel.index().subdirs[0].read == 1);
    records = channel.json("c/linux-64/repodata.json").at("packages.conda");
    CHECK(records.at("a-1-h0_0.conda").at("indexed_timestamp") == 3000);

    // A withdrawn package stays a file and stays withdrawn.
    auto edited = channel.json("c/linux-64/repodata.json");
    edited["removed"] = {"b-1-h0_0.conda"};
    REQUIRE(gpkg::write_file_atomically(channel.at("c/linux-64/repodata.json"), edited.dump()));
    CHECK(channel.index().subdirs[0].packages == 1);
    const auto repodata = channel.json("c/linux-64/repodata.json");
    CHECK(repodata.at("removed") == Json{"b-1-h0_0.conda"});
    CHECK_FALSE(repodata.at("packages.conda").contains("b-1-h0_0.conda"));

    fs::remove(file);
    CHECK(channel.index().subdirs[0].packages == 0);
}

TEST_CASE("an indexer that is kept sees what comes and goes", "[build]") {
    const Channel channel;
    channel.add({});
    gpkg::ChannelIndexer indexer(channel.at("c"), channel.options);
    const auto records = [&] {
        return Json::parse(indexer.repodata("linux-64")).at("packages.conda");
    };
    CHECK(indexer.look() == true);
    CHECK(indexer.look() == false);
    CHECK(records().size() == 1);
    CHECK(indexer.repodata("osx-64").empty());
    CHECK_FALSE(fs::exists(channel.at("c/linux-64/repodata.json")));

    const auto second = channel.add({{"name", "b"}});
    CHECK(indexer.look() == true);
    const auto before = records().at("b-1-h0_0.conda");
    channel.add({{"name", "b"}, {"license", "MIT"}});
    CHECK(indexer.look() == true);
    CHECK(records().at("b-1-h0_0.conda").at("sha256") == gpkg::sha256_of_file(second).value());
    CHECK(records().at("b-1-h0_0.conda") != before);
    channel.add({{"name", "m"}}, "osx-64");
    CHECK(indexer.look() == true);
    CHECK_FALSE(indexer.repodata("osx-64").empty());

    REQUIRE(indexer.write());
    const auto written = channel.text("c/linux-64/repodata.json");
    CHECK(written == indexer.repodata("linux-64"));
    channel.index();
    CHECK(channel.text("c/linux-64/repodata.json") == written);

    fs::remove(second);
    CHECK(indexer.look() == true);
    CHECK(records().size() == 1);
    REQUIRE(gpkg::write_file_atomically(channel.at("c/linux-64/bad-1-0.conda"), "damaged"));
    CHECK(indexer.look() == false);
    CHECK(indexer.write()->refused.size() == 1);
}

TEST_CASE("records of schema 3 stand in v3 only", "[build]") {
    const Channel channel;
    channel.add({{"schema_version", 3}, {"depends", {"b >=1 h*", "c", "d[when=\"__unix\"]"}}});
    channel.index();
    const auto repodata = channel.json("c/linux-64/repodata.json");
    CHECK(repodata.at("packages.conda") == Json::object());
    const auto record = repodata.at("v3").at("conda").at("a-1-h0_0");
    CHECK(record.at("depends") ==
          Json{R"(b[version=">=1",build="h*"])", "c", R"(d[when="__unix"])"});
    CHECK(repodata.at("info").at("repodata_revisions") ==
          Json{{"v3", {{"n_packages", 1}, {"oldest", 1000}, {"newest", 1000}}}});
    // It is found again for its date.
    Channel& again = const_cast<Channel&>(channel);
    again.options.timestamp = 2000;
    again.index();
    CHECK(again.json("c/linux-64/repodata.json")
              .at("v3")
              .at("conda")
              .at("a-1-h0_0")
              .at("indexed_timestamp") == 1000);
}

TEST_CASE("dependencies in v3 are written in brackets and mean what they meant", "[build]") {
    struct Row {
        std::string given, v3;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"b",                          "b"},
        {"b[version='>=1, <2']",       "b[version='>=1, <2']"},
        {"b[build_number = \"0\"]",    "b[build_number = \"0\"]"},
        {"b 1.2.*",                    R"(b[version="1.2.*"])"},
        {"b >=3.8, <3.9",              R"(b[version=">=3.8,<3.9"])"},
        {"b  >=1|<0.5  h*_0",          R"(b[version=">=1|<0.5",build="h*_0"])"},
        {"b==1.0=h0_0",                R"(b[version="==1.0",build="h0_0"])"},
        {"b=1.0",                      R"(b[version="1.0.*"])"},
        {"b >=1[build_number='>2']",   R"(b[build_number='>2',version=">=1"])"},
        {"b *",                        "b"},
    }));
    // clang-format on
    CAPTURE(row.given);
    const Channel channel;
    channel.add({{"depends", {row.given}}});
    channel.add({{"name", "n"}, {"schema_version", 3}, {"depends", {row.given}}});
    CHECK(channel.index().refused.empty());
    const auto repodata = channel.json("c/linux-64/repodata.json");
    CHECK(repodata.at("packages.conda").at("a-1-h0_0.conda").at("depends") == Json{row.given});
    const auto written = repodata.at("v3").at("conda").at("n-1-h0_0").at("depends");
    CHECK(written == Json{row.v3});
    CHECK(gpkg::MatchSpec::parse(row.v3).value() == gpkg::MatchSpec::parse(row.given).value());
}

TEST_CASE("packages that are not what they say are left out", "[build]") {
    const Channel channel;
    const auto file = channel.add({});
    fs::copy_file(file, channel.at("c/linux-64/a-2-h0_0.conda"));
    fs::create_directories(channel.at("c/osx-64"));
    fs::copy_file(file, channel.at("c/osx-64/a-1-h0_0.conda"));
    channel.add({{"name", "c"}, {"depends", {"b >="}}});
    channel.add({{"name", "d"}, {"depends", "b"}});
    channel.add({{"name", "f"}, {"build_number", "3"}});
    channel.add({{"name", "e"}, {"schema_version", 3}, {"depends", {"b >=1, <"}}});
    REQUIRE(gpkg::write_file_atomically(channel.at("c/linux-64/bad-1-0.conda"), "PK damaged"));
    REQUIRE(gpkg::write_file_atomically(channel.at("c/linux-64/README.txt"), "no package"));
    REQUIRE(gpkg::write_file_atomically(channel.at("c/linux-64/odd.conda"), "x"));
    fs::create_directories(channel.at("c/not-a-subdir-x"));

    const auto summary = channel.index();
    std::map<std::string, std::string> reasons;
    for (const auto& [path, reason] : summary.refused) reasons[path.filename()] += reason;
    CHECK(reasons.size() == 8);
    CHECK(reasons["f-1-h0_0.conda"] ==
          "index.json: build_number is \"3\", must be a whole number of at least 0");
    CHECK(reasons["a-2-h0_0.conda"] == "its version is 1 in index.json, but 2 in the file name");
    CHECK(reasons["a-1-h0_0.conda"] == "built for linux-64");
    CHECK_THAT(reasons["c-1-h0_0.conda"], ContainsSubstring("index.json: depends: "));
    CHECK_THAT(reasons["e-1-h0_0.conda"], ContainsSubstring("index.json: depends: "));
    CHECK(reasons["d-1-h0_0.conda"] == "index.json: depends is not a list");
    CHECK_FALSE(reasons["bad-1-0.conda"].empty());
    CHECK_FALSE(reasons["odd.conda"].empty());
    CHECK(channel.json("c/linux-64/repodata.json").at("packages.conda").size() == 1);
    CHECK_FALSE(fs::exists(channel.at("c/not-a-subdir-x/repodata.json")));

    // They are looked at again next time.
    CHECK(channel.index().refused.size() == 8);
}

TEST_CASE("two indexers of one channel do not undo each other's work", "[build]") {
    const Channel channel;
    channel.add({});
    gpkg::ChannelIndexer indexer(channel.at("c"), channel.options);
    CHECK(indexer.look() == true);
    channel.add({{"name", "b"}});
    CHECK(channel.index().subdirs[0].packages == 2);
    CHECK(indexer.write()->subdirs[0].packages == 2);
    // What was found meanwhile is told of once.
    CHECK(indexer.look() == true);
    CHECK(indexer.look() == false);

    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&channel, i] {
            gpkg::PackageContent content;
            content.folder = channel.at("payload");
            const auto name = "t" + std::to_string(i);
            content.info = {
                {"index.json", Json{{"name", name}, {"version", "1"}, {"build", "0"}}.dump()},
                {"paths.json", R"({"paths": [], "paths_version": 1})"}};
            const auto written = gpkg::write_tar_bz2(content, channel.at("c/linux-64"), {});
            const auto indexed = gpkg::index_channel(channel.at("c"), channel.options);
            if (!written || !indexed) std::abort();
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(channel.json("c/linux-64/repodata.json").at("packages").size() == 4);
    CHECK(channel.index().subdirs[0].read == 0);
}

TEST_CASE("what a killed indexer left is removed, what a living one writes is not", "[build]") {
    const Channel channel;
    channel.add({});
    channel.index();
    const std::vector<std::string> dead = {"c/channeldata.json.tmp-0123abcd",
                                           "c/linux-64/repodata.json.tmp-00000000",
                                           "c/linux-64/shards/x.msgpack.zst.tmp-ffffffff"};
    for (const auto& name : dead) REQUIRE(gpkg::write_file_atomically(channel.at(name), "half"));
    REQUIRE(gpkg::write_file_atomically(channel.at("c/linux-64/notes.tmp-mine"), "kept"));
    auto living = gpkg::NewFile::make(channel.at("c/linux-64/a-2-h0_0.conda"));
    REQUIRE(living);
    channel.index();
    for (const auto& name : dead) CHECK_FALSE(fs::exists(channel.at(name)));
    CHECK(fs::exists(channel.at("c/linux-64/notes.tmp-mine")));
    REQUIRE(living->write("whole"));
    REQUIRE(living->finish(false));
    CHECK(channel.text("c/linux-64/a-2-h0_0.conda") == "whole");
}

TEST_CASE("packages are looked at as if they lay in the channel, which stays as it is", "[build]") {
    const Channel channel;
    const auto old = channel.add({});
    channel.add({{"name", "b"}}, "noarch");
    channel.index();
    const auto published = channel.text("c/linux-64/repodata.json");

    // The same name in another format, and one that is new.
    const Channel other;
    const auto newer = other.add({{"depends", Json{"c"}}}, "linux-64", true);
    const auto added = other.add({{"name", "d"}});
    const auto overlay = channel.at("over");
    fs::create_directories(overlay / "linux-64");
    for (const auto& file : {newer, added})
        fs::create_symlink(file, overlay / "linux-64" / file.filename());
    gpkg::IndexerOptions options;
    options.overlay = overlay;
    gpkg::ChannelIndexer indexer(channel.at("c"), options);
    CHECK(indexer.look().value());
    auto seen = Json::parse(indexer.repodata("linux-64"));
    CHECK(seen.at("packages").at("a-1-h0_0.tar.bz2").at("sha256") ==
          gpkg::sha256_of_file(newer).value());
    CHECK(seen.at("packages.conda").size() == 1);
    CHECK(seen.at("packages.conda").contains("d-1-h0_0.conda"));
    CHECK(Json::parse(indexer.repodata("noarch")).at("packages.conda").contains("b-1-h0_0.conda"));
    CHECK_FALSE(indexer.look().value());

    // What is gone from there no longer hides what the channel has.
    fs::remove(newer);
    CHECK(indexer.look().value());
    seen = Json::parse(indexer.repodata("linux-64"));
    CHECK(seen.at("packages").empty());
    CHECK(seen.at("packages.conda").at("a-1-h0_0.conda").at("sha256") ==
          gpkg::sha256_of_file(old).value());
    CHECK(channel.text("c/linux-64/repodata.json") == published);

    // Nothing of it is ever written, and nothing is made in a channel that is only looked at.
    CHECK_FALSE(indexer.write());
    CHECK(channel.text("c/linux-64/repodata.json") == published);
    fs::create_directories(channel.at("bare"));
    CHECK(gpkg::ChannelIndexer(channel.at("bare"), options).look().value());
    CHECK(fs::is_empty(channel.at("bare")));
}
