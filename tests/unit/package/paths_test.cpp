#include "libcore/package/paths.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

namespace paths_test {
namespace {

const std::string kSum(64, 'a');

Result<std::vector<PathEntry>> parse_one(const std::string& entry) {
    return parse_paths_json(R"({"paths_version": 1, "paths": [)" + entry + "]}", "p");
}

}  // namespace

TEST_CASE("paths.json entries have the defaults of CEP 34", "[package]") {
    const auto paths = parse_one(R"({"_path": "./bin//x", "sha256": ")" + std::string(64, 'A') +
                                 R"(", "size_in_bytes": 5})");
    REQUIRE(paths);
    CHECK(paths->at(0) ==
          PathEntry{"bin/x", PathType::HardLink, FileMode::Text, "", false, kSum, 5});

    const auto full = parse_one(R"({"_path": "lib/y.so", "path_type": "hardlink", "no_link": true,
        "file_mode": "binary", "prefix_placeholder": "/opt/placehold", "sha256": ")" +
                                kSum + R"(", "size_in_bytes": 7})");
    REQUIRE(full);
    CHECK(full->at(0) ==
          PathEntry{
              "lib/y.so", PathType::HardLink, FileMode::Binary, "/opt/placehold", true, kSum, 7});
    CHECK(parse_one(R"({"_path": "l", "path_type": "softlink"})")->at(0).type ==
          PathType::SoftLink);
}

TEST_CASE("unsafe, reserved, doubled and mistyped entries are refused", "[package]") {
    struct Row {
        std::string entry, expected;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {R"({"_path": "/etc/passwd"})", "p: unsafe path \"/etc/passwd\""},
        {R"({"_path": "a/../../b"})", "p: unsafe path \"a/../../b\""},
        {R"({"_path": "C:/x"})", "p: unsafe path \"C:/x\""},
        {R"({"_path": "a\u0000b"})", "p: unsafe path \"a\\x00b\""},
        {R"({"_path": "."})", "p: unsafe path \".\""},
        {R"({"path_type": "hardlink"})", "p: unsafe path \"\""},
        {R"({"_path": "info/index.json"})", "p: path \"info/index.json\" is reserved for package managers"},
        {R"({"_path": "./conda-meta/x.json"})", "p: path \"conda-meta/x.json\" is reserved for package managers"},
        {R"({"_path": "Conda-Meta/History"})",  "p: path \"Conda-Meta/History\" is reserved for package managers"},
        {R"({"_path": "conda-meta/state"})",    "p: path \"conda-meta/state\" is reserved for package managers"},
        {R"({"_path": "conda-meta/pinned"})",   "p: path \"conda-meta/pinned\" is reserved for package managers"},
        {R"({"_path": "conda-meta/gpkg/x"})",   "p: path \"conda-meta/gpkg/x\" is reserved for package managers"},
        {R"({"_path": "conda-meta/.gpkg-lock"})", "p: path \"conda-meta/.gpkg-lock\" is reserved for package managers"},
        {R"({"_path": "a"}, {"_path": "./a"})", "p: path \"a\" is listed twice"},
        {R"({"_path": 1})", "p: 'paths[0]._path' must be text, found a number"},
        {R"({"_path": "a", "path_type": "pipe"})", "p: 'paths[0].path_type' must be hardlink, softlink or directory, found \"pipe\""},
        {R"({"_path": "a", "file_mode": "x"})", "p: 'paths[0].file_mode' must be text or binary, found \"x\""},
        {R"({"_path": "a", "sha256": "12"})", "p: 'paths[0].sha256' must be 64 hex digits, found \"12\""},
        {R"({"_path": "a", "size_in_bytes": -1})", "p: 'paths[0].size_in_bytes' must be a whole number of at least 0, found a number"},
        {R"({"_path": "a", "prefix_placeholder": "/a\n/b"})", "p: prefix placeholder \"/a\\x0a/b\" is not a path"},
        {R"(7)", "p: 'paths[0]' must be an object, found a number"},
    }));
    // clang-format on
    const auto paths = parse_one(row.entry);
    REQUIRE_FALSE(paths);
    CHECK(paths.error().to_string() == row.expected);
}

TEST_CASE("a paths.json of a later version is not guessed at", "[package]") {
    CHECK(parse_paths_json(R"({"paths_version": 2, "paths": []})", "p").error().to_string() ==
          "p: paths_version 2 is newer than 1\n  hint: use a newer gpkg");
    CHECK(parse_paths_json("{}", "p").error().message == "p: 'paths' is missing");
}

TEST_CASE("old packages tell their files in info/files, has_prefix and no_link", "[package]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(root);
    const auto& folder = root->path();
    REQUIRE(write_file_atomically(folder / "bin/tool", "x"));
    fs::create_symlink("tool", folder / "bin/link");
    REQUIRE(write_file_atomically(folder / "info/files", "bin/tool\nbin/link\n\nlib/a b\nlib/c\n"));
    REQUIRE(write_file_atomically(folder / "info/has_prefix",
                                  "bin/tool\n\"/opt/place hold\" binary \"lib/a b\"\n"));
    REQUIRE(write_file_atomically(folder / "info/no_link", "lib/c\n"));

    const auto paths = read_paths(folder);
    REQUIRE(paths);
    REQUIRE(paths->size() == 4);
    CHECK(paths->at(0).prefix_placeholder == "/opt/anaconda1anaconda2anaconda3");
    CHECK(paths->at(0).mode == FileMode::Text);
    CHECK(paths->at(1).type == PathType::SoftLink);
    CHECK(paths->at(2).path == "lib/a b");
    CHECK(paths->at(2).prefix_placeholder == "/opt/place hold");
    CHECK(paths->at(2).mode == FileMode::Binary);
    CHECK(paths->at(3).no_link);

    REQUIRE(write_file_atomically(folder / "info/files", "../x\n"));
    CHECK(read_paths(folder).error().message ==
          (folder / "info/files").native() + ": unsafe path \"../x\"");
    fs::remove(folder / "info/files");
    CHECK(read_paths(folder).error().message ==
          folder.native() + ": not an unpacked package: neither info/paths.json nor info/files");
}

TEST_CASE("written paths.json is sorted and reads back", "[package]") {
    std::vector<PathEntry> entries{
        {"lib/z", PathType::SoftLink, FileMode::Text, "", false, "", 0},
        {"bin/a", PathType::HardLink, FileMode::Binary, "/opt/p", true, kSum, 9}};
    const auto text = paths_json(entries);
    std::swap(entries[0], entries[1]);
    CHECK(parse_paths_json(text, "p").value() == entries);
    CHECK(paths_json(entries) == text);
}

}  // namespace paths_test
