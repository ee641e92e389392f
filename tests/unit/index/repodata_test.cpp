#include "libcore/index/repodata.hpp"

#include "tests/support/catch.hpp"

#include <cstdlib>
#include <fmt/format.h>

using namespace gpkg;

namespace {

const IndexSource kSource{"https://host/c", "linux-64", "https://host/c/linux-64/repodata.json"};

std::string refusal(const std::string& json) {
    const auto index = read_repodata(json, kSource);
    return index ? "accepted" : index.error().message;
}

}  // namespace

TEST_CASE("records of all maps become one list per name", "[index]") {
    const auto index = read_repodata(R"({
        "info": {"subdir": "linux-64"}, "repodata_version": 1, "unknown": [1, {"a": null}],
        "packages": {
            "a-1-0.tar.bz2": {"name": "a", "version": "1", "build": "0", "build_number": 0,
                "depends": ["b >=1", "c"], "md5": "0123456789abcdef0123456789ABCDEF", "license": null,
                "track_features": "x, y", "noarch": true, "timestamp": 1500000000, "features": null},
            "z-1-0.tar.bz2": {"name": "z", "version": "1", "build": "0"}},
        "packages.conda": {
            "a-2-h1_3.conda": {"name": "a", "version": "2", "build": "h1_3", "build_number": 3,
                "depends": ["b >=1"], "constrains": ["d <2"], "size": 17, "timestamp": 1700000000123,
                "python_site_packages_path": null, "noarch": "python"},
            "z-1-0.conda": {"name": "z", "version": "1", "build": "0", "timestamp": -3884645}},
        "v3": {"conda": {"e-1-0": {"name": "e", "version": "1", "build": "0", "flags": ["cuda"],
                "extra_depends": {"plot": ["m"]}}}, "whl": {"x": 1}},
        "removed": ["old-1-0.conda"]})",
                                     kSource);
    REQUIRE(index);
    CHECK(std::vector(index->names().begin(), index->names().end()) ==
          std::vector<std::string_view>{"a", "e", "z"});

    REQUIRE(index->rows("a").size() == 2);
    const auto old = index->record(index->rows("a")[0]);
    CHECK(old.fn == "a-1-0.tar.bz2");
    CHECK(old.url == "https://host/c/linux-64/a-1-0.tar.bz2");
    CHECK(old.channel == "https://host/c");
    CHECK(old.depends == std::vector<std::string>{"b >=1", "c"});
    CHECK(old.track_features == std::vector<std::string>{"x", "y"});
    CHECK(old.md5 == "0123456789abcdef0123456789abcdef");
    CHECK(old.noarch == "generic");
    CHECK(old.timestamp == 1500000000000);

    const auto fresh = index->record(index->rows("a")[1]);
    CHECK(fresh.timestamp == 1700000000123);
    CHECK(fresh.build_number == 3);
    CHECK(fresh.size == 17);
    CHECK(fresh.constrains == std::vector<std::string>{"d <2"});
    CHECK_FALSE(fresh.python_site_packages_path);
    CHECK(index->spec_count() == 4);

    REQUIRE(index->rows("z").size() == 1);
    CHECK(index->text(index->rows("z")[0].fn) == "z-1-0.conda");
    CHECK(index->rows("z")[0].timestamp == -3884645000);  // a clock that was wrong

    const auto v3 = index->record(index->rows("e")[0]);
    CHECK(v3.fn == "e-1-0.conda");
    CHECK(v3.flags == std::vector<std::string>{"cuda"});
    CHECK(v3.extra_depends.at("plot") == std::vector<std::string>{"m"});
}

TEST_CASE("an empty file is an empty index", "[index]") {
    CHECK(read_repodata("", kSource)->record_count() == 0);
    CHECK(read_repodata("{}", kSource)->record_count() == 0);
}

TEST_CASE("removed records are no candidates, wherever the list stands", "[index]") {
    const auto before = read_repodata(
        R"({"removed": ["a-1-0.conda"], "packages.conda": {"a-1-0.conda": {"name":"a","version":"1","build":"0"}}})",
        kSource);
    const auto after = read_repodata(
        R"({"packages.conda": {"a-1-0.conda": {"name":"a","version":"1","build":"0"}}, "removed": ["a-1-0.conda"]})",
        kSource);
    CHECK(before->record_count() == 0);
    CHECK(after->record_count() == 0);
}

TEST_CASE("base_url names the folder of the artifacts (CEP 15)", "[index]") {
    struct Row {
        const char *base_url, *expected;
    };
    const auto row = GENERATE(values<Row>({
        {"https://cdn.example/x/linux-64/", "https://cdn.example/x/linux-64/p-1-0.conda"},
        {"https://cdn.example/x/linux-64", "https://cdn.example/x/linux-64/p-1-0.conda"},
        {"../../pkgs/linux-64", "https://host/pkgs/linux-64/p-1-0.conda"},
        {"./", "https://host/c/linux-64/p-1-0.conda"},
        {"/top", "https://host/top/p-1-0.conda"},
        {"../../../../..", "https://host/p-1-0.conda"},
    }));
    const auto index = read_repodata(
        fmt::format(
            R"({{"info":{{"base_url":"{}"}},"repodata_version":2,"packages.conda":{{"p-1-0.conda":{{"name":"p","version":"1","build":"0"}}}}}})",
            row.base_url),
        kSource);
    REQUIRE(index);
    CHECK(index->url(index->rows("p")[0]) == row.expected);
}

