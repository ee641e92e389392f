#include "libcore/channel/reached_index.hpp"

#include "libcore/channel/open_index.hpp"
#include "libcore/index/repodata.hpp"
#include "tests/unit/channel/sharded_channel.hpp"

#include <atomic>
#include <fstream>
#include <thread>

using namespace gpkg;
using namespace std::chrono_literals;
using tests::Names;
using tests::shard_of;

namespace reached_index_test {
namespace {

struct Fixture : tests::ShardedChannel {
    ReachedIndexOptions reach_options;
    Names notes;

    /// As a command does it. A subdir without shards is read whole.
    Result<std::vector<SharedIndex>> open(const Names& roots) {
        GPKG_TRY(const auto fetched, fetch_index());
        std::vector<SharedIndex> indexes(fetched.size());
        for (std::size_t i = 0; i < fetched.size(); ++i) {
            if (fetched[i].sharded) continue;
            const IndexSource source{
                fetched[i].channel.base_url(), fetched[i].subdir, fetched[i].url};
            GPKG_TRY(auto whole, read_repodata_file(fetched[i].path, source));
            indexes[i] = std::make_shared<const ChannelIndex>(std::move(whole));
        }
        auto asking = reach_options;
        asking.shards.cache = options.cache;
        asking.shards.transfer = options.transfer;
        GPKG_TRY(notes, open_reached(*transport, fetched, indexes, roots, asking));
        return indexes;
    }
    /// Those whose records are there.
    static Names names_of(const SharedIndex& index) {
        Names names;
        for (const auto name : index->names()) {
            if (index->has(name)) names.emplace_back(name);
        }
        return names;
    }
    static Names all_names_of(const SharedIndex& index) {
        const auto names = index->names();
        return {names.begin(), names.end()};
    }
    /// Lets the whole of a subdir stand in for its shards.
    void allow_whole() {
        reach_options.open_whole = [this](std::size_t place) -> Result<SharedIndex> {
            auto asking = options;
            asking.shards = false;
            const std::vector channels{Channel::parse(base, {}).value()};
            const Names subdir{tests::kSubdirs[place]};
            GPKG_TRY(const auto whole, fetch_indexes(*transport, channels, subdir, asking));
            return open_index(whole.front(), options.cache);
        };
    }
    /// What the first record of a name depends on.
    static Names depends(const SharedIndex& index, const std::string& name) {
        const auto records = index->find(name).value();
        return index->record(records, records.rows().front()).value().depends;
    }
    Names kept_files(const std::string& end) const {
        Names names;
        for (const auto& entry : fs::directory_iterator(options.cache / "shards")) {
            const auto name = entry.path().filename().native();
            if (name.ends_with(end)) names.push_back(name);
        }
        return names;
    }
    fs::path only(const std::string& beginning, const std::string& end) const {
        for (const auto& name : kept_files(end)) {
            if (name.starts_with(beginning)) return options.cache / "shards" / name;
        }
        return {};
    }
    std::string key(const std::string& subdir) const {
        return hex_digest(DigestKind::Sha256, base + "/" + subdir).substr(0, 16);
    }
    void forget_shards() const {
        for (const auto& name : kept_files(".msgpack.zst"))
            fs::remove(options.cache / "shards" / name);
    }
};

}  // namespace

TEST_CASE("what is reached becomes an index, once", "[channel]") {
    Fixture f;
    f.put_channel();
    const auto first = f.open({"a"}).value();
    CHECK(Fixture::names_of(first[0]) == Names{"a", "b"});
    CHECK(Fixture::names_of(first[1]) == Names{"b", "c", "e"});
    CHECK(Fixture::depends(first[0], "b") == Names{"c", "__glibc >=2"});
    CHECK(first[1]->url("x") == f.base + "/noarch/x");
    CHECK(first[0]->source().subdir == "linux-64");
    CHECK(f.notes.empty());

    // Not even the shards are needed any more.
    f.forget_shards();
    f.options.transfer.offline = true;
    for (const auto* root : {"a", "b", "c", "__glibc", "nowhere"}) {
        const auto again = f.open({root}).value();
        CHECK(Fixture::names_of(again[0]) == Names{"a", "b"});
    }
    CHECK(f.open({"unrelated"}).error().kind == ErrorKind::NotFound);
}

TEST_CASE("what is reached knows every name of its channel", "[channel]") {
    Fixture f;
    f.put_channel();
    const auto check = [&] {
        const auto indexes = f.open({"b"}).value();
        CHECK(Fixture::all_names_of(indexes[0]) == Names{"a", "b", "unrelated"});
        CHECK(Fixture::all_names_of(indexes[1]) == Names{"b", "c", "e"});
        CHECK_FALSE(indexes[0]->has("unrelated"));
        CHECK(indexes[0]->find("unrelated").value().rows().empty());
    };
    check();
    check();  // of what is kept
    // The names are those of now, also where what is kept is older.
    f.put_shards("linux-64",
                 {{"a", shard_of("a", {"b >=1", "d"})},
                  {"b", shard_of("b", {"c", "__glibc >=2"})},
                  {"new", shard_of("new", {})}});
    const auto indexes = f.open({"b"}).value();
    CHECK(Fixture::all_names_of(indexes[0]) == Names{"a", "b", "new"});
    // The file with them may be gone by the time they are asked for.
    for (const auto& entry : fs::directory_iterator(f.options.cache)) {
        if (entry.path().extension() == ".zst") fs::remove(entry.path());
    }
    CHECK(Fixture::all_names_of(f.open({"c"}).value()[0]) == Names{"a", "b", "new"});
}

TEST_CASE("names are looked up without what they depend on", "[channel]") {
    Fixture f;
    f.put_channel();
    f.reach_options.only_roots = true;
    const auto indexes = f.open({"b", "unrelated", "nowhere"}).value();
    CHECK(Fixture::names_of(indexes[0]) == Names{"b", "unrelated"});
    CHECK(Fixture::names_of(indexes[1]) == Names{"b"});
    CHECK(Fixture::all_names_of(indexes[1]) == Names{"b", "c", "e"});
    CHECK(Fixture::depends(indexes[0], "b") == Names{"c", "__glibc >=2"});
    CHECK(f.kept_files(".index").empty());
    CHECK(f.kept_files(".kept").empty());

    // What a request left is enough, and is left as it is.
    f.reach_options.only_roots = false;
    REQUIRE(f.open({"a"}));
    const auto kept = f.kept_files(".index");
    f.forget_shards();
    f.options.transfer.offline = true;
    f.reach_options.only_roots = true;
    CHECK(Fixture::depends(f.open({"c"}).value()[1], "c") == Names{"a"});
    CHECK(f.open({"unrelated"}).error().kind == ErrorKind::NotFound);
    f.options.transfer.offline = false;
    CHECK(f.open({"unrelated"}).value()[0]->has("unrelated"));
    CHECK(f.kept_files(".index") == kept);
}

TEST_CASE("the whole stands in for shards that cannot be had", "[channel]") {
    Fixture f;
    f.put_channel();
    const std::string records =
        R"({"packages": {"b-1-0.tar.bz2": {"name": "b", "version": "1", "build": "0",
            "depends": ["unrelated"]}}})";
    f.put_plain("noarch", records);
    const auto path = f.shard_path("noarch/c").substr(std::string("/chan/").size());
    SECTION("missing") { f.remove(path); }
    SECTION("damaged") { f.put(path, "of another package"); }
    SECTION("what it says it is, and no shard") {
        f.put_shards("noarch", {{"b", shard_of("b", {"e"})}, {"c", shard_of("x", {})}});
    }
    CHECK_FALSE(f.open({"a"}));
    f.allow_whole();
    const auto indexes = f.open({"a"}).value();
    // What can be reached through it is there as well.
    CHECK(Fixture::names_of(indexes[0]) == Names{"a", "b", "unrelated"});
    CHECK(Fixture::names_of(indexes[1]) == Names{"b"});
    CHECK(Fixture::depends(indexes[1], "b") == Names{"unrelated"});
    REQUIRE(f.notes.size() == 1);
    CHECK(f.notes[0].find("/noarch/") != std::string::npos);
    CHECK(f.notes[0].find("; using the full repodata instead") != std::string::npos);
    // Without it the shards' failure is told.
    f.remove("noarch/repodata.json.zst");
    f.remove("noarch/repodata.json");
    fs::remove_all(f.options.cache);
    const auto without = f.open({"a"});
    REQUIRE_FALSE(without);
    CHECK(without.error().message.find("/noarch/") != std::string::npos);
}

