#include "libcore/index/repodata.hpp"

#include "libcore/fs/file.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <string>
#include <vector>

using namespace gpkg;

namespace repodata_test {
namespace {

/// The records of a name, best first.
std::vector<PackageRecord> records(const ChannelIndex& index, std::string_view name) {
    const auto found = index.find(name).value();
    std::vector<PackageRecord> all;
    for (const auto& row : found.rows()) all.push_back(index.record(found, row).value());
    return all;
}

const IndexSource kSource{"https://host/c", "linux-64", "https://host/c/linux-64/repodata.json"};

/// Why a whole document is refused, or what is said of it.
std::string refusal(const std::string& json) {
    const auto index = read_repodata(json, kSource);
    if (!index) return index.error().message;
    return index->notes().empty() ? "accepted" : fmt::format("{}", fmt::join(index->notes(), "; "));
}

/// Records and names of some folders of the corpus.
const std::map<std::string, std::pair<std::size_t, std::size_t>> kCounts{
    {"conda-forge/linux-64", {18500, 1278}},
    {"conda-forge/noarch", {7398, 1310}},
    {"pytorch/linux-64", {2222, 49}},
    {"main/noarch", {322, 308}},
    {"robostack-staging/linux-64", {1393, 527}},
};

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
    CHECK(index->names() == std::vector<std::string_view>{"a", "e", "z"});

    const auto a = records(*index, "a");
    REQUIRE(a.size() == 2);
    const auto& old = a[1];
    CHECK(old.fn == "a-1-0.tar.bz2");
    CHECK(old.url == "https://host/c/linux-64/a-1-0.tar.bz2");
    CHECK(old.channel == "https://host/c");
    CHECK(old.depends == std::vector<std::string>{"b >=1", "c"});
    CHECK(old.track_features == std::vector<std::string>{"x", "y"});
    CHECK(old.md5 == "0123456789abcdef0123456789abcdef");
    CHECK(old.noarch == "generic");
    CHECK(old.timestamp == 1500000000000);

    const auto& fresh = a[0];
    CHECK(fresh.timestamp == 1700000000123);
    CHECK(fresh.build_number == 3);
    CHECK(fresh.size == 17);
    CHECK(fresh.constrains == std::vector<std::string>{"d <2"});
    CHECK_FALSE(fresh.python_site_packages_path);
    CHECK(index->spec_count() == 4);

    const auto z = index->find("z").value();
    const auto choices = z.choices(std::nullopt);
    REQUIRE(choices.size() == 1);
    CHECK(z.fn(*choices[0]) == "z-1-0.conda");
    CHECK(choices[0]->timestamp == -3884645000);  // a clock that was wrong

    const auto v3 = records(*index, "e").at(0);
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
        {"//cdn.example/x", "https://cdn.example/x/p-1-0.conda"},
        {"", "https://host/c/linux-64/p-1-0.conda"},
        {"HTTPS://cdn.example", "HTTPS://cdn.example/p-1-0.conda"},
    }));
    const auto index = read_repodata(
        fmt::format(
            R"({{"info":{{"base_url":"{}"}},"repodata_version":2,"packages.conda":{{"p-1-0.conda":{{"name":"p","version":"1","build":"0"}}}}}})",
            row.base_url),
        kSource);
    REQUIRE(index);
    CHECK(records(*index, "p").at(0).url == row.expected);
}

