#include "libcore/package/info_member.hpp"

#include "libcore/package/unpack.hpp"
#include "libcore/package/write.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/package_archives.hpp"

#include <fmt/format.h>
#include <functional>

using namespace gpkg;
using Catch::Matchers::StartsWith;
using tests::TarMember;

namespace info_member_test {
namespace {

constexpr std::string_view kInputs = R"({"mpi": "nompi", "python": "3.12.* *_cpython"})";

std::vector<TarMember> info(const std::vector<TarMember>& more) {
    auto members = tests::info_members();
    members.insert(members.end(), more.begin(), more.end());
    return members;
}

std::string conda(const std::vector<TarMember>& more = {
                      {"info/hash_input.json", std::string(kInputs)}}) {
    return tests::make_conda({{"a", std::string(500, 'a')}}, info(more));
}

/// What is read of it by way of its last `tail` bytes: the text, "nothing", or the failure.
std::string read(const std::string& archive, std::size_t tail = kArchiveTail) {
    const auto start = archive.size() - std::min(tail, archive.size());
    const auto member = find_info_member(archive.substr(start), archive.size(), "x.conda");
    if (!member) return member.error().message;
    REQUIRE(member->from + member->count <= archive.size());
    const auto text = read_info_file(
        *member, archive.substr(member->from, member->count), "hash_input.json", "x.conda");
    if (!text) return text.error().message;
    return text->value_or("nothing");
}

/// Where `text` stands for the last time.
std::size_t last(const std::string& archive, std::string_view text) {
    const auto at = archive.rfind(text);
    REQUIRE(at != std::string::npos);
    return at;
}

/// `value` written as `size` bytes, the low one first.
void put(std::string& bytes, std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i, value >>= 8U)
        bytes.at(at + i) = static_cast<char>(value & 0xFFU);
}

/// A member of 512 MiB, in frames of which each is a few bytes.
std::string bomb() {
    auto header = tests::make_tar({{"info/a", std::string(512, 'x')}}).substr(0, 512);
    header.replace(124, 11, "04000000000");
    header.replace(148, 8, 8, ' ');
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    header.replace(148, 7, fmt::format("{:06o}", sum) + '\0');
    auto frames = zstd_compress(header, 1);
    const auto zeros = zstd_compress(std::string(1U << 20U, '\0'), 1);
    for (int i = 0; i < 512; ++i) frames += zeros;
    return frames;
}

constexpr std::string_view kEnd = "PK\5\6";
constexpr std::string_view kEntry = "PK\1\2";

}  // namespace

TEST_CASE("a file of the info part is read from the end of a .conda", "[package]") {
    const auto archive = conda();
    CHECK(read(archive) == kInputs);
    // Only as much of the end as holds the directory.
    const auto directory = archive.size() - archive.find(kEntry);
    CHECK(read(archive, directory) == kInputs);
    CHECK(read(archive, directory - 1) == "x.conda: the zip directory is not within the last " +
                                              std::to_string(directory - 1) + " bytes");
    CHECK(read(conda({})) == "nothing");
    CHECK(read(conda({{"./info/hash_input.json", "{}"}})) == "{}");
}

TEST_CASE("what gpkg writes is read so, also in its zip64 form", "[package]") {
    const auto folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    PackageContent content;
    content.folder = folder.path() / "payload";
    fs::create_directories(content.folder);
    content.info = {
        {"index.json",
         R"({"name": "a", "version": "1", "build": "0", "build_number": 0, "depends": []})"},
        {"paths.json", R"({"paths": [], "paths_version": 1})"},
        {"hash_input.json", std::string(kInputs)}};
    WriteOptions options;
    options.force_zip64 = GENERATE(false, true);
    const auto file = write_conda(content, folder.path() / "out", options);
    REQUIRE(file);
    const auto bytes = read_file(*file).value();
    CHECK(read(bytes) == kInputs);

    // The directory's place as the zip64 form alone tells it.
    if (!options.force_zip64) return;
    auto only = bytes;
    const auto end = last(only, kEnd);
    put(only, end + 10, 0xFFFF, 2);
    put(only, end + 16, 0xFFFFFFFF, 4);
    CHECK(read(only) == kInputs);
    for (const auto& [at, value] : std::vector<std::pair<std::size_t, std::uint64_t>>{
             {8, 0}, {8, only.size()}, {8, ~std::uint64_t{0}}, {8, end - 20}}) {
        auto lost = only;
        put(lost, end - 20 + at, value, 8);
        CHECK(read(lost) == "x.conda: the archive has no zip64 end of directory");
    }
    put(only, end - 20, 0, 4);
    CHECK(read(only) == "x.conda: the archive has no zip64 end of directory");
}

TEST_CASE("a zip may have a comment, and one that looks like a zip's end", "[package]") {
    auto archive = conda();
    const std::string comment = "PK\5\6 is how it ends" + std::string(40, ' ');
    put(archive, last(archive, kEnd) + 20, comment.size(), 2);
    CHECK(read(archive + comment) == kInputs);
}

