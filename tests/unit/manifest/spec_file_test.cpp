#include "libcore/manifest/spec_file.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;
using Texts = std::vector<std::string>;

namespace spec_file_test {
namespace {

const std::string kMd5(32, 'a');
const std::string kSha256(64, 'b');

Result<SpecFile> read(const std::string& text) {
    const auto env = [](std::string_view name) {
        return name == "TOKEN" ? std::optional<std::string>("secret") : std::nullopt;
    };
    return parse_spec_file(text, "f.txt", {"linux-64", "/home/me", env});
}

Result<SpecFile> read_explicit(const std::string& line) { return read("@EXPLICIT\n" + line); }

}  // namespace

TEST_CASE("a file of specs", "[manifest]") {
    const auto file =
        read("\xEF\xBB\xBF# a comment\r\n\r\nnumpy >=1.26  # newest\r\n  \npython=3.12");
    REQUIRE(file);
    CHECK_FALSE(file->is_explicit);
    REQUIRE(file->asked.specs.size() == 2);
    CHECK(file->asked.specs[0].to_string() == "numpy[version='>=1.26']");
    CHECK(file->asked.specs[1].to_string() == "python=3.12");
    CHECK(file->packages.empty());
}

TEST_CASE("a line of a requirements.txt is told as what it is", "[manifest]") {
    for (const std::string line : {"tiny ; python_version < '3.13'",
                                   "tiny;sys_platform=='win32'",
                                   "requests @ https://h/requests-1-py3-none-any.whl",
                                   "https://h/requests-1-py3-none-any.whl",
                                   "git+https://h/x",
                                   "-e .",
                                   "-r more.txt",
                                   "--index-url https://h",
                                   "./mine",
                                   "a===1.0",
                                   "tiny==1.0 --hash=sha256:aa"}) {
        CAPTURE(line);
        const auto file = read(line);
        REQUIRE_FALSE(file);
        CHECK(file.error().hint.starts_with("this is a requirement of pip: list it under 'pip:'"));
    }
    CHECK(read("tiny[fast]>=2").error().hint.find("under 'pip:'") != std::string::npos);
    CHECK(read("a b c d").error().hint.find("pip") == std::string::npos);
}

TEST_CASE("explicit lines name a package file and perhaps its checksum", "[manifest]") {
    struct Row {
        std::string line, location, fn, md5, sha256;
        bool is_url;
    };
    const std::string url = "https://host/c/noarch/a-1-0.conda";
    // clang-format off
    const auto row = GENERATE_COPY(values<Row>({
        {url,                                "https://host/c/noarch/a-1-0.conda",          "a-1-0.conda",   "",   "",      true},
        {url + "#" + kMd5,                   "https://host/c/noarch/a-1-0.conda",          "a-1-0.conda",   kMd5, "",      true},
        {url + "#" + kSha256,                "https://host/c/noarch/a-1-0.conda",          "a-1-0.conda",   "",   kSha256, true},
        {url + "#sha256:" + kSha256,         "https://host/c/noarch/a-1-0.conda",          "a-1-0.conda",   "",   kSha256, true},
        {url + "?token=a/b#" + kMd5,         "https://host/c/noarch/a-1-0.conda?token=a/b", "a-1-0.conda",  kMd5, "",      true},
        {"/c/a?b/a-1-0.conda",               "/c/a?b/a-1-0.conda",                         "a-1-0.conda",   "",   "",      false},
        {"https://host/c/a-1%211.2-0.conda", "https://host/c/a-1%211.2-0.conda",           "a-1!1.2-0.conda", "", "",      true},
        {"/c/a-1%211.2-0.conda",             "/c/a-1%211.2-0.conda",                       "a-1%211.2-0.conda", "", "",    false},
        {"file:///c/noarch/a-1-0.conda",     "file:///c/noarch/a-1-0.conda",               "a-1-0.conda",   "",   "",      true},
        {"https://host/t/$TOKEN/a-1-0.conda","https://host/t/secret/a-1-0.conda",          "a-1-0.conda",   "",   "",      true},
        {"~/c#d/a-1-0.tar.bz2#" + kMd5,      "/home/me/c#d/a-1-0.tar.bz2",                 "a-1-0.tar.bz2", kMd5, "",      false},
        {"/c/a-1-0.conda",                   "/c/a-1-0.conda",                             "a-1-0.conda",   "",   "",      false},
        {"./x/a-1-0.tar.bz2",                (fs::current_path() / "x/a-1-0.tar.bz2").string(), "a-1-0.tar.bz2", "", "",   false},
        {"a-1-0.conda",                      (fs::current_path() / "a-1-0.conda").string(), "a-1-0.conda",  "",   "",      false},
    }));
    // clang-format on
    CAPTURE(row.line);
    const auto file = read_explicit(row.line);
    REQUIRE(file);
    CHECK(file->is_explicit);
    REQUIRE(file->packages.size() == 1);
    CHECK(file->packages[0] ==
          ExplicitPackage{row.location, row.is_url, row.fn, row.md5, row.sha256, "f.txt:2"});
}

TEST_CASE("lines that are no package file are refused in an explicit file", "[manifest]") {
    struct Row {
        std::string line, what;
    };
    const std::string url = "https://host/a-1-0.conda";
    const std::string not_a_file = "expected the URL or path of a .conda or .tar.bz2 file";
    const std::string no_checksum = "the text after '#' is not a checksum";
    // clang-format off
    const auto row = GENERATE_COPY(values<Row>({
        {"numpy >=1",                              not_a_file},
        {"a-1.whl",                                not_a_file},
        {".conda",                                 not_a_file},
        {"https://host/.tar.bz2",                  not_a_file},
        {"https://host/a-1-0.conda/",              not_a_file},
        {url + "#",                                no_checksum},
        {url + "#md5:" + kMd5,                     no_checksum},
        {url + "#sha256:" + kMd5,                  no_checksum},
        {url + "#" + std::string(32, 'A'),         no_checksum},
        {url + "#" + std::string(64, 'B'),         no_checksum},
        {url + "#" + std::string(31, 'a'),         no_checksum},
        {url + "#" + kMd5 + "#" + kMd5,            no_checksum},
        {url + " #" + kMd5,                        not_a_file},
    }));
    // clang-format on
    CAPTURE(row.line);
    const auto file = read_explicit(row.line);
    REQUIRE_FALSE(file);
    CHECK(file.error().message == "f.txt:2: " + row.line + ": " + row.what);
}

TEST_CASE("the mark of an explicit file may stand anywhere", "[manifest]") {
    const auto late = read("https://host/a-1-0.conda\n  @EXPLICIT \n\nhttps://host/b-1-0.conda\n");
    REQUIRE(late);
    CHECK(late->is_explicit);
    CHECK(late->packages.size() == 2);
    const auto lower = read("@explicit\n");
    REQUIRE_FALSE(lower);
    CHECK(lower.error().message.starts_with("f.txt:1: @explicit: "));
    CHECK(lower.error().hint == "write it as @EXPLICIT");
}

TEST_CASE("the platform of a file is compared", "[manifest]") {
    CHECK(read("# platform: linux-64\n@EXPLICIT\n")->platform == "linux-64");
    const auto other = read("#platform: osx-64\nnumpy\n");
    REQUIRE(other);
    CHECK(other->warnings == Texts{"f.txt:1: made for osx-64, not for linux-64"});
    const auto refused = read("# platform: osx-64\n@EXPLICIT\n");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message == "f.txt:1: made for osx-64, not for linux-64");
    CHECK(refused.error().kind == ErrorKind::Conflict);
    CHECK(refused.error().hint == "use --platform osx-64, or delete that line");
}