TEST_CASE("a hostile index is refused, a broken record left out, with the reason", "[index]") {
    const auto packages = [](const std::string& inner) {
        return R"({"packages.conda": {)" + inner + "}}";
    };
    const std::string url = "https://host/c/linux-64/repodata.json: ";
    const std::string left_out = url + "skipped a record: ";

    CHECK(refusal("[]") == url + "'the top level' must be a map, not a list");
    const auto newer = read_repodata(R"({"repodata_version": 3})", kSource).error();
    CHECK(newer.kind == ErrorKind::Unsupported);
    CHECK(newer.to_string() == url +
                                   "unsupported repodata_version 3 (this gpkg supports up to 2)\n"
                                   "  hint: use a newer gpkg");
    CHECK(refusal(packages(R"("a-1-0.conda": {"name":"../a","version":"1","build":"0"})")) ==
          left_out + "a-1-0.conda: '../a' is not a valid name, version or build");
    CHECK(refusal(packages(R"("a-1-0.conda": {"name":"a","version":1,"build":"0"})")) ==
          left_out + "a-1-0.conda: 'version' must be a string, not a number");
    CHECK(refusal(
              packages(R"("a-1-0.conda": {"name":"a","version":"1","build":"0","depends":"b"})")) ==
          left_out + "a-1-0.conda: 'depends' must be a list, not a string");
    CHECK(refusal(
              packages(R"("a-1-0.conda": {"name":"a","version":"1","build":"0","depends":[1]})")) ==
          left_out + "a-1-0.conda: 'depends' must be a string, not a number");
    CHECK(refusal(packages(
              R"("a-1-0.conda": {"name":"a","version":"1","build":"0","build_number":-1})")) ==
          left_out + "a-1-0.conda: 'build_number' must be a whole number of at least 0, not -1");
    CHECK(
        refusal(packages(R"("a-1-0.conda": {"name":"a","version":"1","build":"0","size":1.5})")) ==
        left_out + "a-1-0.conda: 'size' must be a whole number of at least 0, not 1.5");
    CHECK(
        refusal(packages(R"("a-1-0.conda": {"name":"a","version":"1","build":"0","size":"1"})")) ==
        left_out + "a-1-0.conda: 'size' must be a whole number, not a string");
    CHECK(refusal(packages(R"("a-1-0.conda": {"version":"1","build":"0"})")) ==
          left_out + "a-1-0.conda: the name is missing");
    CHECK(refusal(packages(R"("a-1-0.conda": [])")) ==
          left_out + "a-1-0.conda: 'the record' must be a map, not a list");
    CHECK(refusal(packages(
              R"("a-1-0.conda": {"name":"a","version":"1","build":"0","sha256":"xyz"})")) ==
          left_out + "a-1-0.conda: 'sha256' must be 64 hex digits");
    CHECK(refusal(R"({"packages": {}, "packages": {}})") ==
          url + "duplicate key 'packages' at the top");
    CHECK(refusal(packages(R"("a-1-0.conda": {"name":"a","version":"1","build":"0","license":")" +
                           std::string(2U << 20U, 'x') + "\"}")) ==
          left_out + "a-1-0.conda: 'license' is longer than 1 MiB");
    for (const auto* broken :
         {R"({"packages": {)", R"({"a": 1} x)", "\xff\xfe", R"({"a": "\ud800"})", "{"}) {
        CHECK(refusal(broken).starts_with(url + "invalid or truncated JSON: "));
    }
    CHECK(refusal(std::string(100000, '[')).starts_with(url + "invalid or truncated JSON: "));
}

TEST_CASE("one bad file name or record costs nothing but itself", "[index]") {
    struct Row {
        std::string map, fn, fault;
    };
    const auto row = GENERATE(values<Row>({
        // No file name of this record.
        {"packages.conda", "../bad-1-0.conda", "the record belongs to bad-1-0.conda"},
        {"packages.conda", "/bad-1-0.conda", "the record belongs to bad-1-0.conda"},
        {"packages.conda", "a/bad-1-0.conda", "the record belongs to bad-1-0.conda"},
        {"packages.conda", R"(a\\bad-1-0.conda)", "the record belongs to bad-1-0.conda"},
        {"packages.conda", "..", "the record belongs to bad-1-0.conda"},
        {"packages.conda", "", "the record belongs to bad-1-0.conda"},
        {"packages.conda", "bad-1-0", "the record belongs to bad-1-0.conda"},
        {"packages.conda", "bad-1-0.zip", "the record belongs to bad-1-0.conda"},
        {"packages.conda", "bad-1-0.CONDA", "the record belongs to bad-1-0.conda"},
        {"packages", "bad-1-0", "the record belongs to bad-1-0.tar.bz2"},
        {"packages", "bad-1-0.tar", "the record belongs to bad-1-0.tar.bz2"},
        {"v3.conda", "../bad-1-0", "the record belongs to bad-1-0.conda"},
        {"v3.conda", "bad-1-0.conda", "its key must not have the extension"},
        {"v3.conda", "bad-1-0.tar.bz2", "the record belongs to bad-1-0.conda"},
        // Of the other form: read, as conda, mamba and rattler do.
        {"packages", "bad-1-0.conda", ""},
        {"packages.conda", "bad-1-0.tar.bz2", ""},
    }));
    CAPTURE(row.map, row.fn);
    const auto maps = [&](const std::string& member) {
        return row.map.starts_with("v3.") ? R"("v3": {"conda": {)" + member + "}}"
                                          : fmt::format(R"("{}": {{{}}})", row.map, member);
    };
    const auto index = read_repodata(
        "{" + maps(fmt::format(R"("{}": {{"name":"bad","version":"1","build":"0"}})", row.fn)) +
            R"(, "packages.v0": {}, "removed": ["x-1-0.conda", 7],
                "info": {}, "unknown": {"packages": 1}})",
        kSource);
    if (!index) FAIL(index.error().message);
    const auto bad = records(*index, "bad");
    CHECK(bad.size() == (row.fault.empty() ? 1 : 0));
    if (row.fault.empty()) CHECK(bad.at(0).fn == row.fn);
    REQUIRE(index->notes().size() == 1);
    CHECK_THAT(index->notes()[0], ContainsSubstring(row.fault));
}

