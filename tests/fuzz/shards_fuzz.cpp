// Msgpack for the readers of shards and of their indexes, before it is compressed. What is accepted
// must be about the name that was asked for and lead nowhere else, and every refusal must name the
// URL in few words.

#include "libcore/index/dependency_names.hpp"
#include "tests/fuzz/engine.hpp"
#include "tests/support/shards.hpp"

#include <algorithm>

using namespace gpkg;

namespace {

constexpr std::string_view kUrl = "https://host/c/noarch/repodata_shards.msgpack.zst";

[[noreturn]] void stop(const char* reason) { fuzz_stop(reason, {}); }

void check_refusal(const Error& error) {
    if (error.kind != ErrorKind::Integrity && error.kind != ErrorKind::Unsupported)
        stop("a refusal of another kind");
    if (!error.message.starts_with(kUrl)) stop("a refusal that does not name the URL");
    if (error.message.size() > 1500) stop("a refusal is too long");
    for (const char c : error.message) {
        if (c < ' ' || c > '~') stop("a refusal that is not fit for a terminal");
    }
}

void check_record(const IndexRecord& record) {
    if (record.name != "rich") stop("a record of another name");
    for (const auto part : {record.version, record.build}) {
        if (part.empty() || part.find_first_of("/\\ \n") != std::string_view::npos)
            stop("a version or build that is none");
    }
    if (!record.md5.empty() && record.md5.size() != 16) stop("an md5 of another size");
    if (!record.sha256.empty() && record.sha256.size() != 32) stop("a sha256 of another size");
}

}  // namespace

void fuzz_one(std::string_view input) {
    const auto packed = zstd_compress(input, 1);
    const auto shard = read_shard(packed, "rich", kUrl);
    if (shard) {
        std::for_each(shard->records.begin(), shard->records.end(), check_record);
        (void)dependency_names(*shard);
    } else {
        check_refusal(shard.error());
    }
    const auto index = read_shard_index(packed, kUrl);
    if (!index) {
        check_refusal(index.error());
        return;
    }
    if (!index->shard_folder().starts_with("http") || !index->shard_folder().ends_with('/'))
        stop("shards that are not on a server");
    for (const auto& entry : index->entries()) {
        if (index->find(entry.name) == nullptr) stop("an entry that is not found");
    }
}

std::vector<std::string> fuzz_seeds() {
    const auto shard = nlohmann::json::parse(R"({
        "packages": {"rich-1-0.tar.bz2": {"name": "rich", "version": "1", "build": "0",
            "build_number": 7, "depends": ["a >=1", "b[when=\"c\"]"], "timestamp": 1.5e12}},
        "packages.conda": {"rich-2-h_1.conda": {"name": "rich", "version": "2", "build": "h_1",
            "track_features": "x,y", "noarch": "python", "constrains": ["d"], "size": 100000}},
        "v3": {"conda": {"rich-3-0": {"name": "rich", "version": "3", "build": "0",
            "extra_depends": {"test": ["e"]}, "flags": ["cuda"]}}},
        "removed": ["rich-0-0.conda"], "later": [1, [2, {"a": null}], true, -3]})");
    const nlohmann::json index{
        {"version", 1},
        {"info",
         {{"base_url", "./"},
          {"shards_base_url", "../s"},
          {"channel_relations", {{"base", "../x"}}},
          {"repodata_revisions", {{"v4", {{"n_packages", 1}, {"message", "m"}}}}}}},
        {"shards",
         {{"a", tests::bytes_of_hex(std::string(64, 'a'))}, {"b", std::string(64, 'b')}}}};
    auto sums = shard;
    sums["packages"]["rich-1-0.tar.bz2"]["sha256"] = tests::bytes_of_hex(std::string(64, '1'));
    sums["packages"]["rich-1-0.tar.bz2"]["md5"] = std::string(32, '1');
    return {tests::as_msgpack(sums), tests::as_msgpack(index)};
}

/// First bytes of every kind of value, and lengths at the edges.
std::string_view fuzz_alphabet() {
    return {
        "\x00\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc4\xc6\xc9\xca\xcb"
        "\xcf\xd3\xd9\xdb\xdd\xdf\xe0\xff./",
        25};
}
