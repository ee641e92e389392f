#include "libcore/index/channel_index.hpp"

#include "libcore/fs/file.hpp"
#include "libcore/index/index_format_internal.hpp"
#include "libcore/index/repodata.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <random>
#include <string>
#include <vector>

using namespace gpkg;

namespace channel_index_test {
namespace {

const IndexSource kSource{"https://host/c", "linux-64", "https://host/c/linux-64/repodata.json"};
const IndexOrigin kOrigin{1, 2, 3};

constexpr std::string_view kRepodata = R"({"info": {"base_url": "../x",
    "channel_relations": {"base": "../above", "overrides": "../below"},
    "repodata_revisions": {"v4": {"n_packages": 2}}},
  "packages.conda": {
    "a-1-0.conda": {"name": "a", "version": "1", "build": "0", "depends": ["b >=1", "Odd name!"],
        "license": "MIT", "license_family": "MIT", "size": 7, "timestamp": 1700000000000,
        "sha256": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"},
    "b-1-0.conda": {"name": "b", "version": "1", "build": "0", "constrains": ["a <9"],
        "track_features": ["f"], "noarch": "python", "python_site_packages_path": "lib/x"}},
  "v3": {"conda": {"b-2-0": {"name": "b", "version": "2", "build": "0", "flags": ["cuda"],
        "extra_depends": {"t": ["c", "d"], "u": []}}}}})";

std::string bytes_of(std::string_view repodata) {
    IndexWriter writer(fs::temp_directory_path());
    REQUIRE(read_repodata(text_source(std::string(repodata)), kSource, writer));
    std::string bytes;
    const auto written =
        write_index(std::move(writer), kOrigin, kSource, [&](std::string_view part) {
            bytes += part;
            return Result<void>{};
        });
    REQUIRE(written);
    return bytes;
}

/// Everything an index has; the first failure instead.
Result<std::vector<PackageRecord>> read_all(const Result<ChannelIndex>& index) {
    if (!index) return pass(index.error());
    std::vector<PackageRecord> all;
    for (const auto name : index->names()) {
        GPKG_TRY(const auto found, index->find(name));
        for (const auto& row : found.rows()) {
            GPKG_TRY(all.emplace_back(), index->record(found, row));
        }
    }
    return all;
}

struct Folder {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    fs::path write(const std::string& bytes) const {
        auto path = folder.path() / "index";
        REQUIRE(write_file_atomically(path, bytes));
        return path;
    }
};

}  // namespace

TEST_CASE("a mapped index says what the repodata says", "[index]") {
    const Folder folder;
    const auto index = ChannelIndex::open(folder.write(bytes_of(kRepodata)), kSource, kOrigin);
    REQUIRE(index);
    CHECK(index->record_count() == 3);
    CHECK(index->names() == std::vector<std::string_view>{"a", "b"});
    CHECK(index->has("a"));
    CHECK_FALSE(index->has("c"));  // only depended on
    CHECK(index->find("c")->rows().empty());
    CHECK(index->relations() == ChannelRelations{"../above", "../below"});
    CHECK(index->notes() ==
          std::vector<std::string>{"https://host/c/linux-64/repodata.json: skipped 2 records of "
                                   "the unsupported format v4"});

    const auto all = read_all(index).value();
    REQUIRE(all.size() == 3);
    CHECK(all[0].url == "https://host/c/x/a-1-0.conda");
    CHECK(all[0].depends == std::vector<std::string>{"b >=1", "Odd name!"});
    CHECK(all[0].sha256 == "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
    CHECK(all[0].md5.empty());
    CHECK(all[0].license == "MIT");
    CHECK(all[1].version == "2");  // the best first
    CHECK(all[1].flags == std::vector<std::string>{"cuda"});
    CHECK(all[1].extra_depends ==
          std::map<std::string, std::vector<std::string>>{{"t", {"c", "d"}}, {"u", {}}});
    CHECK(all[2].constrains == std::vector<std::string>{"a <9"});
    CHECK(all[2].track_features == std::vector<std::string>{"f"});
    CHECK(all[2].noarch == "python");
    CHECK(all[2].python_site_packages_path == "lib/x");
}

TEST_CASE("any damage to an index is noticed", "[index]") {
    const auto bytes = bytes_of(kRepodata);
    REQUIRE(read_all(ChannelIndex::from_bytes(bytes, kSource)));
    std::size_t missed = 0;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        for (int bit = 0; bit < 8; ++bit) {
            auto flipped = bytes;
            flipped[at] = static_cast<char>(flipped[at] ^ 1 << bit);
            const auto all = read_all(ChannelIndex::from_bytes(std::move(flipped), kSource));
            missed += all ? 1 : 0;
        }
    }
    CHECK(missed == 0);
    for (std::size_t size = 0; size < bytes.size(); ++size)
        missed += ChannelIndex::from_bytes(bytes.substr(0, size), kSource) ? 1 : 0;
    CHECK(missed == 0);
    CHECK_FALSE(ChannelIndex::from_bytes(bytes + std::string(8, '\0'), kSource));
}

