// JSON for the reader of repodata. What is accepted must be an index that can be read whole and
// leads nowhere else; read a second time, and from tiny pieces, it must be the same; every refusal
// must name the URL in few words.

#include "libcore/index/repodata.hpp"
#include "tests/fuzz/engine.hpp"

#include <algorithm>

using namespace gpkg;

namespace {

const IndexSource kSource{"https://host/c", "linux-64", "https://host/c/linux-64/repodata.json"};

void check_text(std::string_view text, std::string_view input) {
    if (!text.starts_with(kSource.url)) fuzz_stop("does not name the URL", input);
    if (text.size() > 9000) fuzz_stop("too long", input);
    for (const char c : text) {
        if (c < ' ' || c > '~') fuzz_stop("not fit for a terminal", input);
    }
}

/// Gives a few bytes at a time.
ByteSource in_steps(std::string_view text) {
    return
        [text, step = std::size_t{0}](char* into, std::size_t room) mutable -> Result<std::size_t> {
            const auto count = std::min({room, text.size(), 1 + step++ % 7});
            text.copy(into, count);
            text.remove_prefix(count);
            return count;
        };
}

Result<std::string> index_of(ByteSource json) {
    IndexWriter writer("/nowhere");
    GPKG_CHECK(read_repodata(std::move(json), kSource, writer));
    return index_bytes(std::move(writer), {}, kSource);
}

void check_index(const ChannelIndex& index, std::string_view input) {
    for (const auto& note : index.notes()) check_text(note, input);
    std::size_t count = 0;
    for (const auto name : index.names()) {
        const auto found = index.find(name);
        if (!found) fuzz_stop("a name that cannot be read", input);
        for (const auto& row : found->rows()) {
            const auto record = index.record(*found, row);
            if (!record) fuzz_stop("a record that cannot be read", input);
            if (record->name != name) fuzz_stop("a record of another name", input);
            if (record->url.find("/../") != std::string::npos) fuzz_stop("leads astray", input);
            ++count;
        }
        if (found->choices(std::nullopt).size() > found->rows().size())
            fuzz_stop("more choices than records", input);
    }
    if (count != index.record_count()) fuzz_stop("records are missing", input);
}

}  // namespace

void fuzz_one(std::string_view input) {
    const auto bytes = index_of(text_source(std::string(input)));
    const auto again = index_of(in_steps(input));
    if (bytes.has_value() != again.has_value()) fuzz_stop("depends on how it is read", input);
    if (!bytes) return check_text(bytes.error().message, input);
    if (*bytes != *again) fuzz_stop("another index when read again", input);
    const auto index = ChannelIndex::from_bytes(*bytes, kSource);
    if (!index) fuzz_stop("an index that is not whole", input);
    check_index(*index, input);
}

std::vector<std::string> fuzz_seeds() {
    const std::string name = R"("name":"a","version":"1","build":"0")";
    return {
        R"({"info":{"subdir":"linux-64","base_url":"../x","channel_relations":{"base":"../y"},
            "repodata_revisions":{"v4":{"n_packages":7,"message":"m"}}},"repodata_version":2})",
        R"({"packages":{"a-1-0.tar.bz2":{)" + name +
            R"(,"depends":["b >=1","c"],"track_features":"x y","noarch":true,"timestamp":1.5e9,
            "md5":"0123456789abcdef0123456789ABCDEF","license":null,"size":3}},
            "removed":["a-2-0.conda"]})",
        R"({"packages.conda":{"a-1-0.conda":{)" + name +
            R"(,"constrains":["d <2"],"build_number":4,"license_family":"MIT",
            "sha256":"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
            "python_site_packages_path":"lib/x"},"b-\u0031-0.conda":{"name":"b","version":"1",
            "build":"0","noarch":"python"}}})",
        R"({"v3":{"conda":{"a-1-0":{)" + name +
            R"(,"flags":["cuda"],"extra_depends":{"t":["e[when=\"python>=3\"]"]},
            "indexed_timestamp":1700000000000}},"tar.bz2":{"a-1-0":{)" +
            name + "}}}}",
    };
}

std::string_view fuzz_alphabet() { return "{}[]\",:\\0123456789abetunrlf.-_/ \n"; }
