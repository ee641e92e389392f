#include "tests/support/shards.hpp"

#include "libcore/index/dependency_names.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <random>

using namespace gpkg;
using nlohmann::json;
using tests::as_msgpack;
using tests::packed_shard;
using tests::packed_shard_index;

namespace shards_test {
namespace {

const std::string kUrl = "https://host/c/noarch/repodata_shards.msgpack.zst";
const std::string kHash(64, 'a');

/// The example of CEP 16, with what later CEPs added.
json rich() {
    return json::parse(R"({
        "packages": {"rich-10.15.2-pyhd8ed1ab_1.tar.bz2": {
            "build": "pyhd8ed1ab_1", "build_number": 1, "name": "rich", "version": "10.15.2",
            "depends": ["colorama >=0.4.0,<0.5.0", "python >=3.6.2"], "license": "MIT",
            "license_family": "MIT", "md5": "2456071b5d040cba000f72ced5c72032", "noarch": "python",
            "sha256": "a38347390191fd3e60b17204f2f6470a013ec8753e1c2e8c9a892683f59c3e40",
            "size": 153963, "subdir": "noarch", "timestamp": 1638891318904}},
        "packages.conda": {"rich-13.7.1-pyhd8ed1ab_0.conda": {
            "build": "pyhd8ed1ab_0", "build_number": 0, "name": "rich", "version": "13.7.1",
            "depends": ["typing_extensions >=4.0.0,<5.0.0"], "constrains": ["other <2"],
            "track_features": "one,two three", "timestamp": 1709150578,
            "python_site_packages_path": "lib/x", "unheard of": {"a": [1, {"b": null}]}}},
        "v3": {"conda": {"rich-14.0-h1_0": {
            "build": "h1_0", "build_number": 0, "name": "rich", "version": "14.0",
            "depends": ["deep[when=\"python >=3.9\"]", "plain"], "flags": ["cuda"],
            "extra_depends": {"test": ["pytest", "conda-forge::odd"]},
            "indexed_timestamp": 1709150578904}}, "whl": {"x": 1}},
        "removed": ["rich-10.15.1-pyhd8ed1ab_1.tar.bz2"]})");
}

std::string refusal(const json& shard) {
    const auto read = read_shard(packed_shard(shard), "rich", "URL");
    if (!read) return read.error().message;
    return read->notes.empty() ? "fine" : read->notes.front();
}

json one_record() {
    json shard;
    shard["packages.conda"]["rich-1-0.conda"] = {
        {"name", "rich"}, {"version", "1"}, {"build", "0"}, {"build_number", 0}};
    return shard;
}

}  // namespace

TEST_CASE("a shard has the records that repodata.json would have", "[index]") {
    const auto shard = read_shard(packed_shard(rich()), "rich", "URL").value();
    REQUIRE(shard.records.size() == 3);
    const auto& old = shard.records[0];
    CHECK(old.name == "rich");
    CHECK(old.version == "10.15.2");
    CHECK(old.build == "pyhd8ed1ab_1");
    CHECK(old.build_number == 1);
    CHECK_FALSE(old.is_conda);
    CHECK_FALSE(old.is_v3);
    CHECK(old.noarch == Noarch::Python);
    CHECK(old.size == 153963);
    CHECK(old.timestamp == 1638891318904);
    CHECK(old.license == "MIT");
    CHECK(old.license_family == "MIT");
    CHECK(old.md5 == "\x24\x56\x07\x1b\x5d\x04\x0c\xba" + std::string(1, '\0') +
                         "\x0f\x72\xce\xd5\xc7\x20\x32");
    CHECK(old.sha256.size() == 32);
    CHECK(old.depends ==
          std::vector<std::string_view>{"colorama >=0.4.0,<0.5.0", "python >=3.6.2"});
    const auto& newer = shard.records[1];
    CHECK(newer.is_conda);
    CHECK(newer.noarch == Noarch::No);
    CHECK(newer.timestamp == 1709150578000);
    CHECK(newer.constrains == std::vector<std::string_view>{"other <2"});
    CHECK(newer.track_features == std::vector<std::string_view>{"one", "two", "three"});
    CHECK(newer.python_site_packages_path == "lib/x");
    CHECK(newer.sha256.empty());
    const auto& v3 = shard.records[2];
    CHECK(v3.is_v3);
    CHECK(v3.is_conda);
    CHECK(v3.flags == std::vector<std::string_view>{"cuda"});
    CHECK(v3.indexed_timestamp == 1709150578904);
    REQUIRE(v3.extras.size() == 1);
    CHECK(v3.extras[0].group == "test");
    CHECK(v3.extras[0].specs == std::vector<std::string_view>{"pytest", "conda-forge::odd"});
    CHECK(shard.removed == std::vector<std::string_view>{"rich-10.15.1-pyhd8ed1ab_1.tar.bz2"});
    CHECK(shard.notes.empty());
    CHECK(dependency_names(shard) ==
          std::unordered_set<std::string>{
              "colorama", "python", "typing_extensions", "deep", "plain", "pytest", "odd"});
}

