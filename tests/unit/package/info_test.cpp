#include "libcore/package/info.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("index.json becomes a record", "[package]") {
    const auto record = parse_index_json(R"({
        "arch": "x86_64", "build": "h1234567_3", "build_number": 3, "name": "zlib",
        "version": "1.2.11", "depends": ["libgcc-ng >=7.3.0"], "constrains": ["zlib-ng <0"],
        "license": "Zlib", "license_family": "Other", "subdir": "linux-64",
        "timestamp": 1530731681870, "track_features": "a, b c", "features": null,
        "extra_depends": {"gui": ["qt"]}, "flags": ["cuda"]})",
                                         "index.json");
    REQUIRE(record);
    CHECK(record->distribution() == "zlib-1.2.11-h1234567_3");
    CHECK(record->build_number == 3);
    CHECK(record->depends == std::vector<std::string>{"libgcc-ng >=7.3.0"});
    CHECK(record->constrains == std::vector<std::string>{"zlib-ng <0"});
    CHECK(record->timestamp == 1530731681870);
    CHECK(record->track_features == std::vector<std::string>{"a", "b", "c"});
    CHECK(record->extra_depends.at("gui") == std::vector<std::string>{"qt"});
    CHECK(record->flags == std::vector<std::string>{"cuda"});
    CHECK(record->noarch.empty());
    CHECK_FALSE(record->python_site_packages_path);
}

TEST_CASE("types seen in the wild are understood", "[package]") {
    const auto with = [](const std::string& field) {
        return parse_index_json(R"({"name": "a", "version": "1", "build": "0", )" + field + "}",
                                "i");
    };
    CHECK(with(R"("noarch": true)")->noarch == "generic");
    CHECK(with(R"("noarch": false)")->noarch.empty());
    CHECK(with(R"("noarch": null)")->noarch.empty());
    CHECK(with(R"("noarch": "")")->noarch.empty());
    CHECK(with(R"("noarch": "python", "subdir": "linux-64")")->noarch == "python");
    CHECK(with(R"("timestamp": 1500000000)")->timestamp == 1500000000000);
    CHECK(with(R"("timestamp": 18446744073709551615)")->timestamp == 253402300799999);
    CHECK(with(R"("track_features": "")")->track_features.empty());
    CHECK(with(R"("track_features": ["a"])")->track_features == std::vector<std::string>{"a"});
    CHECK(with(R"("license": null, "depends": null)")->depends.empty());
    CHECK(with(R"("build_number": "7")")->build_number == 7);
    CHECK(with(R"("build_number": 7.0)")->build_number == 7);
}

TEST_CASE("wrong and hostile values in index.json are refused", "[package]") {
    struct Row {
        std::string text, expected;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"[]", "i: must be an object, found a list"},
        {R"({"version": "1", "build": "0"})", "i: 'name' is missing"},
        {R"({"name": 1, "version": "1", "build": "0"})", "i: 'name' must be text, found a number"},
        {R"({"name": "../x", "version": "1", "build": "0"})", "i: 'name' cannot be part of a file name: \"../x\""},
        {R"({"name": "a", "version": "1/2", "build": "0"})", "i: 'version' cannot be part of a file name: \"1/2\""},
        {R"({"name": "a", "version": "1", "build": "\u001b[2J"})", "i: 'build' cannot be part of a file name: \"\\x1b[2J\""},
        {R"({"name": "a", "version": "1", "build": "0", "depends": {}})", "i: 'depends' must be a list of strings, found an object"},
        {R"({"name": "a", "version": "1", "build": "0", "depends": ["b", 1]})", "i: 'depends[1]' must be text, found a number"},
        {R"({"name": "a", "version": "1", "build": "0", "build_number": -1})", "i: 'build_number' must be a whole number of at least 0, found a number"},
        {R"({"name": "a", "version": "1", "build": "0", "noarch": "java"})", "i: 'noarch' must be generic or python, found \"java\""},
        {R"({"name": "a", "version": "1", "build": "0", "extra_depends": {"g": 1}})", "i: 'extra_depends.g' must be a list of strings, found a number"},
    }));
    // clang-format on
    const auto record = parse_index_json(row.text, "i");
    REQUIRE_FALSE(record);
    CHECK(record.error().to_string() == row.expected);
}

TEST_CASE("damaged JSON is refused", "[package]") {
    for (const std::string text : {"", "{", "{\"name\": \"\xff\"}", "nul", "{}{}"})
        CHECK_THAT(parse_index_json(text, "i").error().message,
                   Catch::Matchers::StartsWith("i: not valid JSON: "));
    CHECK_FALSE(parse_index_json(std::string(100000, '['), "i"));
}

TEST_CASE("a distribution that would not fit into a file name is refused", "[package]") {
    PackageRecord record;
    record.name = std::string(100, 'a');
    record.version = std::string(100, '1');
    record.build = "0123456789";
    CHECK(check_distribution(record, "r").error().message ==
          "r: name, version and build exceed 211 characters");
    record.build = "012345678";
    CHECK(check_distribution(record, "r"));
}