TEST_CASE("indexes of other versions, machines and repodata are not used", "[index]") {
    const Folder folder;
    const auto good = bytes_of(kRepodata);
    const auto with = [&](auto change) {
        auto bytes = good;
        index_format::Footer footer;
        auto* place = bytes.data() + bytes.size() - sizeof(footer);
        std::memcpy(&footer, place, sizeof(footer));
        change(footer);
        const auto covered = offsetof(index_format::Footer, checksum);
        footer.checksum = index_format::checksum(index_format::bytes_of(footer).substr(0, covered));
        std::memcpy(place, &footer, sizeof(footer));
        return ChannelIndex::open(folder.write(bytes), kSource, kOrigin);
    };
    CHECK(with([](auto&) {}));
    CHECK_FALSE(with([](auto& footer) { ++footer.version; }));
    CHECK_FALSE(with([](auto& footer) { footer.byte_order = 0x04030201; }));
    CHECK_FALSE(with([](auto& footer) { footer.origin[0] ^= 1; }));
    CHECK_FALSE(ChannelIndex::open(folder.folder.path() / "nowhere", kSource, kOrigin));
}

TEST_CASE("an index that is damaged later is removed when that is noticed", "[index]") {
    const Folder folder;
    auto bytes = bytes_of(kRepodata);
    bytes[16] = static_cast<char>(~bytes[16]);
    const auto path = folder.write(bytes);
    const auto index = ChannelIndex::open(path, kSource, kOrigin);
    REQUIRE(index);
    const auto all = read_all(index);
    REQUIRE_FALSE(all);
    CHECK(all.error().kind == ErrorKind::DamagedCache);
    CHECK(all.error().message.starts_with(path.native() + ": the data of "));
    CHECK_FALSE(fs::exists(path));
}

TEST_CASE("rows are in one order, whatever the order of the records", "[index]") {
    std::vector<std::string> records;
    for (const auto* extension : {".conda", ".tar.bz2"}) {
        for (const auto* version : {"1", "1.0", "1.10", "1.9", "2a", "not?a?version"}) {
            for (int build = 0; build < 4; ++build) {
                records.push_back(fmt::format(
                    R"("p-{0}-h{1}{2}":{{"name":"p","version":"{0}","build":"h{1}","build_number":{3},"timestamp":{4}{5}}})",
                    version,
                    build,
                    extension,
                    build / 2,
                    1700000000000 + build % 2,
                    build == 3 ? R"(,"track_features":"x")" : ""));
            }
        }
    }
    std::mt19937 dice(7);
    std::vector<std::string> first;
    for (int round = 0; round < 20; ++round) {
        std::shuffle(records.begin(), records.end(), dice);
        std::vector<std::string> conda;
        std::vector<std::string> bz2;
        for (const auto& record : records)
            (record.find(".conda\"") == std::string::npos ? bz2 : conda).push_back(record);
        const auto index =
            read_repodata(fmt::format(R"({{"packages":{{{}}},"packages.conda":{{{}}}}})",
                                      fmt::join(bz2, ","),
                                      fmt::join(conda, ",")),
                          kSource);
        REQUIRE(index);
        std::vector<std::string> order;
        const auto all = read_all(index);
        REQUIRE(all);
        for (const auto& record : *all) order.push_back(record.fn);
        if (first.empty()) first = order;
        REQUIRE(order == first);
    }
    CHECK(first.size() == 48);
    CHECK(first[0] == "p-2a-h2.conda");
    CHECK(first[1] == "p-2a-h2.tar.bz2");
    CHECK(first[4] == "p-2a-h0.conda");
    CHECK(first[6] == "p-1.10-h2.conda");
    CHECK(first.back() == "p-not?a?version-h3.tar.bz2");
}

TEST_CASE("an index of more than fits memory is the same", "[index]") {
    // The records of a name are scattered, and most of them wait in a file.
    constexpr int kNames = 50;
    constexpr int kVersions = 1000;
    std::string json = R"({"packages.conda":{)";
    for (int version = 0; version < kVersions; ++version) {
        for (int name = 0; name < kNames; ++name) {
            json += fmt::format(
                R"({}"n{}-{}-0.conda":{{"name":"n{}","version":"{}","build":"0","depends":["n{} >={}"],"size":{}}})",
                json.back() == '{' ? "" : ",",
                name,
                version,
                name,
                version,
                (name + 1) % kNames,
                version / 10,
                version * kNames + name);
        }
    }
    const auto index = read_repodata(json + "}}", kSource);
    REQUIRE(index);
    CHECK(index->record_count() == std::size_t{kNames} * kVersions);
    CHECK(index->spec_count() == std::size_t{kNames} * kVersions / 10);
    const auto found = index->find("n7").value();
    REQUIRE(found.rows().size() == kVersions);
    for (int i = 0; i < kVersions; ++i) {
        const auto version = kVersions - 1 - i;
        const auto record = index->record(found, found.rows()[static_cast<std::size_t>(i)]).value();
        REQUIRE(record.version == std::to_string(version));
        REQUIRE(record.size == static_cast<std::uint64_t>(version * kNames + 7));
        REQUIRE(record.depends == std::vector<std::string>{fmt::format("n8 >={}", version / 10)});
    }
}

}  // namespace channel_index_test