TEST_CASE("checksums may be bytes or hex, or missing", "[index]") {
    auto shard = one_record();
    auto& record = shard["packages.conda"]["rich-1-0.conda"];
    const auto digest = [&] {
        const auto read = read_shard(zstd_compress(as_msgpack(shard), 1), "rich", "URL").value();
        return std::string(read.records.at(0).sha256);
    };
    CHECK(digest().empty());
    record["sha256"] = nullptr;
    CHECK(digest().empty());
    record["sha256"] = kHash;
    CHECK(digest() == std::string(32, '\xaa'));
    record["sha256"] = tests::bytes_of_hex(kHash);
    CHECK(digest() == std::string(32, '\xaa'));
}

TEST_CASE("the names of dependencies are found in every form of a spec", "[index]") {
    struct Row {
        std::string spec;
        std::unordered_set<std::string> names;
    };
    const auto row = GENERATE(values<Row>({
        {"numpy", {"numpy"}},
        {"numpy >=1.2,<2", {"numpy"}},
        {"numpy>=1.2", {"numpy"}},
        {"numpy=1.2", {"numpy"}},
        {"numpy!=1.2", {"numpy"}},
        {"numpy~=1.2", {"numpy"}},
        {"numpy[version='>=1']", {"numpy"}},
        {"conda-forge::numpy >=1", {"numpy"}},
        {"conda-forge/linux-64::numpy", {"numpy"}},
        {"NumPy >=1", {"numpy"}},
        {"__glibc >=2.17", {"__glibc"}},
        {"_libgcc_mutex 0.1 conda_forge", {"_libgcc_mutex"}},
        {"r-base.x_1-y", {"r-base.x_1-y"}},
        {"numpy[when=\"python>=3.10 and (scipy or r-base<4)\"]",
         {"numpy", "python", "scipy", "r-base"}},
        {"whenever >=1", {"whenever"}},
        {"*", {}},
        {"py*", {}},
        {"]]", {}},
        {"", {}},
    }));
    CAPTURE(row.spec);
    auto shard = one_record();
    shard["packages.conda"]["rich-1-0.conda"]["depends"] = {row.spec};
    CHECK(dependency_names(read_shard(packed_shard(shard), "rich", "URL").value()) == row.names);
}

TEST_CASE("constrains are no dependencies", "[index]") {
    auto shard = one_record();
    shard["packages.conda"]["rich-1-0.conda"]["constrains"] = {"numpy"};
    CHECK(dependency_names(read_shard(packed_shard(shard), "rich", "URL").value()).empty());
}