TEST_CASE("what changed is made anew, what is the same is kept", "[channel]") {
    Fixture f;
    f.put_channel();
    REQUIRE(f.open({"a"}));
    const auto noarch = f.only(f.key("noarch"), ".index");
    const auto time = fs::last_write_time(noarch);
    f.put_shards("linux-64",
                 {{"a", shard_of("a", {"b >=1", "d"})},
                  {"b", shard_of("b", {"c >=7", "f"})},
                  {"f", shard_of("f", {})},
                  {"unrelated", shard_of("unrelated", {})}});
    const auto changed = f.open({"a"}).value();
    CHECK(Fixture::names_of(changed[0]) == Names{"a", "b", "f"});
    CHECK(Fixture::depends(changed[0], "b") == Names{"c >=7", "f"});
    CHECK(Fixture::names_of(changed[1]) == Names{"b", "c", "e"});
    CHECK(f.only(f.key("noarch"), ".index") == noarch);
    CHECK(fs::last_write_time(noarch) == time);

    SECTION("another request adds to it") {
        CHECK(Fixture::names_of(f.open({"unrelated"}).value()[0]) ==
              Names{"a", "b", "f", "unrelated"});
        f.forget_shards();
        f.options.transfer.offline = true;
        CHECK(f.open({"a", "unrelated"}));
    }
    SECTION("unless that would be too much") {
        f.reach_options.most_kept = 2;
        CHECK(Fixture::names_of(f.open({"unrelated"}).value()[0]) == Names{"unrelated"});
        CHECK(Fixture::names_of(f.open({"a", "unrelated"}).value()[0]) ==
              Names{"a", "b", "f", "unrelated"});
        // What this request needs of what is kept stays, whatever the limit.
        f.reach_options.most_kept = 0;
        f.put_shards("linux-64",
                     {{"a", shard_of("a", {"b >=1", "d"})},
                      {"b", shard_of("b", {"c >=8", "f"})},
                      {"f", shard_of("f", {})},
                      {"unrelated", shard_of("unrelated", {})}});
        CHECK(Fixture::names_of(f.open({"a"}).value()[0]) == Names{"a", "b", "f"});
    }
    SECTION("what the channel withdrew is gone with the next that is made") {
        f.put_shards("linux-64", {{"a", shard_of("a", {"g"})}, {"g", shard_of("g", {})}});
        CHECK(Fixture::names_of(f.open({"a"}).value()[0]) == Names{"a", "g"});
    }
}