TEST_CASE("of several records of one artifact the last counts", "[index]") {
    const auto index = read_repodata(
        R"({"packages": {"a-1-0.conda": {"name":"a","version":"1","build":"0","size":1}},
            "packages.conda": {"a-1-0.conda": {"name":"a","version":"1","build":"0","size":2},
                               "a-1-0.conda": {"name":"a","version":"1","build":"0","size":3},
                               "b-1-0.conda": {"name":"b","version":"1","build":"0"}}})",
        kSource);
    REQUIRE(index);
    REQUIRE(records(*index, "a").size() == 1);
    CHECK(records(*index, "a").at(0).size == 3);
    CHECK(records(*index, "b").size() == 1);
    REQUIRE(index->notes().size() == 1);
    CHECK(index->notes()[0] == kSource.url +
                                   ": skipped 2 records, the first: a-1-0.conda: "
                                   "duplicate; its last record is used");
}

TEST_CASE("of a key that stands twice neither is chosen", "[index]") {
    const std::string url = "https://host/c/linux-64/repodata.json: ";
    const std::string left_out = url + "skipped a record: ";
    const auto record = [](const std::string& more) {
        return R"({"packages.conda": {"a-1-0.conda": {"name":"a","version":"1","build":"0")" +
               more + "}}}";
    };
    CHECK(refusal(record("")) == "accepted");
    // What is not read may stand as often as it likes.
    CHECK(refusal(record(R"(,"x":1,"x":2)")) == "accepted");
    const std::string md5 = "\"" + std::string(32, '0') + "\"";
    const std::string sha256 = "\"" + std::string(64, '0') + "\"";
    const std::vector<std::pair<std::string, std::string>> keys{
        {"build_number", "0"},
        {"constrains", "[]"},
        {"depends", "[]"},
        {"extra_depends", "{}"},
        {"flags", "[]"},
        {"indexed_timestamp", "1"},
        {"license", "null"},
        {"license_family", "\"\""},
        {"md5", md5},
        {"noarch", "true"},
        {"python_site_packages_path", "null"},
        {"sha256", sha256},
        {"size", "1"},
        {"timestamp", "1"},
        {"track_features", "[]"}};
    for (const auto& [key, value] : keys) {
        const auto once = fmt::format(",\"{}\":{}", key, value);
        CHECK(refusal(record(once)) == "accepted");
        CHECK(refusal(record(once + once)) ==
              fmt::format("{}a-1-0.conda: duplicate key '{}'", left_out, key));
    }
    for (const auto* again : {R"(,"name":"b")", R"(,"version":"2")", R"(,"build":"0")"})
        CHECK(refusal(record(again)).find(": duplicate key '") != std::string::npos);
    CHECK(refusal(record(R"(,"extra_depends":{"t":[],"t":[]})")) ==
          left_out + "a-1-0.conda: duplicate key 't' in extra_depends");
    CHECK(refusal(R"({"info": {"base_url": "a", "base_url": "b"}})") ==
          url + "duplicate key 'base_url' in info");
    CHECK(refusal(R"({"v3": {"conda": {}, "conda": {}}})") == url + "duplicate key 'conda' in v3");
}

