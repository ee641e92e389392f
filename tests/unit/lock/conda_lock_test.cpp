#include "libcore/lock/lock_format.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>

using namespace gpkg;
using Texts = std::vector<std::string>;

namespace conda_lock_test {
namespace {

const std::string kMetadata = R"(version: 1
metadata:
  channels:
  - url: conda-forge
    used_env_vars: []
  platforms:
  - linux-64
  - osx-64
  content_hash: {linux-64: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, osx-64: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}
  sources: [environment.yml]
  time_metadata: {created_at: "2026-01-01T00:00:00Z"}
)";

/// One entry, with lines that replace those of the same key.
std::string entry(std::vector<std::string> changes = {}) {
    const std::string base =
        "https://conda.anaconda.org/conda-forge/linux-64/python-3.10-h1_0.conda";
    std::vector<std::string> lines{"name: python",
                                   "version: 3.10",
                                   "manager: conda",
                                   "platform: linux-64",
                                   "dependencies: {}",
                                   "url: " + base,
                                   "hash: {md5: " + std::string(32, 'b') + "}",
                                   "optional: false"};
    for (const auto& change : changes) {
        const auto key = change.substr(0, change.find(':') + 1);
        auto known = std::find_if(
            lines.begin(), lines.end(), [&](const auto& line) { return line.starts_with(key); });
        known == lines.end() ? lines.push_back(change) : void(*known = change);
    }
    std::string text;
    for (const auto& line : lines) text += (text.empty() ? "- " : "  ") + line + "\n";
    return text;
}

Result<ReadLock> read(const std::string& entries, const std::string& metadata = kMetadata) {
    return parse_lock(metadata + (entries.empty() ? "package: []\n" : "package:\n" + entries),
                      "conda-lock.yml");
}

}  // namespace

TEST_CASE("a conda-lock.yml is read and written", "[lock]") {
    const auto text = kMetadata + R"(package:
- name: python
  version: "3.10"
  manager: conda
  platform: linux-64
  dependencies:
    __unix: ""
    libzlib: ">=1.3,<2.0a0"
  url: https://conda.anaconda.org/conda-forge/linux-64/python-3.10-h1_0.conda
  hash:
    md5: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
  category: main
  optional: false
- name: x
  version: "1.0"
  manager: pip
  platform: linux-64
  dependencies: {y: ">=1"}
  url: https://h/x-1.0-py3-none-any.whl
  hash:
    sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
  category: main
  optional: false
- name: six
  version: "1.10"
  manager: conda
  platform: osx-64
  dependencies: {}
  url: https://conda.anaconda.org/conda-forge/noarch/six-1.10-py_0.tar.bz2
  hash:
    md5: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
  category: dev
  optional: true
)";
    const auto read = parse_lock(text, "conda-lock.yml");
    REQUIRE(read);
    CHECK(read->format == LockFormat::CondaLock);
    CHECK(read->warnings == Texts{});
    const auto& lock = read->lock;
    CHECK(lock.channels[0].url == "conda-forge");
    const auto* linux_64 = lock.find_class("linux-64");
    REQUIRE(linux_64 != nullptr);
    CHECK(linux_64->needs == Texts{"__unix"});
    const auto python = lock.records_of(*linux_64).at(0);
    CHECK(python.version == "3.10");
    CHECK(python.build == "h1_0");
    CHECK(python.subdir == "linux-64");
    CHECK(python.depends == Texts{"__unix", "libzlib >=1.3,<2.0a0"});
    CHECK(lock.foreign.at(linux_64->foreign.at(0)).name == "x");
    CHECK(lock.find_class("osx-64")->packages.empty());
    const auto six = lock.records_of(*lock.find_class("osx-64", "dev")).at(0);
    CHECK(six.fn == "six-1.10-py_0.tar.bz2");
    CHECK(six.noarch == "python");
    CHECK(format_lock(lock, LockFormat::CondaLock).value() == text);
}

