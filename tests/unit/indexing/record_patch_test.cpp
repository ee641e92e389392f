#include "libcore/indexing/record_patch.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

namespace record_patch_test {
namespace {

PackageRecord record(const std::string& fn) {
    PackageRecord record;
    record.name = "a";
    record.version = "1";
    record.build = "0";
    record.subdir = "linux-64";
    record.fn = fn;
    record.url = "https://host/linux-64/" + fn;
    record.channel = "https://host";
    record.sha256 = std::string(64, 'a');
    record.size = 7;
    record.depends = {"b >=1"};
    return record;
}

constexpr const char* kInside =
    R"({"name": "a", "version": "1", "build": "0", "build_number": 0, "subdir": "linux-64",
        "depends": ["b >=1"], "constrains": ["c <2"]})";

std::string patch(const PackageRecord& record) {
    return patch_towards({record},
                         [](const PackageRecord&) -> Result<std::string> { return kInside; })
        .value();
}

}  // namespace

TEST_CASE("a patch says what the channel's record says otherwise, and nothing else", "[indexing]") {
    auto same = record("a-1-0.conda");
    same.constrains = {"c <2"};
    CHECK(patch(same).empty());

    auto other = record("a-1-0.conda");
    other.depends = {"b >=1,<2"};
    CHECK(
        patch(other) ==
        "{\n \"patch_instructions_version\": 1,\n \"packages\": {},\n \"packages.conda\": {\n"
        "  \"a-1-0.conda\": {\n   \"constrains\": [],\n   \"depends\": [\n    \"b >=1,<2\"\n   ]\n"
        "  }\n }\n}\n");
}

}  // namespace record_patch_test