TEST_CASE("a base_url leads to where packages may come from", "[index]") {
    const auto refused = [](const std::string& base_url, const std::string& index_url) {
        const auto index = read_repodata(R"({"info": {"base_url": ")" + base_url + "\"}}",
                                         {"c", "linux-64", index_url});
        return index ? "accepted" : index.error().message.substr(index_url.size() + 2);
    };
    const std::string web = "http://host/c/linux-64/repodata.json";
    const std::string local = "file:///c/linux-64/repodata.json";
    CHECK(refused("file:///etc", web) ==
          "base_url 'file:///etc' refers from a network channel to local files");
    CHECK(refused("FILE:/etc", web) ==
          "base_url 'FILE:/etc' refers from a network channel to local files");
    CHECK(refused("ftp://x/y", web) ==
          "base_url 'ftp://x/y' does not start with http://, https:// or file://");
    CHECK(refused("javascript:x", local) ==
          "base_url 'javascript:x' does not start with http://, https:// or file://");
    CHECK(refused("https:x", web) ==
          "base_url 'https:x' does not start with http://, https:// or file://");
    CHECK(refused("https://h/x?tok=1", web) == "base_url 'https://h/x?tok=1' contains '?' or '#'");
    CHECK(refused(R"(a\u001b[31m)", local) == R"(base_url 'a\x1b[31m' is not a URL)");
    CHECK(refused(R"(a\\b)", local) == R"(base_url 'a\b' is not a URL)");
    CHECK(refused("a b", local) == "base_url 'a b' is not a URL");
    CHECK(refused("file:///other", local) == "accepted");
    CHECK(refused("https://h/x", local) == "accepted");
    CHECK(refused("../elsewhere", local) == "accepted");
}

TEST_CASE("a record that breaks the rules is left out, and a note says so", "[index]") {
    struct Row {
        std::string fn, record, why;
    };
    const std::string rest = R"("version":"1","build":"0")";
    const auto row = GENERATE_REF(values<Row>({
        {"x-1-0.conda", R"("name":"a:b",)" + rest, "'a:b' is not a package name"},
        {"A-1-0.conda", R"("name":"A",)" + rest, "'A' is not a package name"},
        {"__glibc-1-0.conda", R"("name":"__glibc",)" + rest, "'__glibc' is not a package name"},
        {"x-1-0.conda", R"("name":"a\u001b[31m",)" + rest, R"('a\x1b[31m' is not a package name)"},
        {"x-1-0.conda",
         R"("name":"a","version":"\u00e9","build":"0")",
         R"('\xc3\xa9' is not a version)"},
        {"a-1-b-c.conda",
         R"("name":"a","version":"1","build":"b-c")",
         "'b-c' is not a build string"},
        {"a-1-.conda", R"("name":"a","version":"1","build":"")", "'' is not a build string"},
        {"a-1-0.conda", R"("name":"a","version":"1")", "'' is not a build string"},
        {"other-1-0.conda", R"("name":"a",)" + rest, "the record belongs to a-1-0.conda"},
        {"a-2-0.conda", R"("name":"a",)" + rest, "the record belongs to a-1-0.conda"},
        {"a-1-1.conda", R"("name":"a",)" + rest, "the record belongs to a-1-0.conda"},
        {"a-1-0.conda", R"("name":"a","flags":["cuda","gpu-x"],)" + rest, "'gpu-x' is not a flag"},
        {"a-1-0.conda", R"("name":"a","flags":["a:b:c"],)" + rest, "'a:b:c' is not a flag"},
        {"a-1-0.conda", R"("name":"a","flags":["CUDA"],)" + rest, "'CUDA' is not a flag"},
        {"a-1-0.conda",
         R"("name":"a","extra_depends":{"Test":[]},)" + rest,
         "'Test' is not the name of an extra"},
        {"a-x y-0.conda",
         R"("name":"a","version":"x y","build":"0")",
         "'x y' is not a valid name, version or build"},
        {"a-1-0.conda",
         R"("name":"a","build_number":-1,)" + rest,
         "'build_number' must be a whole number of at least 0, not -1"},
        {"a-1-0.conda",
         R"("name":"a","depends":["b", 1],)" + rest,
         "'depends' must be a string, not a number"},
    }));
    const auto index = read_repodata(fmt::format(R"({{"packages.conda": {{
        "good-1-0.conda": {{"name":"good","version":"1","build":"0"}}, "{}": {{{}}}}}}})",
                                                 row.fn,
                                                 row.record),
                                     kSource);
    INFO((index ? "" : index.error().message));
    REQUIRE(index);
    CHECK(index->record_count() == 1);
    CHECK(records(*index, "good").size() == 1);
    REQUIRE(index->notes().size() == 1);
    const auto note = index->notes()[0];
    CHECK(note.starts_with("https://host/c/linux-64/repodata.json: skipped a record: "));
    CHECK(note.ends_with(": " + row.why));
    CHECK(std::all_of(note.begin(), note.end(), [](char c) { return c >= ' ' && c <= '~'; }));
}