TEST_CASE("what other formats say becomes a conda-lock.yml as far as it goes", "[lock]") {
    LockFile lock;
    lock.channels = {{"https://h/c", {}}};
    PackageAdder adder(lock);
    PackageRecord made;
    made.name = "a";
    made.version = "1";
    made.build = "0";
    made.fn = "a-1-0.conda";
    made.subdir = "linux-64";
    made.channel = "https://h/c";
    made.url = "https://h/c/linux-64/a-1-0.conda";
    made.depends = {"python",
                    "b >=1",
                    "b <2",
                    "python >=3.9",
                    "c==1",
                    "d[build=x]",
                    // As conda-forge has them.
                    "pytorch * cpu*",
                    "pytorch >=2.10.0,<2.11.0a0",
                    "e 1|2",
                    "e !=1.5",
                    "conda-forge::f >=2"};
    lock.classes = {
        {"a100", "default", "linux-64", {}, {}, {}, {*adder.add({made, {{"purls", "[]"}}})}, {}}};
    lock.tool = LockTool::Pixi;
    const auto text = format_lock(lock, LockFormat::CondaLock);
    REQUIRE(text);
    CHECK_THAT(*text,
               ContainsSubstring("  content_hash:\n    linux-64: " + request_digest(lock) + "\n"));
    CHECK_THAT(*text, !ContainsSubstring("purls"));
    const auto back = parse_lock(*text, "conda-lock.yml");
    REQUIRE(back);
    CHECK(back->lock.packages[0].record.depends == Texts{"python >=3.9",
                                                         "b >=1,<2",
                                                         "c ==1",
                                                         "d [build=x]",
                                                         "pytorch >=2.10.0,<2.11.0a0 cpu*",
                                                         "e (==1|==2),!=1.5",
                                                         "f >=2"});
    CHECK(back->warnings.size() == 1);
    auto odd = lock;
    odd.packages[0].record.depends = {"python * *_cpython", "python 3.12.* *_cp312"};
    CHECK(format_lock(odd, LockFormat::CondaLock).error().message ==
          "conda-lock.yml cannot store both 'python * *_cpython' and 'python 3.12.* *_cp312'");

    auto two = lock.classes[0];
    two.name = "h100";
    lock.classes.push_back(two);
    CHECK(format_lock(lock, LockFormat::CondaLock).error().message ==
          "conda-lock.yml has one package list per platform, but the classes a100 and h100 are "
          "both for linux-64");
    CHECK(format_lock(lock, LockFormat::Pixi7));
}