TEST_CASE("records that break the rules are left out, the others stay", "[index]") {
    struct Row {
        std::string fn, key, value, note;
    };
    const auto row = GENERATE(values<Row>({
        {"rich-2-0.conda", "version", "3", "rich-2-0.conda: the record belongs to rich-3-0.conda"},
        {"rich-2-0.conda", "build", "1", "rich-2-0.conda: the record belongs to rich-2-1.conda"},
        {"rich-2-.conda", "build", "", "rich-2-.conda: '' is not a build string"},
        {"rich-2-0-1.conda", "build", "0-1", "rich-2-0-1.conda: '0-1' is not a build string"},
        {"other-2-0.conda", "x", "", "other-2-0.conda: the record belongs to rich-2-0.conda"},
    }));
    CAPTURE(row.fn);
    auto shard = one_record();
    auto& record = shard["packages.conda"][row.fn];
    record = {{"name", "rich"}, {"version", "2"}, {"build", "0"}};
    record[row.key] = row.value;
    const auto read = read_shard(packed_shard(shard), "rich", "URL").value();
    CHECK(read.records.size() == 1);
    CHECK(read.notes == std::vector<std::string>{"skipped a record: " + row.note});
}

TEST_CASE("broken shards are refused whole, broken records left out", "[index]") {
    const auto with = [](const std::string& fn, const json& change) {
        auto shard = one_record();
        shard["packages.conda"][fn] = {{"name", "rich"}, {"version", "2"}, {"build", "0"}};
        shard["packages.conda"][fn].update(change);
        return shard;
    };
    const std::string fn = "rich-2-0.conda";
    CHECK(refusal(one_record()) == "fine");
    CHECK(refusal(with(fn, json::object())) == "fine");
    // Another name than was asked for.
    CHECK(refusal(with("evil-2-0.conda", {{"name", "evil"}})) ==
          "skipped a record: evil-2-0.conda: belongs to 'evil', not 'rich'");
    CHECK(refusal(with(fn, {{"name", "evil"}})) ==
          "skipped a record: rich-2-0.conda: belongs to 'evil', not 'rich'");
    // Keys that are no file names, or lead elsewhere.
    for (const std::string bad : {"../rich-2-0.conda",
                                  "/rich-2-0.conda",
                                  "a/rich-2-0.conda",
                                  "..",
                                  "",
                                  "a\\b.conda",
                                  "rich-2-0",
                                  "rich-2-0.zip"})
        CHECK(refusal(with(bad, json::object())) ==
              "skipped a record: " + bad + ": the record belongs to rich-2-0.conda");
    CHECK(refusal(with("rich-../x-0.conda", {{"version", "../x"}})) ==
          "skipped a record: rich-../x-0.conda: '../x' is not a valid name, version or build");
    // The file's own extension says which form it has.
    const auto other =
        read_shard(packed_shard(with("rich-2-0.tar.bz2", json::object())), "rich", "URL");
    REQUIRE(other);
    REQUIRE(other->records.size() == 2);
    CHECK_FALSE(other->records[1].is_conda);
    CHECK(refusal({{"removed", {"rich-1-0.conda", 7}}}) ==
          "skipped a record: removed: 'removed' must be a string, not a number");
    // Values of a wrong kind spoil their own record only.
    CHECK(refusal(with(fn, {{"depends", "numpy"}})) ==
          "skipped a record: rich-2-0.conda: 'depends' must be a list, not a string");
    CHECK(refusal(with(fn, {{"depends", {1}}})) ==
          "skipped a record: rich-2-0.conda: 'depends' must be a string, not a number");
    CHECK(refusal(with(fn, {{"size", -1}})) ==
          "skipped a record: rich-2-0.conda: 'size' must be a whole number of at least 0");
    CHECK(refusal(with(fn, {{"timestamp", 1e300}})) ==
          "skipped a record: rich-2-0.conda: 'timestamp' is not a time");
    CHECK(refusal(with(fn, {{"name", nullptr}})) ==
          "skipped a record: rich-2-0.conda: the name is missing");
    CHECK(refusal(with(fn, {{"version", nullptr}})) ==
          "skipped a record: rich-2-0.conda: the version is missing");
    CHECK(refusal(with(fn, {{"sha256", "abcd"}})) ==
          "skipped a record: rich-2-0.conda: 'sha256' must have 32 bytes, not 2");
    CHECK(refusal({{"packages", json::array()}}) == "URL: 'packages' must be a map, not a list");
    CHECK(refusal({{"packages", {{"rich-1-0.tar.bz2", 1}}}}) ==
          "skipped a record: rich-1-0.tar.bz2: 'the record' must be a map, not a number");
    CHECK(refusal(json::array()) == "URL: 'the top level' must be a map, not a list");
}

