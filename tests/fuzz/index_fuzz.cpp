// Bytes in place of an index file. Whatever they are: what is not what a writer wrote is noticed,
// at the latest when it is touched.

#include "libcore/index/index_format_internal.hpp"
#include "libcore/index/repodata.hpp"
#include "tests/fuzz/engine.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

using namespace gpkg;

namespace {

const IndexSource kSource{"https://host/c", "linux-64", "https://host/c/linux-64/repodata.json"};

std::string index_of(std::string json) {
    IndexWriter writer("/nowhere");
    std::string bytes;
    const auto read = read_repodata(text_source(std::move(json)), kSource, writer);
    const auto written =
        write_index(std::move(writer), {}, kSource, [&](std::string_view part) -> Result<void> {
            bytes += part;
            return {};
        });
    if (!read || !written) fuzz_stop("a seed that is refused", {});
    return bytes;
}

/// All that an index says; nothing where some of it was refused.
std::optional<std::string> all_of(const ChannelIndex& index) {
    std::string said;
    for (const auto name : index.names()) {
        const auto found = index.find(name);
        if (!found) return std::nullopt;
        for (const auto& row : found->rows()) {
            const auto record = index.record(*found, row);
            if (!record) return std::nullopt;
            said += record->url + record->sha256 + record->license;
            for (const auto& spec : record->depends) said += spec;
        }
    }
    return said;
}

/// An engine that sees comparisons makes the checksum of the footer fit, as whoever writes into the
/// cache can: nothing is promised of what such a file says.
bool is_forged(std::string_view file, const std::vector<std::string>& genuine) {
    using index_format::Footer;
    if (file.size() < sizeof(Footer)) return false;
    const auto end = file.substr(file.size() - sizeof(Footer));
    Footer footer;
    std::memcpy(&footer, end.data(), sizeof(Footer));
    return footer.checksum == index_format::checksum(end.substr(0, offsetof(Footer, checksum))) &&
           std::none_of(
               genuine.begin(), genuine.end(), [&](const auto& one) { return one.ends_with(end); });
}

}  // namespace

void fuzz_one(std::string_view input) {
    const auto seeds = fuzz_seeds();
    if (is_forged(input, seeds)) return;
    const auto index = ChannelIndex::from_bytes(std::string(input), kSource);
    if (!index || !all_of(*index)) return;
    if (std::find(seeds.begin(), seeds.end(), input) == seeds.end())
        fuzz_stop("damage that nobody notices", input);
}

std::vector<std::string> fuzz_seeds() {
    return {index_of(""),
            index_of(R"({"packages.conda":{"a-1-0.conda":{"name":"a","version":"1","build":"0",
                "depends":["b >=1","c"],"license":"MIT"},"b-1-0.conda":{"name":"b","version":"1",
                "build":"0","constrains":["a <9"]}},"info":{"base_url":"../x"}})")};
}

std::string_view fuzz_alphabet() { return {"\x00\x01\x02\x04\x08\x10\x20\x40\x80\xff", 10}; }