TEST_CASE("an index of shards that is the same is not even read", "[channel]") {
    Fixture f;
    f.put_channel();
    REQUIRE(f.open({"a"}));
    auto fetched = f.fetch_index().value();
    const auto open = [&](const std::string& root) {
        ReachedIndexOptions options;
        options.shards.cache = f.options.cache;
        std::vector<SharedIndex> indexes(2);
        const Names roots{root};
        return open_reached(*f.transport, fetched, indexes, roots, options).has_value();
    };
    CHECK(open("e"));
    for (auto& index : fetched) index.path = "/nowhere";
    CHECK(open("a"));
    CHECK(open("__glibc"));
    CHECK_FALSE(open("unrelated"));
    CHECK_FALSE(open("never asked for"));
    fetched[1].sha256.front() ^= 1;
    CHECK_FALSE(open("a"));
}

TEST_CASE("what another request reached is not taken for what it was", "[channel]") {
    Fixture f;
    f.put_channel();
    REQUIRE(f.open({"a"}));
    REQUIRE(f.open({"unrelated"}));
    const auto put = [&](const std::string& depends) {
        f.put_shards("linux-64",
                     {{"a", shard_of("a", {"b >=1", "d"})},
                      {"b", shard_of("b", {"c", "__glibc >=2"})},
                      {"unrelated", shard_of("unrelated", {depends})}});
    };
    put("e >=1");
    for (int round = 0; round < 2; ++round)
        CHECK(Fixture::names_of(f.open({"a"}).value()[1]) == Names{"b", "c", "e"});
    CHECK(Fixture::depends(f.open({"unrelated"}).value()[0], "unrelated") == Names{"e >=1"});
    put("e >=2");
    REQUIRE(f.open({"a"}));
    CHECK(Fixture::depends(f.open({"unrelated"}).value()[0], "unrelated") == Names{"e >=2"});
    // A name that was not there, and is now.
    f.put_shards("linux-64",
                 {{"a", shard_of("a", {"b >=1", "d"})},
                  {"b", shard_of("b", {"c", "__glibc >=2"})},
                  {"d", shard_of("d", {})}});
    CHECK(Fixture::names_of(f.open({"a"}).value()[0]) == Names{"a", "b", "d"});
    // And back.
    f.put_channel();
    REQUIRE(f.open({"a"}));
    CHECK_FALSE(f.open({"a"}).value()[0]->has("unrelated"));
}