TEST_CASE("keys that stand twice are refused", "[index]") {
    // {"packages.conda": {F: {}, ... , F: {}}} cannot be written with a JSON library.
    const auto text = [](const std::string& s) {
        return std::string(1, static_cast<char>(0xa0U + s.size())) + s;
    };
    const auto packed = [](const std::string& bytes) { return zstd_compress(bytes, 1); };
    const auto message = [&](const std::string& bytes) {
        const auto read = read_shard(packed(bytes), "a", "URL");
        if (!read) return read.error().message;
        return read->notes.empty() ? "fine" : read->notes.front();
    };
    const auto record = [&](const std::string& build) {
        return "\x83" + text("name") + text("a") + text("version") + text("1") + text("build") +
               text(build);
    };
    std::string many = "\xde" + std::string(1, '\0') + "\x1e";  // 30 members
    for (int i = 0; i < 29; ++i)
        many += text(fmt::format("a-1-{}.conda", i)) + record(std::to_string(i));
    CHECK(message("\x81" + text("packages.conda") + many + text("a-1-29.conda") + record("29")) ==
          "fine");
    // Of a record that stands twice IndexWriter takes the last.
    CHECK(message("\x81" + text("packages.conda") + many + text("a-1-7.conda") + record("7")) ==
          "fine");
    CHECK(message("\x82" + text("removed") + "\x90" + text("removed") + "\x90") ==
          "URL: duplicate key 'removed' at the top");
    CHECK(message("\x81" + text("packages.conda") + "\x81" + text("a-1-7.conda") + "\x82" +
                  text("name") + text("a") + text("name") + text("b")) ==
          "skipped a record: a-1-7.conda: duplicate key 'name'");
}

TEST_CASE("a shard index: names, hashes, folders", "[index]") {
    // The test vector of CEP 16 begins so.
    CHECK(as_msgpack({{"shards", {{"a", tests::bytes_of_hex(kHash)}}}})
              .starts_with("\x81\xa6shards\x81\xa1"
                           "a\xc4\x20"));
    const auto index =
        read_shard_index(packed_shard_index({{"numpy", kHash}, {"a", std::string(64, '1')}}), kUrl)
            .value();
    REQUIRE(index.entries().size() == 2);
    CHECK(index.find("zlib") == nullptr);
    CHECK(index.find("") == nullptr);
    REQUIRE(index.find("numpy") != nullptr);
    CHECK(index.find("numpy")->front() == 0xaa);
    CHECK(index.find("a")->back() == 0x11);
    CHECK(index.base_url() == "./");
    CHECK(index.shard_folder() == "https://host/c/noarch/shards/");
    CHECK(index.relations() == ChannelRelations{});
}