TEST_CASE("the rules of CEP 37", "[lock]") {
    struct Row {
        std::string entries, message;  // message after "conda-lock.yml:"; empty: it is fine
    };
    const auto wheel = entry({"manager: pip", "url: https://h/python-3.10.whl"});
    // clang-format off
    const auto row = GENERATE_COPY(values<Row>({
        {"",                                        ""},
        {entry(),                                   ""},
        {entry() + entry({"category: main"}),       "21:3: python (conda, linux-64, main) is listed twice"},
        {entry() + entry({"category: dev"}),        ""},
        {entry() + wheel,                           ""},
        {entry({"category: default"}),              "21:13: the category name 'default' is reserved: gpkg uses it for main"},
        {entry({"category: a/b"}),                  "21:3: 'a/b' is not a valid name"},
        {entry({"platform: win-64"}),               "16:13: 'win-64' is not listed under metadata.platforms"},
        {entry({"platform: osx-64"}),               "18:8: python-3.10-h1_0.conda is for linux-64, but listed under osx-64"},
        {entry({"manager: npm"}),                   "15:12: expected conda or pip, found 'npm'"},
        {entry({"dependencies: {__unix: ''}"}),     ""},
        {entry({"dependencies: {a: [b]}"}),         "17:21: expected a, found a list"},
        {entry({"dependencies: [a]"}),              "17:17: expected dependencies as a map, found a list"},
        {entry({"hash: {md5: " + std::string(32, 'a') + ", sha512: a}"}), ""},
        {entry({"hash: {sha265: a}"}),              "19:10: unknown key 'sha265'"},
        {entry({"hash: {md5: xyz}"}),               "19:15: expected 32 hex digits for md5, found 'xyz'"},
        {entry({"hash: abc"}),                      "19:9: expected hash as a map, found a single value"},
        {entry({"hash:"}),                          "19:3: the key 'hash' has no value"},
        {entry({"optional: perhaps"}),              "20:13: expected true or false for optional, found perhaps"},
        {entry({"version:"}),                       "14:3: the key 'version' has no value"},
        {entry({"version: 3.11"}),                  "18:8: python-3.10-h1_0.conda is not the file of python 3.11"},
        {entry({"name: numpy"}),                    "18:8: python-3.10-h1_0.conda is not the file of numpy 3.10"},
        {entry({"build: h2_0"}),                    "18:8: python-3.10-h1_0.conda is not the file of python 3.10 h2_0"},
        {entry({"build: h1_0"}),                    ""},
        {entry({"url: ''"}),                        "18:8: the key 'url' has no value"},
        {entry({"url: https://h/../../etc/passwd"}), "18:8: passwd: a package file ends in .conda or .tar.bz2\n  passwd\n        ^"},
        {entry({"extra: 1"}),                       ""},
        {entry({"constrains: {zlib: '==1 *_1'}"}),  ""},
        {entry({"depends: [a]"}),                   ""},
        {entry({"extra:"}),                         ""},
        {entry({"categroy: dev"}),                  "21:3: unknown key 'categroy'"},
        {entry({"name: __osx", "url: file:///tmp/osx-64/__osx-11.0-0.tar.bz2"}), ""},
        {"- a",                                     "13:3: expected a package as a map, found a single value"},
    }));
    // clang-format on
    CAPTURE(row.entries);
    const auto found = read(row.entries);
    if (row.message.empty()) {
        REQUIRE(found);
        CHECK(found->warnings == Texts{});
        CHECK((parse_lock(format_lock(found->lock, found->format).value(), "f")->lock ==
               found->lock));
        return;
    }
    REQUIRE_FALSE(found);
    CHECK(found.error().message == "conda-lock.yml:" + row.message);
}

TEST_CASE("a conda-lock.yml of an empty environment", "[lock]") {
    for (const std::string packages : {"package: []\n", "package:\n", "package: ~\n"}) {
        CAPTURE(packages);
        const auto found = parse_lock(kMetadata + packages, "conda-lock.yml");
        REQUIRE(found);
        CHECK(found->lock.packages.empty());
        CHECK(found->lock.classes.size() == 2);
    }
    CHECK_FALSE(parse_lock(kMetadata, "conda-lock.yml"));
    CHECK_FALSE(parse_lock(kMetadata + "package: none\n", "conda-lock.yml"));
}

TEST_CASE("a category comes with main", "[lock]") {
    const auto six = [](const std::string& platform, const std::string& category) {
        return entry({"name: six",
                      "version: 1.10",
                      "platform: " + platform,
                      "url: https://conda.anaconda.org/conda-forge/noarch/six-1.10-py_0.conda",
                      "dependencies: {__cuda: '>=12'}",
                      "category: " + category});
    };
    const auto text = kMetadata + "package:\n" + entry() + six("linux-64", "dev") +
                      six("osx-64", "main") +
                      // What is in both is there once, and a category that adds nothing stays one.
                      six("osx-64", "dev") + entry({"category: docs"});
    const auto read = parse_lock(text, "conda-lock.yml");
    REQUIRE(read);
    const auto& lock = read->lock;
    const auto names = [&](const char* platform, const char* environment) {
        const auto* locked = lock.find_class(platform, environment);
        REQUIRE(locked != nullptr);
        Texts found;
        for (const auto& record : lock.records_of(*locked)) found.push_back(record.name);
        return found;
    };
    CHECK(names("linux-64", "default") == Texts{"python"});
    CHECK(names("linux-64", "dev") == Texts{"python", "six"});
    CHECK(lock.find_class("linux-64", "dev")->needs == Texts{"__cuda >=12"});
    CHECK(names("osx-64", "dev") == Texts{"six"});
    CHECK(names("linux-64", "docs") == Texts{"python"});
    CHECK(names("osx-64", "docs") == Texts{"six"});
    const auto written = format_lock(lock, LockFormat::CondaLock).value();
    CHECK((parse_lock(written, "f")->lock == lock));
    // Formats whose environments are whole have all of it, there and back.
    const auto pixi = parse_lock(format_lock(lock, LockFormat::Pixi6).value(), "pixi.lock").value();
    CHECK(pixi.lock.find_class("linux-64", "dev")->packages ==
          lock.find_class("linux-64", "dev")->packages);
    const auto back =
        parse_lock(format_lock(pixi.lock, LockFormat::CondaLock).value(), "conda-lock.yml").value();
    for (const auto& locked : lock.classes) {
        const auto* again = back.lock.find_class(locked.name, locked.environment);
        REQUIRE(again != nullptr);
        CHECK(again->packages == locked.packages);
    }
}