TEST_CASE("a broken or hostile index is refused with the file and the reason", "[index]") {
    const auto packages = [](const std::string& inner) {
        return R"({"packages.conda": {)" + inner + "}}";
    };
    const std::string url = "https://host/c/linux-64/repodata.json: ";

    CHECK(refusal("[]") == url + "the top level should be a map");
    CHECK(refusal(R"({"repodata_version": 3})") ==
          url + "repodata_version 3 is newer than this gpkg understands (2)");
    CHECK(refusal(packages(R"("../evil-1-0.conda": {"name":"e","version":"1","build":"0"})")) ==
          url + "packages.conda: '../evil-1-0.conda' is no file name");
    CHECK(refusal(packages(R"("a\\b-1-0.conda": {"name":"e","version":"1","build":"0"})")) ==
          url + "packages.conda: 'a\\b-1-0.conda' is no file name");
    CHECK(refusal(packages(R"("a-1-0.zip": {"name":"a","version":"1","build":"0"})")) ==
          url + "packages.conda: 'a-1-0.zip' does not end in .conda");
    CHECK(refusal(packages(R"("a-1-0.conda": {"name":"../a","version":"1","build":"0"})")) ==
          url + "a-1-0.conda: '../a' can be no name, version or build");
    CHECK(refusal(packages(R"("a-1-0.conda": {"name":"a","version":1,"build":"0"})")) ==
          url + "a-1-0.conda: 'version' should be a text, not a number");
    CHECK(refusal(
              packages(R"("a-1-0.conda": {"name":"a","version":"1","build":"0","depends":"b"})")) ==
          url + "a-1-0.conda: 'depends' should be a list, not a text");
    CHECK(refusal(
              packages(R"("a-1-0.conda": {"name":"a","version":"1","build":"0","depends":[1]})")) ==
          url + "a-1-0.conda: 'depends' should be a text, not a number");
    CHECK(refusal(packages(
              R"("a-1-0.conda": {"name":"a","version":"1","build":"0","build_number":-1})")) ==
          url + "a-1-0.conda: 'build_number' should be a whole number, not a number");
    CHECK(refusal(packages(R"("a-1-0.conda": {"version":"1","build":"0"})")) ==
          url + "a-1-0.conda: has no name");
    CHECK(refusal(packages(R"("a-1-0.conda": [])")) ==
          url + "a-1-0.conda: should be a map, not a list");
    CHECK(refusal(packages(
              R"("a-1-0.conda": {"name":"a","version":"1","build":"0","sha256":"xyz"})")) ==
          url + "a-1-0.conda: 'sha256' should be 64 hex digits");
    const std::string record = R"("a-1-0.conda": {"name":"a","version":"1","build":"0"})";
    CHECK(refusal(packages(record + "," + record)) ==
          url + "'a-1-0.conda' stands in packages.conda twice");
    CHECK(refusal(R"({"packages": {}, "packages": {}})") ==
          url + "the key 'packages' stands at the top twice");
    CHECK(refusal(packages(R"("a-1-0.conda": {"name":"a","version":"1","build":"0","license":")" +
                           std::string(2U << 20U, 'x') + "\"}")) ==
          url + "a-1-0.conda: 'license' is longer than 1 MiB");
    for (const auto* broken :
         {R"({"packages": {)", R"({"a": 1} x)", "\xff\xfe", R"({"a": "\ud800"})", "{"}) {
        CHECK(refusal(broken).starts_with(url + "not valid JSON, or cut off: "));
    }
    CHECK(refusal(std::string(100000, '[')).starts_with(url + "not valid JSON, or cut off: "));
}

TEST_CASE("the corpus is read whole", "[index][corpus]") {
    const auto* corpus = std::getenv("GPKG_TEST_CORPUS");
    if (corpus == nullptr) {
        WARN("skipped: GPKG_TEST_CORPUS is not set");
        return;
    }
    struct Row {
        std::string folder;
        std::size_t records, names;
    };
    const auto row = GENERATE(values<Row>({
        {"conda-forge/linux-64", 18500, 1278},
        {"conda-forge/noarch", 7398, 1310},
        {"pytorch/linux-64", 2222, 49},
        {"main/noarch", 322, 308},
        {"robostack-staging/linux-64", 1393, 527},
    }));
    const auto path = fs::path(corpus) / row.folder / "repodata.json.zst";
    const auto index =
        read_repodata_file(path, {"file:///c", "linux-64", "file://" + path.native()});
    REQUIRE(index);
    CHECK(index->names().size() == row.names);
    CHECK(index->record_count() <= row.records);
    CHECK(index->record_count() > row.records * 9 / 10);
}