TEST_CASE("archives that are damaged or hostile are refused", "[package]") {
    struct Row {
        std::string expected;
        std::function<void(std::string&)> change;
    };
    const auto end = [](std::size_t at, std::uint64_t value, std::size_t size) {
        return [=](std::string& a) { put(a, last(a, kEnd) + at, value, size); };
    };
    // The info- member is the last in the directory.
    const auto entry = [](std::size_t at, std::uint64_t value, std::size_t size) {
        return [=](std::string& a) { put(a, last(a, kEntry) + at, value, size); };
    };
    const auto local = [](std::size_t at, std::uint64_t value, std::size_t size) {
        return [=](std::string& a) { put(a, last(a, "PK\3\4") + at, value, size); };
    };
    const std::string is = "x.conda: the archive ";
    const std::string inner = "x.conda: info-p-1-0.tar.zst: ";
    const std::vector<Row> rows{
        {is + "has no zip directory", [](std::string& a) { a.clear(); }},
        {is + "has no zip directory", [](std::string& a) { a += "x"; }},
        {is + "has no zip directory", [](std::string& a) { a.pop_back(); }},
        {is + "has no zip directory", end(20, 7, 2)},
        {is + "has a zip directory beyond its end", end(12, 0xFFFFFFF0, 4)},
        {is + "has a zip directory beyond its end", end(16, 0xFFFFFFF0, 4)},
        {is + "has no zip64 end of directory", end(16, 0xFFFFFFFF, 4)},
        {is + "has a truncated zip directory", end(10, 1000, 2)},
        {is + "has a truncated zip directory", end(16, 0, 4)},
        {is + "has a truncated zip directory", entry(28, 60000, 2)},
        {is + "has a truncated zip directory", entry(0, 0, 4)},
        {is + "has no info-*.tar.zst member", end(10, 2, 2)},
        {is + "has no info-*.tar.zst member", entry(46, 'x', 1)},
        {is + "has a directory entry without zip64 field", entry(42, 0xFFFFFFFF, 4)},
        {is + "has overlapping members", entry(42, 0xFFFFFFF0, 4)},
        {is + "has overlapping members",
         [&](std::string& a) {
             entry(20, 5000, 4)(a);
             entry(24, 5000, 4)(a);
         }},
        {inner + "compressed in the zip, which the .conda format forbids", entry(10, 8, 2)},
        {inner + "compressed in the zip, which the .conda format forbids", entry(8, 1, 2)},
        {inner + "compressed in the zip, which the .conda format forbids", entry(24, 5, 4)},
        {inner + "20000000 bytes exceed the limit of 16777216 bytes",
         [&](std::string& a) {
             entry(20, 20'000'000, 4)(a);
             entry(24, 20'000'000, 4)(a);
         }},
        {is + "has overlapping members", entry(42, 0, 4)},
        {inner + "not where the zip directory says", local(0, 0, 4)},
        {inner + "not what the zip directory says", local(8, 8, 2)},
        {inner + "not what the zip directory says", local(26, 5, 2)},
        {inner + "truncated", local(28, 60000, 2)},
        {inner + "wrong checksum", entry(16, 12345, 4)},
        {inner + "wrong checksum", local(100, 0x12345678, 4)},
    };
    for (const auto& row : rows) {
        auto archive = conda();
        row.change(archive);
        const auto got = read(archive);
        CHECK(got == row.expected);
    }
}

TEST_CASE("what the info part holds is not trusted either", "[package]") {
    const auto of = [](const std::string& content, const std::string& name = "info-p-1-0.tar.zst") {
        return tests::make_zip({{"metadata.json", "{}"}, {name, content}});
    };
    const std::string inner = "x.conda: info-p-1-0.tar.zst: ";
    const TarMember inputs{"info/hash_input.json", "{}"};
    const auto packed = [](const std::vector<TarMember>& members) {
        return zstd_compress(tests::make_tar(members), 1);
    };
    CHECK(read(of(packed({inputs}))) == "{}");
    CHECK_THAT(read(of("no zstd")), StartsWith(inner + "not valid zstd data"));
    CHECK(read(of(packed({inputs}).substr(0, 30))) == inner + "truncated zstd data");
    CHECK_THAT(read(of(zstd_compress(std::string(2000, 'x'), 1))),
               StartsWith(inner + "damaged archive: "));
    CHECK(read(of(packed({inputs, inputs}))) == inner + "info/hash_input.json is in it twice");
    CHECK(read(of(packed({{"info/hash_input.json", "index.json", TarMember::Kind::SoftLink}}))) ==
          inner + "info/hash_input.json is not a file");
    CHECK(read(of(packed({{"info/hash_input.json", std::string(kMostInfoFile + 1, ' ')}}))) ==
          inner + "info/hash_input.json is larger than 1048576 bytes");
    CHECK(read(of(bomb())) == inner + "unpacks to more than 268435456 bytes");
    auto two = tests::make_zip(
        {{"info-a.tar.zst", packed({inputs})}, {"info-b.tar.zst", packed({inputs})}});
    CHECK(read(two) == "x.conda: the archive has two info-*.tar.zst members");
    CHECK_THAT(read(tests::make_zip({{"info-a.tar.zst", std::string(2000, 'x')}}, true)),
               StartsWith("x.conda: info-a.tar.zst: compressed in the zip"));
}

TEST_CASE("no cut and no flipped byte of an archive is more than refused", "[package]") {
    const auto archive = conda();
    for (std::size_t size = 0; size < archive.size(); ++size) {
        const auto cut = archive.substr(0, size);
        CHECK_THAT(read(cut), StartsWith("x.conda: "));
    }
    for (std::size_t at = 0; at < archive.size(); ++at) {
        auto odd = archive;
        odd[at] = static_cast<char>(~odd[at]);
        const auto got = read(odd);
        const bool is_known = got == kInputs || got.starts_with("x.conda: ");
        CHECK(is_known);
    }
}

}  // namespace info_member_test