TEST_CASE("an index of shards is made anew when the channel says something else", "[channel]") {
    Fixture f;
    f.put_channel();
    CHECK(f.open({"e"}).value()[1]->relations() == ChannelRelations{});
    f.info["base_url"] = "../elsewhere/";
    f.info["channel_relations"] = {{"base", "../other"}};
    f.put_channel();
    const auto moved = f.open({"e"}).value();
    CHECK(moved[1]->url("x") == f.base + "/elsewhere/x");
    CHECK(moved[1]->relations() == ChannelRelations{"../other", ""});
    CHECK(Fixture::names_of(moved[1]) == Names{"e"});
}

TEST_CASE("names are reached through subdirs that are read whole", "[channel]") {
    Fixture f;
    f.options.small = 1000;
    f.put_shards("linux-64",
                 {{"a", shard_of("a", {"c"})}, {"z", shard_of("z", {})}, {"y", shard_of("y", {})}});
    f.put("linux-64/repodata.json.zst", std::string(2000, 'x'));
    f.put_plain("noarch", R"({"packages.conda": {
        "c-1-0.conda": {"name": "c", "version": "1", "build": "0", "build_number": 0,
                        "depends": ["q"], "constrains": ["y"]},
        "c-2-0.conda": {"name": "c", "version": "2", "build": "0", "build_number": 0,
                        "depends": ["q", "z[when=\"a\"]"]}}})");
    const auto indexes = f.open({"a"}).value();
    CHECK(Fixture::names_of(indexes[0]) == Names{"a", "z"});
    CHECK(Fixture::names_of(indexes[1]) == Names{"c"});
}