TEST_CASE("what is not on top of the default environment is no category", "[lock]") {
    LockFile lock;
    PackageAdder adder(lock);
    const auto add = [&](const char* environment, const Texts& names) {
        LockedClass locked;
        locked.name = locked.platform = "linux-64";
        locked.environment = environment;
        for (const auto& name : names) {
            LockedPackage package;
            package.record.name = name;
            package.record.version = "1";
            package.record.build = "0";
            package.record.fn = name + "-1-0.conda";
            package.record.subdir = "noarch";
            package.record.channel = "https://h/c";
            package.record.url = "https://h/c/noarch/" + package.record.fn;
            locked.packages.push_back(adder.add(package).value());
        }
        lock.classes.push_back(std::move(locked));
    };
    add("default", {"cpu", "zlib"});
    add("bare", {});  // in which there is nothing to be taken
    add("dev", {"cpu", "pytest", "zlib"});
    const auto text = format_lock(lock, LockFormat::CondaLock).value();
    CHECK(text.find("category: dev") == text.rfind("category: dev"));
    add("cuda", {"cuda", "zlib"});
    const auto refused = format_lock(lock, LockFormat::CondaLock);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message ==
          "conda-lock.yml installs categories on top of main, but the environment cuda lacks "
          "packages that the environment default has for linux-64: cpu-1-0.conda");
    CHECK_THAT(refused.error().hint, ContainsSubstring("--environment"));
    lock.classes.back().platform = "osx-64";
    CHECK_THAT(format_lock(lock, LockFormat::CondaLock).error().message,
               ContainsSubstring("the environment cuda lacks packages that the environment default "
                                 "has for linux-64: cpu-1-0.conda and zlib-1-0.conda"));
}

TEST_CASE("the metadata of a conda-lock.yml", "[lock]") {
    struct Row {
        std::string from, to, message;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"version: 1",           "version: 2",       "1:10: unsupported conda-lock.yml version 2; gpkg reads version 1"},
        {"version: 1\n",         "",                 ""},
        {"  sources:",           "  made: 1\n  sources:", "10:3: unknown key 'made'"},
        {"  sources: [environment.yml]\n", "",       "3:3: the key 'sources' is missing"},
        {"  sources: [environment.yml]\n", "  sources:\n", ""},
        {"- url: conda-forge\n    used_env_vars: []", "", ""},
        {"- osx-64",             "- noarch",         ""},
        {"content_hash: {",      "content_hash: {x: y, ", "9:21: expected 64 hex digits for x, found 'y'"},
        {"created_at",           "made_at",          "11:19: unknown key 'made_at'"},
        {"- url: conda-forge\n    used_env_vars: []", "- conda-forge", ""},
        {"- url: conda-forge",   "- uri: conda-forge", "4:5: the key 'url' is missing"},
        {"time_metadata: {created_at: \"2026-01-01T00:00:00Z\"}", "custom_metadata: {a: [b]}", "11:24: expected a text, found a list"},
        {"time_metadata: {created_at: \"2026-01-01T00:00:00Z\"}", "git_metadata: {git_sha: abc}", ""},
        {"time_metadata: {created_at: \"2026-01-01T00:00:00Z\"}", "inputs_metadata: {a.yml: {md5: a, sha1: b}}", "11:37: unknown key 'sha1'"},
    }));
    // clang-format on
    CAPTURE(row.to);
    auto metadata = kMetadata;
    metadata.replace(metadata.find(row.from), row.from.size(), row.to);
    const auto found = read("", metadata);
    if (row.message.empty()) {
        REQUIRE(found);
        return;
    }
    REQUIRE_FALSE(found);
    CHECK(found.error().message == "conda-lock.yml:" + row.message);
}

