// Ends of .conda archives for the reader of their info part. Whatever they say: no crash, no place
// that lies outside of the archive, nothing larger than it may be; every refusal must name the
// archive in few words. The first byte is how much of the archive is seen at first.

#include "libcore/base/text.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/package/info_member.hpp"
#include "tests/fuzz/engine.hpp"
#include "tests/support/package_archives.hpp"

#include <algorithm>

using namespace gpkg;

namespace {

constexpr std::string_view kName = "x.conda";

void check_refusal(const Error& error, std::string_view input) {
    if (!error.message.starts_with(kName)) fuzz_stop("does not name the archive", input);
    if (error.message.size() > 2000) fuzz_stop("too long", input);
    for (const char c : error.message) {
        if (c < ' ' || c > '~') fuzz_stop("not fit for a terminal", input);
    }
}

}  // namespace

void fuzz_one(std::string_view input) {
    if (input.empty()) return;
    const auto hidden = static_cast<std::size_t>(static_cast<unsigned char>(input.front()));
    const auto archive = input.substr(1);
    const auto tail = archive.substr(std::min(hidden, archive.size()));
    const auto member = find_info_member(tail, archive.size(), kName);
    if (!member) {
        check_refusal(member.error(), input);
        return;
    }
    if (member->from > archive.size() || member->count > archive.size() - member->from)
        fuzz_stop("a member outside of the archive", input);
    const auto own = archive.substr(member->from, member->count);
    const auto text = read_info_file(*member, own, "hash_input.json", kName);
    if (!text) return check_refusal(text.error(), input);
    if (*text && (*text)->size() > kMostInfoFile) fuzz_stop("too much of a file", input);
    // What all of the archive says is what its end says.
    const auto again = find_info_member(archive, archive.size(), kName);
    if (!again || again->from != member->from || again->size != member->size)
        fuzz_stop("another member by more of the archive", input);
}

std::vector<std::string> fuzz_seeds() {
    auto info = tests::info_members();
    info.push_back({"info/hash_input.json", R"({"mpi": "nompi"})"});
    const std::string metadata = R"({"conda_pkg_format_version": 2})";
    const auto packed = zstd_compress(tests::make_tar(info), 3);
    std::vector<std::string> seeds{
        std::string(1, '\0') + tests::make_conda({{"a", "x"}}, info),
        std::string(1, '\x20') + tests::make_conda({{"a", "x"}}, info),
        std::string(1, '\0') +
            tests::make_zip({{"info-a.tar.zst", packed}, {"metadata.json", metadata}}),
        std::string(1, '\0') + tests::make_zip({{"info-a.tar.zst", packed}}, true)};
    // With the zip64 form of its end, which says the same.
    auto wide = seeds.front();
    const auto end = wide.rfind("PK\5\6");
    const auto field = [&](std::size_t at, std::size_t size) {
        return wide.substr(end + at, size) + std::string(8 - size, '\0');
    };
    const auto record = wide.size() - 1 - (wide.size() - end);
    std::string place;
    for (unsigned i = 0; i < 8; ++i) place += static_cast<char>(record >> (8U * i));
    const auto more = std::string("PK\6\6\x2c", 5) + std::string(7 + 12, '\0') + field(10, 2) +
                      field(10, 2) + field(12, 4) + field(16, 4) + std::string("PK\6\7") +
                      std::string(4, '\0') + place + std::string("\1\0\0\0", 4);
    wide.replace(end + 8, 12, 12, '\xff');
    seeds.push_back(wide.insert(end, more));
    return seeds;
}

/// Marks of a zip's structures, and numbers at the edges.
std::string_view fuzz_alphabet() { return {"PK\1\2\3\4\5\6\7\0\xff\x7f\x80", 13}; }