TEST_CASE("damage to what is kept is mended", "[channel]") {
    Fixture f;
    f.put_channel();
    REQUIRE(f.open({"a"}));
    const auto index = f.only(f.key("linux-64"), ".index");
    const auto list = f.only(f.key("linux-64"), ".kept");
    const auto text = read_file(list).value();
    SECTION("no index") { fs::remove(index); }
    SECTION("half an index") { fs::resize_file(index, fs::file_size(index) / 2); }
    SECTION("an index of something else") {
        fs::copy_file(
            f.only(f.key("noarch"), ".index"), index, fs::copy_options::overwrite_existing);
    }
    SECTION("no list") { fs::remove(list); }
    SECTION("half a list") { fs::resize_file(list, text.size() - 3); }
    SECTION("a list without its last name") {
        fs::resize_file(list, text.rfind('\n', text.size() - 2) + 1);
    }
    SECTION("a list of another gpkg") {
        auto other = text;
        other.replace(other.find("index, 1"), 8, "index, 2");
        REQUIRE(write_file_atomically(list, other));
    }
    SECTION("a flipped bit") {
        auto bytes = read_file(index).value();
        bytes[40] ^= 1;
        std::ofstream(index, std::ios::binary) << bytes;
    }
    const auto mended = f.open({"a"}).value();
    CHECK(Fixture::names_of(mended[0]) == Names{"a", "b"});
    CHECK(Fixture::depends(mended[0], "a") == Names{"b >=1", "d"});
    CHECK(Fixture::depends(mended[0], "b") == Names{"c", "__glibc >=2"});
}

TEST_CASE("a cache that cannot keep an index costs time, not the answer", "[channel]") {
    Fixture f;
    f.put_channel();
    REQUIRE(write_file_atomically(
        f.options.cache / "shards" / (f.key("linux-64") + ".kept") / "in the way", "x"));
    const auto indexes = f.open({"a"}).value();
    CHECK(Fixture::names_of(indexes[0]) == Names{"a", "b"});
    CHECK(f.notes.size() == 1);
}

TEST_CASE("records that shards leave out are told of", "[channel]") {
    Fixture f;
    f.put_channel();
    const auto odd = [](const std::string& name) {
        nlohmann::json shard;
        shard["packages.conda"][name + "-1-0.conda"] = {
            {"name", name}, {"version", "2"}, {"build", "0"}};
        return tests::packed_shard(shard);
    };
    f.put_shards("noarch", {{"b", odd("b")}, {"c", odd("c")}});
    const auto indexes = f.open({"a"}).value();
    CHECK(indexes[1]->notes() ==
          Names{f.base +
                "/noarch/repodata_shards.msgpack.zst: 2 packages have skipped records, the first: "
                "skipped a record: b-1-0.conda: the record belongs to b-2-0.conda"});
}

TEST_CASE("two processes make one index without harm", "[channel]") {
    Fixture f;
    f.put_channel();
    const auto fetched = f.fetch_index().value();
    std::atomic<int> good{0};
    {
        std::vector<std::jthread> threads;
        threads.reserve(4);
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&, t] {
                for (int round = 0; round < 10; ++round) {
                    ReachedIndexOptions options;
                    options.shards.cache = f.options.cache;
                    options.most_kept = 0;  // so that each replaces the other's
                    const Names roots{t % 2 == 0 ? "e" : "unrelated"};
                    std::vector<SharedIndex> indexes(2);
                    if (!open_reached(*f.transport, fetched, indexes, roots, options)) continue;
                    if (indexes[t % 2 == 0 ? 1 : 0]->has(roots.front())) ++good;
                }
            });
        }
    }
    CHECK(good == 40);
}

TEST_CASE("indexes that were replaced are removed", "[channel]") {
    Fixture f;
    f.put_channel();
    REQUIRE(f.open({"e"}));
    const auto before = f.only(f.key("noarch"), ".index");
    REQUIRE(f.open({"a"}));
    CHECK(f.kept_files(".index").size() == 4);
    const auto now = fs::file_time_type::clock::now();
    REQUIRE(remove_old_shards(f.options.cache, now));
    CHECK(fs::exists(before));
    REQUIRE(remove_old_shards(f.options.cache, now + std::chrono::hours(48)));
    CHECK_FALSE(fs::exists(before));
    CHECK(f.kept_files(".index").size() == 2);
    f.forget_shards();
    f.options.transfer.offline = true;
    CHECK(f.open({"a"}));
}

}  // namespace reached_index_test
