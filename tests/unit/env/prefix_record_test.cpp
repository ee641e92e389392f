#include "libcore/env/prefix_record.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

namespace prefix_record_test {
namespace {

PrefixRecord full_record() {
    PrefixRecord record;
    auto& package = record.package;
    package.name = "numpy";
    package.version = "2.1.0";
    package.build = "py312h1_0";
    package.build_number = 3;
    package.subdir = "linux-64";
    package.channel = "https://example.org/main";
    package.fn = "numpy-2.1.0-py312h1_0.conda";
    package.url = "https://example.org/main/linux-64/numpy-2.1.0-py312h1_0.conda";
    package.md5 = std::string(32, 'a');
    package.sha256 = std::string(64, 'b');
    package.size = 12345678901;
    package.timestamp = 1720000000000;
    package.depends = {"python >=3.12,<3.13.0a0", "libblas"};
    package.constrains = {"scipy >1"};
    package.track_features = {"mkl", "x"};
    package.license = "BSD-3-Clause";
    record.files = {"bin/f2py", "lib/x.pyc"};
    PrefixPath path;
    path.path = "bin/f2py";
    path.sha256 = std::string(64, 'c');
    path.sha256_in_prefix = std::string(64, 'd');
    path.size = 10;
    path.prefix_placeholder = "/place";
    path.binary = true;
    PrefixPath pyc;
    pyc.path = "lib/x.pyc";
    pyc.type = PrefixPathType::PycFile;
    record.paths = {path, pyc};
    record.link_source = "/pkgs/numpy";
    record.link_type = LinkType::Copy;
    record.requested_specs = {"numpy>=2"};
    record.extracted_package_dir = "/pkgs/numpy";
    return record;
}

}  // namespace

TEST_CASE("a conda-meta record survives a round trip", "[env]") {
    const auto record = full_record();
    auto read = PrefixRecord::parse(record.to_json(), "x.json");
    REQUIRE(read);
    CHECK(read->unknown_keys == R"({"arch":"x86_64","platform":"linux"})");
    read->unknown_keys.clear();
    CHECK(*read == record);
    CHECK(PrefixRecord::parse(read->to_json(), "x.json").value().to_json() == record.to_json());
}

TEST_CASE("keys of other tools are kept, and their habits forgiven", "[env]") {
    const auto* text = R"({
        "name": "a", "version": "1", "build": "0", "build_number": 0, "subdir": "linux-64",
        "channel": "https://example.org/main/linux-64/", "license": null, "timestamp": 1.5e12,
        "track_features": "x, y", "requested_spec": "a >=1", "package_type": "virtual", "noarch": true,
        "link": {"source": "/s", "type": 9},
        "files": ["bin/a"],
        "paths_data": {"paths_version": 1, "paths": [
            {"_path": "bin/a", "path_type": "windows_python_entry_point_exe", "inode": 7},
            "nonsense"]}})";
    const auto record = PrefixRecord::parse(text, "a.json");
    REQUIRE(record);
    CHECK(record->package.channel == "https://example.org/main");
    CHECK(record->package.timestamp == 1500000000000);
    CHECK(record->package.track_features == std::vector<std::string>{"x", "y"});
    CHECK(record->requested_specs == std::vector<std::string>{"a >=1"});
    CHECK(record->unknown_keys == R"({"package_type":"virtual"})");
    REQUIRE(record->paths.size() == 1);
    CHECK(record->paths[0].type == PrefixPathType::Other);
    CHECK(record->paths[0].type_text == "windows_python_entry_point_exe");
    CHECK(record->paths[0].unknown_keys == R"({"inode":7})");
    const auto again = record->to_json();
    CHECK_THAT(again, ContainsSubstring(R"("package_type": "virtual")"));
    CHECK_THAT(again, ContainsSubstring(R"("inode": 7)"));
    CHECK_THAT(again, ContainsSubstring("windows_python_entry_point_exe"));
}

TEST_CASE("a bare channel name is settled by the URL", "[env]") {
    const auto record = PrefixRecord::parse(
        R"({"name":"a","version":"1","build":"0","subdir":"noarch","channel":"conda-forge",
            "fn":"a-1-0.conda","url":"https://h/conda-forge/noarch/a-1-0.conda"})",
        "a.json");
    REQUIRE(record);
    CHECK(record->package.channel == "https://h/conda-forge");
    CHECK(record->requested_specs.empty());
}

TEST_CASE("records that are none are refused", "[env]") {
    struct Row {
        std::string text, message;
    };
    const auto row = GENERATE(values<Row>({
        {"{", "x.json: not valid JSON: "},
        {"[]", "x.json: expected a JSON object"},
        {R"({"name":"a"})", "x.json: not a package record: name, version or build is missing"},
        {R"({"name":"../a","version":"1","build":"0"})", "x.json: ../a-1-0 is not a package name"},
        {R"({"name":"a","version":"1","build":"0","files":["../etc"]})",
         "x.json: the path '../etc' leads out of the environment"},
        {R"({"name":"a","version":"1","build":"0","files":["/etc"]})",
         "x.json: the path '/etc' leads out of the environment"},
        {R"({"name":"a","version":"1","build":"0","paths_data":{"paths":[{"_path":""}]}})",
         "x.json: the path '' leads out of the environment"},
    }));
    CAPTURE(row.text);
    const auto record = PrefixRecord::parse(row.text, "x.json");
    REQUIRE_FALSE(record);
    CHECK_THAT(record.error().message, ContainsSubstring(row.message));
}

TEST_CASE("paths of a noarch python package are those in the environment", "[env]") {
    // conda writes paths_data as in the package.
    const auto record = PrefixRecord::parse(
        R"({"name":"a","version":"1","build":"0","subdir":"noarch","noarch":"python",
            "files":["lib/python3.12/site-packages/a/b.py","bin/a","bin/tool","share/site-packages/x"],
            "paths_data":{"paths":[{"_path":"site-packages/a/b.py"},{"_path":"python-scripts/tool"},
                {"_path":"bin/a"},{"_path":"share/site-packages/x"},{"_path":"site-packages/gone.py"}]}})",
        "a.json");
    REQUIRE(record);
    std::vector<std::string> paths;
    for (const auto& path : record->paths) paths.push_back(path.path);
    CHECK(paths == std::vector<std::string>{"lib/python3.12/site-packages/a/b.py",
                                            "bin/tool",
                                            "bin/a",
                                            "share/site-packages/x",
                                            "site-packages/gone.py"});
}

}  // namespace prefix_record_test
