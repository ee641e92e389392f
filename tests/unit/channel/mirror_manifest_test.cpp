#include "libcore/channel/mirror_manifest.hpp"

#include "tests/support/catch.hpp"

#include <fstream>

using namespace gpkg;

namespace mirror_manifest_test {
namespace {

const std::string kSum(64, 'a');

}  // namespace

TEST_CASE("a manifest is read as it was written", "[channel]") {
    MirrorManifest manifest;
    manifest.channels["main"] = "https://host/main";
    manifest.files["main/noarch/a-1-0.conda"] = {12, kSum};
    const auto again = MirrorManifest::parse(manifest.to_text(), "manifest.json");
    REQUIRE(again);
    CHECK(*again == manifest);
}

TEST_CASE("what is no manifest is refused", "[channel]") {
    const auto with_file = [](const std::string& file) {
        return R"({"format": 1, "channels": {}, "files": {)" + file + "}}";
    };
    const std::vector<std::pair<std::string, std::string>> cases{
        {"", "not a JSON object"},
        {"[]", "not a JSON object"},
        {"{}", "\"format\" is missing"},
        {R"({"format": 2, "channels": {}, "files": {}})", "unknown format 2"},
        {R"({"format": 1, "files": {}})", "is not an object"},
        {R"({"format": 1, "channels": {"a": 1}, "files": {}})", "a channel URL is not a string"},
        {R"({"format": 1, "channels": {"..": "u"}, "files": {}})", "not a valid folder name"},
        {R"({"format": 1, "channels": {"a/b": "u"}, "files": {}})", "not a valid folder name"},
        {R"({"format": 1, "channels": {"": "u"}, "files": {}})", "not a valid folder name"},
        {with_file(R"("../a": {"size": 1, "sha256": ")" + kSum + "\"}"),
         "leads outside of the mirror"},
        {with_file(R"("/a": {"size": 1, "sha256": ")" + kSum + "\"}"),
         "leads outside of the mirror"},
        {with_file(R"("a": {"size": -1, "sha256": ")" + kSum + "\"}"), "has no size"},
        {with_file(R"("a": {"size": 1, "sha256": "aa"})"), "no SHA-256"},
        {with_file(R"("a": {"size": 1})"), "no SHA-256"},
    };
    for (const auto& [text, said] : cases) {
        CAPTURE(text);
        const auto manifest = MirrorManifest::parse(text, "manifest.json");
        REQUIRE_FALSE(manifest);
        CHECK_THAT(manifest.error().message, ContainsSubstring(said));
    }
}

TEST_CASE("a mirror is compared with its manifest file by file", "[channel]") {
    const auto folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    fs::create_directories(folder.path() / "main/.hidden");
    std::ofstream(folder.path() / "main/a") << "abc";
    std::ofstream(folder.path() / "main/b") << "b";
    std::ofstream(folder.path() / "main/.hidden/c") << "c";
    std::ofstream(folder.path() / "manifest.json") << "{}";
    const auto found = files_of_mirror(folder.path(), {});
    REQUIRE(found);
    // The test vector of FIPS 180 for "abc".
    CHECK(found->at("main/a") ==
          MirrorFile{3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"});
    CHECK(found->size() == 2);

    const auto some = files_of_mirror(folder.path(), std::vector<std::string>{"main/b"}, {});
    REQUIRE(some);
    CHECK(some->size() == 1);
    CHECK(some->contains("main/b"));
    CHECK_FALSE(files_of_mirror(folder.path(), std::vector<std::string>{"main/none"}, {}));

    MirrorManifest manifest;
    manifest.files = {{"main/a", {3, kSum}}, {"main/gone", {1, kSum}}};
    const auto faults = compare(manifest, *found);
    CHECK(faults.changed == std::vector<std::string>{"main/a"});
    CHECK(faults.missing == std::vector<std::string>{"main/gone"});
    CHECK(faults.unknown == std::vector<std::string>{"main/b"});

    fs::create_symlink("/etc", folder.path() / "main/link");
    CHECK_FALSE(files_of_mirror(folder.path(), {}));
}

}  // namespace mirror_manifest_test