TEST_CASE("what is for an unknown platform does not refuse a conda-lock.yml", "[lock]") {
    auto metadata = kMetadata;
    metadata.replace(metadata.find("- osx-64"), 8, "- new-64");
    const auto found = read(entry({"platform: new-64", "url: https://h/new-64/a-1-0.conda"}) +
                                entry({"build_number: 1"}),
                            metadata);
    REQUIRE(found);
    CHECK(found->warnings == Texts{"conda-lock.yml:8:5: ignored unknown platform 'new-64'"});
    CHECK(found->lock.packages.size() == 1);
    CHECK(found->lock.classes.size() == 1);
}

TEST_CASE("what conda-lock writes against its own rules is understood", "[lock]") {
    const auto bare = read(entry({"hash: {}"}));
    REQUIRE(bare);
    CHECK(bare->warnings ==
          Texts{"conda-lock.yml:19:9: python-3.10-h1_0.conda has no hash and cannot be verified"});
    // The commit of what comes from git.
    const auto git = read(entry({"manager: pip",
                                 "url: git+https://h/x",
                                 "hash: {sha256: 3f07f990ac74f1e1691ba17ef8c14007f05846ab}"}));
    REQUIRE(git);
    const auto text = format_lock(git->lock, LockFormat::CondaLock);
    REQUIRE(text);
    CHECK_THAT(*text,
               ContainsSubstring("hash: {sha256: 3f07f990ac74f1e1691ba17ef8c14007f05846ab}\n"));
    CHECK((parse_lock(*text, "f")->lock == git->lock));
}

TEST_CASE("of a file for two platforms the versions count that one of them lost", "[lock]") {
    const auto noarch = [](const std::string& platform, const std::string& dependencies) {
        return entry({"name: alembic",
                      "version: 1.0",
                      "platform: " + platform,
                      "url: https://conda.anaconda.org/conda-forge/noarch/alembic-1.0-py_0.conda",
                      "dependencies: " + dependencies});
    };
    const std::string bare = "{mako: '', python: '', other: '>=1'}";
    const std::string full = "{mako: '', python: '>=3.10', other: '>=2'}";
    for (const bool bare_first : {true, false}) {
        const auto found = read(noarch("linux-64", bare_first ? bare : full) +
                                noarch("osx-64", bare_first ? full : bare));
        REQUIRE(found);
        REQUIRE(found->lock.packages.size() == 1);
        CHECK(found->lock.packages[0].record.depends[1] == "python >=3.10");
        CHECK(found->lock.packages[0].record.depends[0] == "mako");
    }
}

TEST_CASE("a file name in a URL is percent-encoded", "[lock]") {
    // As real files have x264 of an epoch.
    const auto read = parse_lock(
        "version: 1\n"
        "metadata:\n"
        "  content_hash: {linux-64: " +
            std::string(64, 'a') +
            "}\n"
            "  channels: [{url: conda-forge, used_env_vars: []}]\n"
            "  platforms: [linux-64]\n"
            "  sources: [environment.yml]\n"
            "package:\n"
            "- name: x264\n"
            "  version: 1!164.3095\n"
            "  manager: conda\n"
            "  platform: linux-64\n"
            "  dependencies: {}\n"
            "  url: https://h/c/linux-64/x264-1%21164.3095-h1_2.tar.bz2\n"
            "  hash: {md5: " +
            std::string(32, 'b') +
            "}\n"
            "  category: main\n"
            "  optional: false\n",
        "conda-lock.yml");
    REQUIRE(read);
    CHECK(read->lock.packages[0].record.version == "1!164.3095");
    CHECK(read->lock.packages[0].record.fn == "x264-1!164.3095-h1_2.tar.bz2");
    CHECK(format_lock(read->lock, LockFormat::CondaLock)->find("x264-1%21164.3095") !=
          std::string::npos);
}

}  // namespace conda_lock_test