TEST_CASE("where the shards are", "[index]") {
    struct Row {
        std::string base, folder;
    };
    const auto row = GENERATE(values<Row>({
        {"./shards/", "https://host/c/noarch/shards/"},
        {"./shards", "https://host/c/noarch/shards/"},
        {"shards", "https://host/c/noarch/shards/"},
        {"../../s", "https://host/s/"},
        {"/s", "https://host/s/"},
        {"", "https://host/c/noarch/"},
        {"https://cdn.example/s", "https://cdn.example/s/"},
        {"//cdn.example/s", "https://cdn.example/s/"},
        {"file:///etc/", "refused"},
        {"ftp://x/", "refused"},
        {"a b", "refused"},
        {"x?y", "refused"},
    }));
    CAPTURE(row.base);
    const auto index =
        read_shard_index(packed_shard_index({}, {{"shards_base_url", row.base}}), kUrl);
    CHECK((index ? index->shard_folder() : "refused") == row.folder);
    const auto artifacts = read_shard_index(packed_shard_index({}, {{"base_url", row.base}}), kUrl);
    CHECK(artifacts.has_value() == (row.folder != "refused"));
}

TEST_CASE("what else a shard index says", "[index]") {
    const json info{
        {"channel_relations", {{"base", "../conda-forge"}, {"future", 1}}},
        {"repodata_revisions",
         {{"v3", {{"n_packages", 1}}}, {"v4", {{"n_packages", 7}, {"message", "new"}}}}}};
    const auto index =
        read_shard_index(
            packed_shard_index({{"Not A Name", kHash}, {"../x", kHash}, {"a", kHash}}, info), kUrl)
            .value();
    CHECK(index.relations() == ChannelRelations{"../conda-forge", ""});
    CHECK(index.entries().size() == 1);
    CHECK(index.notes() ==
          std::vector<std::string>{"skipped 7 records of the unsupported format v4: new",
                                   "skipped 2 shards: '../x' is not a package name"});
}

TEST_CASE("a shard index that cannot be used is refused", "[index]") {
    const auto newer = read_shard_index(packed_shard_index({}, json::object(), 2), kUrl);
    REQUIRE_FALSE(newer);
    CHECK(newer.error().kind == ErrorKind::Unsupported);
    CHECK(newer.error().message == kUrl + ": unsupported shards version 2 (this gpkg supports 1)");
    const auto refusal = [](const json& index) {
        const auto read = read_shard_index(zstd_compress(as_msgpack(index), 1), "URL");
        REQUIRE_FALSE(read);
        CHECK(read.error().kind == ErrorKind::Integrity);
        return read.error().message;
    };
    CHECK(refusal(json::object()) == "URL: the version is missing");
    CHECK(refusal({{"version", "1"}}) == "URL: 'version' must be a whole number, not a string");
    CHECK(refusal({{"version", 1}, {"shards", json::array()}}) ==
          "URL: 'shards' must be a map, not a list");
}

TEST_CASE("a bad entry of a shard index is left out", "[index]") {
    struct Row {
        std::string what;
        json hash;
        std::string note;
    };
    const auto row = GENERATE(values<Row>({
        {"null", nullptr, "skipped 1 shard: 'a' has no hash"},
        {"a text", "ff", "skipped 1 shard: 'a' must be 64 hex digits"},
        {"too short", tests::bytes_of_hex("ff"), "skipped 1 shard: 'a' must have 32 bytes, not 1"},
        {"a number", 7, "skipped 1 shard: 'a' must be a string, not a number"},
    }));
    CAPTURE(row.what);
    const json index{{"version", 1},
                     {"shards", {{"a", row.hash}, {"b", tests::bytes_of_hex(kHash)}}}};
    const auto read = read_shard_index(zstd_compress(as_msgpack(index), 1), "URL");
    REQUIRE(read);
    CHECK(read->entries().size() == 1);
    CHECK(read->notes() == std::vector<std::string>{row.note});
}