TEST_CASE("run exports are a list or an object", "[package]") {
    CHECK(parse_run_exports(R"(["libx >=1,<2"])", "r")->weak ==
          std::vector<std::string>{"libx >=1,<2"});
    const auto exports = parse_run_exports(
        R"({"weak": ["a"], "strong": "b", "noarch": ["n"], "weak_constrains": ["c"], "x": 1})",
        "r");
    REQUIRE(exports);
    CHECK(exports->weak == std::vector<std::string>{"a"});
    CHECK(exports->strong == std::vector<std::string>{"b"});
    CHECK(exports->noarch == std::vector<std::string>{"n"});
    CHECK(exports->weak_constrains == std::vector<std::string>{"c"});
    CHECK(parse_run_exports("1", "r").error().message ==
          "r: must be an object or a list, found a number");
}

TEST_CASE("link.json tells the entry points", "[package]") {
    const auto link = parse_link_json(
        R"({"package_metadata_version": 1,
            "noarch": {"type": "python", "entry_points": ["pip3 = pip._internal.cli.main:main"]}})",
        "l");
    REQUIRE(link);
    CHECK(link->noarch == "python");
    REQUIRE(link->entry_points.size() == 1);
    CHECK(link->entry_points[0] == EntryPoint{"pip3", "pip._internal.cli.main", "main"});

    for (const auto* bad : {"",
                            "x",
                            "x=y",
                            "=m:f",
                            "x = m:",
                            "x = :f",
                            "../x = m:f",
                            "x = m;os:f",
                            "x = m:f()",
                            "x = m..n:f",
                            "x = 1m:f",
                            "a/b = m:f"}) {
        CAPTURE(bad);
        CHECK_FALSE(EntryPoint::parse(bad));
    }
    CHECK(EntryPoint::parse("x = m:f()").error().message ==
          "entry point \"x = m:f()\": expected \"command = module:function\"");
}

TEST_CASE("hash inputs keep their values as text", "[package]") {
    const auto values = parse_hash_input(R"({"c_compiler": "gcc", "b": true, "n": 3})", "h");
    REQUIRE(values);
    CHECK(*values ==
          std::map<std::string, std::string>{{"b", "true"}, {"c_compiler", "gcc"}, {"n", "3"}});
    CHECK(parse_hash_input(R"({"a": []})", "h").error().message ==
          "h: 'a' must be a string, a number, true or false, found a list");
}

TEST_CASE("about.json takes one URL or several", "[package]") {
    const auto about =
        parse_about_json(R"({"summary": "s", "home": "u", "doc_url": ["a", "b"]})", "a");
    REQUIRE(about);
    CHECK(about->summary == "s");
    CHECK(about->home == std::vector<std::string>{"u"});
    CHECK(about->doc_url == std::vector<std::string>{"a", "b"});
    CHECK(about->maintainers.empty());
    CHECK(about->builder.empty());
}

TEST_CASE("about.json of conda-build names maintainers and the builder", "[package]") {
    const auto about = parse_about_json(
        R"({"conda_build_version": "3.28", "extra": {"recipe-maintainers": ["a", "b"]}})", "a");
    REQUIRE(about);
    CHECK(about->maintainers == std::vector<std::string>{"a", "b"});
    CHECK(about->builder == "conda-build 3.28");
}

TEST_CASE("a repodata record survives being written and read", "[package]") {
    auto record = parse_index_json(
        R"({"name": "a", "version": "1", "build": "0", "depends": ["b"], "track_features": "f g"})",
        "i");
    REQUIRE(record);
    record->channel = "https://conda.example/c";
    record->url = "https://conda.example/c/linux-64/a-1-0.conda";
    record->fn = "a-1-0.conda";
    record->subdir = "linux-64";
    record->sha256 = std::string(64, 'a');
    record->md5 = std::string(32, 'b');
    record->size = 12;
    record->timestamp = 1500000000000;
    record->indexed_timestamp = 1600000000000;
    record->legacy_bz2_size = 5;
    const auto text =
        repodata_record_json(*record, R"({"name": "z", "depends": ["old"], "app": {"x": 1}})");
    REQUIRE(text);
    CHECK_THAT(*text, ContainsSubstring("\"app\""));
    const auto again = parse_repodata_record(*text, "r");
    REQUIRE(again);
    CHECK(*again == *record);
    CHECK(parse_repodata_record(R"({"name": "a", "version": "1", "build": "0", "sha256": "xyz"})",
                                "r")
              .error()
              .message == "r: 'sha256' must be 64 hex digits, found \"xyz\"");
}

TEST_CASE("info files are read without following links", "[package]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(root);
    const auto package = root->path() / "p";
    REQUIRE(write_file_atomically(root->path() / "secret", "{}"));
    REQUIRE(make_folders(package / "info"));
    CHECK_FALSE(read_info_text(package, "index.json").value());
    fs::create_symlink(root->path() / "secret", package / "info/index.json");
    CHECK(read_info_text(package, "index.json").error().message ==
          (package / "info/index.json").native() +
              ": reached through a link, not a file of the package");
    fs::remove_all(package / "info");
    fs::create_directory_symlink(root->path(), package / "info");
    CHECK_FALSE(read_info_text(package, "secret"));
}
