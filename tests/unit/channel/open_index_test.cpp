#include "libcore/channel/open_index.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/parallel.hpp"
#include "libcore/fs/file.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>
#include <thread>

using namespace gpkg;

namespace open_index_test {
namespace {

/// More than is read anew each time.
std::string repodata(int names, std::string_view version) {
    std::string json = R"({"packages.conda":{)";
    for (int i = 0; i < names; ++i)
        json += fmt::format(
            R"({}"n{}-{}-0.conda":{{"name":"n{}","version":"{}","build":"0","depends":["n{}"]}})",
            i > 0 ? "," : "",
            i,
            version,
            i,
            version,
            (i + 1) % names);
    return json + "}}";
}

struct Fixture {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    fs::path cache = folder.path() / "cache";

    /// As a fetch leaves it; `remote` knows the checksum of the bytes.
    FetchedIndex fetched(const std::string& json, bool remote) const {
        FetchedIndex index;
        const auto place = remote ? "https://host/c" : (folder.path() / "c").native();
        index.channel = Channel::parse(place, {}).value();
        index.subdir = "linux-64";
        index.url = index.channel.subdir_url("linux-64") + "/repodata.json";
        index.path = folder.path() / "c/linux-64/repodata.json";
        REQUIRE(write_file_atomically(index.path, json));
        if (remote) index.sha256 = hex_digest(DigestKind::Sha256, json);
        return index;
    }
    std::vector<fs::path> kept() const {
        std::vector<fs::path> files;
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(cache, none)) files.push_back(entry.path());
        return files;
    }
};

std::string version_of(const Result<std::shared_ptr<const ChannelIndex>>& index) {
    if (!index) return index.error().to_string();
    const auto found = (*index)->find("n3");
    if (!found) return found.error().to_string();
    return (*index)->record(*found, found->rows()[0])->version;
}

}  // namespace

TEST_CASE("an index is made once and mapped from then on", "[channel]") {
    const Fixture fixture;
    const bool remote = GENERATE(false, true);
    const auto fetched = fixture.fetched(repodata(1000, "1"), remote);
    CHECK(version_of(open_index(fetched, fixture.cache)) == "1");
    const auto kept = fixture.kept();
    REQUIRE(kept.size() == 1);
    const auto made = fs::last_write_time(kept[0]);
    CHECK(version_of(open_index(fetched, fixture.cache)) == "1");
    CHECK(fixture.kept() == kept);
    CHECK(fs::last_write_time(kept[0]) == made);
}

TEST_CASE("an index of other bytes is not used, and the last but one is dropped", "[channel]") {
    const Fixture fixture;
    const bool remote = GENERATE(false, true);
    for (const auto* version : {"1", "2", "3", "4"}) {
        const auto fetched = fixture.fetched(repodata(1000, version), remote);
        CHECK(version_of(open_index(fetched, fixture.cache)) == version);
    }
    CHECK(fixture.kept().size() == 2);
}

TEST_CASE("an index that is not whole is made anew", "[channel]") {
    const Fixture fixture;
    const auto fetched = fixture.fetched(repodata(1000, "1"), true);
    REQUIRE(open_index(fetched, fixture.cache));
    const auto file = fixture.kept().at(0);
    const auto read = read_file(file);
    REQUIRE(read);
    const std::string& good = *read;
    const auto size = good.size();
    for (const auto& bad : {std::string(),
                            good.substr(0, 8),
                            good.substr(0, size / 2),
                            good.substr(0, size - 1),
                            std::string(size, '\0'),
                            good + std::string(8, '\0')}) {
        REQUIRE(write_file_atomically(file, bad));
        CHECK(version_of(open_index(fetched, fixture.cache)) == "1");
        CHECK(read_file(file).value() == good);
    }
    // Damage that is met only later: the file goes, and the next open mends it.
    auto bad = good;
    for (std::size_t at = 8; at < size / 2; ++at) bad[at] = static_cast<char>(~bad[at]);
    REQUIRE(write_file_atomically(file, bad));
    CHECK(version_of(open_index(fetched, fixture.cache)).find("is damaged") != std::string::npos);
    CHECK(version_of(open_index(fetched, fixture.cache)) == "1");
}

TEST_CASE("many may make an index at once", "[channel]") {
    const Fixture fixture;
    const auto fetched = fixture.fetched(repodata(1000, "1"), true);
    std::vector<std::string> versions(8);
    for_each_index(versions.size(), versions.size(), [&](std::size_t i) {
        versions[i] = version_of(open_index(fetched, fixture.cache));
    });
    CHECK(versions == std::vector<std::string>(8, "1"));
    CHECK(fixture.kept().size() == 1);
}

TEST_CASE("a cache that cannot be written costs no answer", "[channel]") {
    Fixture fixture;
    fixture.cache = fixture.folder.path() / "file";
    REQUIRE(write_file_atomically(fixture.cache, ""));
    const auto fetched = fixture.fetched(repodata(1000, "1"), true);
    CHECK(version_of(open_index(fetched, fixture.cache)) == "1");
}

TEST_CASE("a small or missing subdir leaves nothing in the cache", "[channel]") {
    const Fixture fixture;
    auto fetched = fixture.fetched(repodata(10, "1"), true);
    CHECK(version_of(open_index(fetched, fixture.cache)) == "1");
    fetched.missing = true;
    fetched.path.clear();
    CHECK((*open_index(fetched, fixture.cache))->record_count() == 0);
    CHECK(fixture.kept().empty());
}

TEST_CASE("a repodata that is refused is refused each time", "[channel]") {
    const Fixture fixture;
    const auto fetched =
        fixture.fetched(repodata(1000, "1") + std::string(40'000, ' ') + "x", true);
    for (int i = 0; i < 2; ++i)
        CHECK(open_index(fetched, fixture.cache).error().kind == ErrorKind::Integrity);
    CHECK(fixture.kept().empty());
}

}  // namespace open_index_test