TEST_CASE("no length is believed, and no depth", "[index]") {
    using namespace std::string_literals;
    struct Row {
        std::string what, bytes;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"nothing", ""s},
        {"a map of four billion", "\xdf\xff\xff\xff\xff"s},
        {"a list of four billion", "\xdd\xff\xff\xff\xff"s},
        {"a list of four billion, begun", "\x81\xa7removed\xdd\xff\xff\xff\xff\xa1x"s},
        {"a text of four billion", "\x81\xdb\xff\xff\xff\xffx"s},
        {"bytes of four billion", "\xc6\xff\xff\xff\xff"s},
        {"an extension of four billion", "\xc9\xff\xff\xff\xff\x01"s},
        {"an extension just below", "\xc9\xff\xff\xff\xfe\x01"s},
        {"a byte that means nothing", "\xc1"s},
        {"something behind it", "\x80\x80"s},
        {"a map for a key", "\x81\x80\x80"s},
        {"a number for a key", "\x81\x01\x01"s},
        {"lists within lists", std::string(100'000, '\x91')},
        {"maps within maps", [] { std::string s; for (int i = 0; i < 50'000; ++i) s += "\x81\xa1""a"; return s; }()},
        {"lists within lists, as an unknown value", "\x81\xa1z" + std::string(40, '\x91') + "\x01"},
        {"lists of four billion within each other", [] { std::string s; for (int i = 0; i < 20; ++i) s += "\xdd\xff\xff\xff\xff"; return s; }()},
    }));
    // clang-format on
    CAPTURE(row.what);
    for (const auto& packed : {zstd_compress(row.bytes, 1)}) {
        const auto shard = read_shard(packed, "a", "URL");
        REQUIRE_FALSE(shard);
        CHECK(shard.error().kind == ErrorKind::Integrity);
        CHECK(shard.error().message.starts_with("URL: "));
        CHECK_FALSE(read_shard_index(packed, "URL"));
    }
}

TEST_CASE("what unpacks to too much is refused", "[index]") {
    const auto bomb = zstd_compress(std::string(std::size_t{65} << 20U, '\xc0'), 1);
    CHECK(bomb.size() < 100'000);
    CHECK(read_shard(bomb, "a", "URL").error().message ==
          "URL: unpacks to more than 67108864 bytes");
    // Nine million nulls are few bytes and much memory.
    using namespace std::string_literals;
    const auto nulls = "\xdd\x00\x90\x00\x00"s + std::string(std::size_t{9} << 20U, '\xc0');
    CHECK(read_shard(zstd_compress(nulls, 1), "a", "URL").error().message ==
          "URL: too many values");
}

TEST_CASE("no cut and no flipped bit makes a shard of what is none", "[index]") {
    const auto bytes = as_msgpack(rich());
    const auto packed = packed_shard(rich());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        CAPTURE(size);
        CHECK_FALSE(read_shard(zstd_compress(bytes.substr(0, size), 1), "rich", "URL"));
    }
    for (std::size_t size = 0; size < packed.size(); ++size)
        CHECK_FALSE(read_shard(packed.substr(0, size), "rich", "URL"));
    // Damage may leave a shard that is one; it must not lead anywhere else.
    std::mt19937 random(7);
    for (int round = 0; round < 4000; ++round) {
        auto damaged = bytes;
        for (int i = 0; i <= round % 3; ++i)
            damaged[random() % damaged.size()] = static_cast<char>(random());
        const auto read = read_shard(zstd_compress(damaged, 1), "rich", "URL");
        if (!read) continue;
        for (const auto& record : read->records) CHECK(record.name == "rich");
        (void)dependency_names(*read);
    }
    const auto index = as_msgpack({{"version", 1},
                                   {"info", {{"base_url", "./"}, {"shards_base_url", "./s"}}},
                                   {"shards", {{"a", tests::bytes_of_hex(kHash)}}}});
    for (std::size_t at = 0; at < index.size(); ++at) {
        for (int value = 0; value < 256; value += 5) {
            auto damaged = index;
            damaged[at] = static_cast<char>(value);
            const auto read = read_shard_index(zstd_compress(damaged, 1), kUrl);
            if (read) CHECK(read->shard_folder().starts_with("http"));
        }
    }
}

}  // namespace shards_test