TEST_CASE("files that cannot be specs", "[manifest]") {
    CHECK(read(std::string("a\0b", 3)).error().message == "f.txt: not a text file");
    const auto wrong = read("numpy\n\npython >=3<4\n");
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().message.starts_with("f.txt:3: python >=3<4: "));
    CHECK(wrong.error().message.ends_with("^"));
}

TEST_CASE("an explicit file lists dependencies first and is read back", "[manifest]") {
    const auto record = [](std::string name, Texts depends, std::string md5, std::string sha256) {
        PackageRecord made;
        made.name = std::move(name);
        made.url = "https://host/c/noarch/" + made.name + "-1-0.conda";
        made.depends = std::move(depends);
        made.md5 = std::move(md5);
        made.sha256 = std::move(sha256);
        return made;
    };
    const auto text = explicit_file({record("a", {"c >=1", "missing"}, kMd5, kSha256),
                                     record("b", {"d"}, kMd5, ""),
                                     record("c", {"b=1"}, "", ""),
                                     record("d", {"b"}, "", "")},
                                    "linux-64");
    CHECK(text ==
          "# This file may be used to create an environment using:\n"
          "# $ gpkg create --name <env> --file <this file>\n"
          "# $ conda create --name <env> --file <this file>\n"
          "# platform: linux-64\n"
          "@EXPLICIT\n"
          "https://host/c/noarch/d-1-0.conda\n"
          "https://host/c/noarch/b-1-0.conda#" +
              kMd5 +
              "\n"
              "https://host/c/noarch/c-1-0.conda\n"
              "https://host/c/noarch/a-1-0.conda#" +
              kSha256 + "\n");
    const auto file = read(text);
    REQUIRE(file);
    CHECK(file->packages.size() == 4);
    CHECK(file->platform == "linux-64");
}

}  // namespace spec_file_test