TEST_CASE("several records that are left out make one note", "[index]") {
    const auto index = read_repodata(R"({"v3": {"conda": {
        "a-1-0.conda": {"name":"a","version":"1","build":"0"},
        "b-2-0": {"name":"b","version":"1","build":"0"}}}})",
                                     kSource);
    REQUIRE(index);
    CHECK(index->record_count() == 0);
    REQUIRE(index->notes().size() == 1);
    CHECK(index->notes()[0] ==
          "https://host/c/linux-64/repodata.json: skipped 2 records, the first: a-1-0.conda: "
          "its key must not have the extension");
}

TEST_CASE("what a channel says of newer records does not steer the terminal", "[index]") {
    const auto index = read_repodata(
        R"({"info": {"repodata_revisions": {"v4": {"n_packages": 7, "message": "up\u001b[31m!"}}}})",
        kSource);
    REQUIRE(index);
    CHECK(index->notes()[0] ==
          "https://host/c/linux-64/repodata.json: skipped 7 records of the unsupported format v4: "
          "up\\x1b[31m!");
}

TEST_CASE("of two forms of one package the .conda is chosen unless it is too new", "[index]") {
    const std::string body = R"("name":"a","version":"1","build":"0","timestamp":)";
    const std::string between = R"("name":"a","version":"1","build":"0.d","timestamp":1)";
    const auto index = read_repodata(
        R"({"packages": {"a-1-0.tar.bz2": {)" + body + R"(1600000000000}, "a-1-0.d.tar.bz2": {)" +
            between + R"(}}, "packages.conda": {"a-1-0.conda": {)" + body + "1700000000000}}}",
        kSource);
    REQUIRE(index);
    using Names = std::vector<std::string>;
    const auto chosen = [&](std::optional<std::int64_t> newest) {
        const auto a = index->find("a").value();
        Names names;
        for (const auto* row : a.choices(newest)) names.push_back(a.fn(*row));
        std::sort(names.begin(), names.end());
        return names;
    };
    CHECK(index->record_count() == 3);
    CHECK(chosen(std::nullopt) == Names{"a-1-0.conda", "a-1-0.d.tar.bz2"});
    CHECK(chosen(1700000000000) == Names{"a-1-0.conda", "a-1-0.d.tar.bz2"});
    CHECK(chosen(1650000000000) == Names{"a-1-0.d.tar.bz2", "a-1-0.tar.bz2"});
    CHECK(chosen(0).empty());
    CHECK(index->find("nowhere")->choices(std::nullopt).empty());
}

TEST_CASE("a file that is listed as v3 and as legacy is one record, the v3 one", "[index]") {
    const std::string record = R"("name":"a","version":"1","build":"0")";
    const auto index =
        read_repodata(R"({"packages.conda": {"a-1-0.conda": {)" + record +
                          R"(}}, "v3": {"conda": {"a-1-0": {"flags": ["cuda"], )" + record + "}}}}",
                      kSource);
    REQUIRE(index);
    REQUIRE(index->record_count() == 1);
    CHECK(records(*index, "a").at(0).flags == std::vector<std::string>{"cuda"});
}

TEST_CASE("a small file that unpacks to very much is a bomb", "[index]") {
    const auto packed = zstd_compress(std::string(257U << 20U, ' '), 1);
    REQUIRE(packed.size() < (256U << 10U));
    const auto folder = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(folder);
    const auto path = folder->path() / "repodata.json.zst";
    REQUIRE(write_file_atomically(path, packed));
    CHECK(read_repodata_file(path, kSource).error().message ==
          "https://host/c/linux-64/repodata.json: unpacks to more than 268435456 bytes");
}

TEST_CASE("the corpus is read whole", "[index][corpus]") {
    const auto* corpus = std::getenv("GPKG_TEST_CORPUS");
    if (corpus == nullptr) {
        WARN("skipped: GPKG_TEST_CORPUS is not set");
        return;
    }
    std::size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(corpus)) {
        if (entry.path().filename() != "repodata.json.zst") continue;
        ++files;
        INFO(entry.path());
        const auto index = read_repodata_file(
            entry.path(), {"file:///c", "linux-64", "file://" + entry.path().native()});
        REQUIRE(index);
        CHECK(index->notes().empty());  // nothing is left out
        const auto folder = fs::relative(entry.path().parent_path(), corpus).generic_string();
        const auto known = kCounts.find(folder);
        if (known == kCounts.end()) continue;
        CHECK(index->record_count() == known->second.first);
        CHECK(index->names().size() == known->second.second);
    }
    CHECK(files >= kCounts.size());
}

}  // namespace repodata_test
