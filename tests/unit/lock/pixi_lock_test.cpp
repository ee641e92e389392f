#include "libcore/lock/lock_format.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;
using Texts = std::vector<std::string>;

namespace pixi_lock_test {
namespace {

const std::string kChannel = "https://conda.anaconda.org/conda-forge";

// As pixi lays it out, with its indentation; only channels and locations matter to it.
const std::string kVersion7 = R"(version: 7
platforms:
- name: cluster
  subdir: linux-64
  virtual-packages:
  - __cuda=12
  - __archspec=0=x86_64
- name: linux-64
environments:
  default:
    channels:
    - url: https://conda.anaconda.org/conda-forge/
    options:
      pypi-prerelease-mode: if-necessary-or-explicit
    packages:
      cluster:
      - conda: https://conda.anaconda.org/conda-forge/linux-64/libfoo-1.0-h2_7.conda
      - conda: https://conda.anaconda.org/conda-forge/noarch/six-1.10-pyhd8ed1ab_0.conda
      - pypi: https://h/x-1.0-py3-none-any.whl
      linux-64: []
  test:
    channels:
    - url: https://conda.anaconda.org/bioconda/
      used_env_vars:
      - TOKEN
    packages: {}
packages:
- conda: https://conda.anaconda.org/conda-forge/linux-64/libfoo-1.0-h2_7.conda
  sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
  md5: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
  depends:
  - __glibc >=2.17,<3.0.a0
  - __cuda >=12
  license: MIT
  purls: []
  run_exports:
    weak:
    - libfoo >=1.0,<2.0a0
  size: 5
  timestamp: 1604417213
- conda: https://conda.anaconda.org/conda-forge/noarch/six-1.10-pyhd8ed1ab_0.conda
  sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
- conda_source: mine[ac2e8eb3] @ ./mine
  depends:
  - python
- pypi: https://h/x-1.0-py3-none-any.whl
  name: x
  version: '1.0'
  sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
  requires_dist:
  - y>=1 ; extra == 'all'
)";

std::string version6(const std::string& packages, const std::string& list) {
    return "version: 6\nenvironments:\n  default:\n    channels: []\n    packages:\n" + list +
           "packages:\n" + packages;
}

}  // namespace

TEST_CASE("a pixi.lock of version 7 with platforms of its own", "[lock]") {
    const auto read = parse_lock(kVersion7, "pixi.lock");
    REQUIRE(read);
    CHECK(read->format == LockFormat::Pixi7);
    CHECK(read->warnings == Texts{});
    const auto& lock = read->lock;
    CHECK(lock.channels == std::vector<LockedChannel>{{kChannel, {}}});
    CHECK(lock.channels_of("test")[0].used_env_vars == Texts{"TOKEN"});
    REQUIRE(lock.classes.size() == 2);
    const auto* cluster = lock.find_class("cluster");
    REQUIRE(cluster != nullptr);
    CHECK(cluster->platform == "linux-64");
    CHECK(cluster->made_for[1] == LockedVirtualPackage{"__archspec", "0", "x86_64"});
    CHECK(cluster->needs == Texts{"__cuda >=12", "__glibc >=2.17,<3.0.a0"});
    const auto records = lock.records_of(*cluster);
    REQUIRE(records.size() == 2);
    CHECK(records[0].build_number == 7);
    CHECK(records[0].timestamp == 1604417213000);
    CHECK(records[0].channel == kChannel);
    CHECK(records[0].fn == "libfoo-1.0-h2_7.conda");
    CHECK(records[1].version == "1.10");
    CHECK(records[1].noarch == "python");
    CHECK(records[1].subdir == "noarch");
    REQUIRE(lock.foreign.size() == 2);
    const auto& wheel = lock.foreign[cluster->foreign.at(0)];
    CHECK(wheel.kind == "pypi");
    CHECK(wheel.name + " " + wheel.version == "x 1.0");
    CHECK(wheel.kept.at("requires_dist") == "[y>=1 ; extra == 'all']");
    CHECK(lock.environments.contains("test"));
}

TEST_CASE("a pixi.lock of version 7 is written as pixi has it", "[lock]") {
    const auto read = parse_lock(kVersion7, "pixi.lock");
    REQUIRE(read);
    const auto text = format_lock(read->lock, LockFormat::Pixi7);
    REQUIRE(text);
    auto expected = kVersion7;
    const auto replace = [&](const std::string& from, const std::string& to) {
        expected.replace(expected.find(from), from.size(), to);
    };
    replace("1604417213", "1604417213000");
    // What gpkg only keeps is written in one line, and last.
    replace("  purls: []\n  run_exports:\n    weak:\n    - libfoo >=1.0,<2.0a0\n", "");
    replace("1604417213000\n",
            "1604417213000\n  purls: []\n  run_exports: {weak: [\"libfoo >=1.0,<2.0a0\"]}\n");
    replace("options:\n      pypi-prerelease-mode: if-necessary-or-explicit",
            "options: {pypi-prerelease-mode: if-necessary-or-explicit}");
    replace("  depends:\n  - python\n", "  depends: [python]\n");
    replace("'1.0'", "\"1.0\"");
    replace("requires_dist:\n  - y>=1 ; extra == 'all'\n",
            "requires_dist: [y>=1 ; extra == 'all']\n");
    CHECK(*text == expected);
    CHECK((parse_lock(*text, "pixi.lock")->lock == read->lock));
    CHECK(format_lock(read->lock, LockFormat::Pixi6).error().message ==
          "pixi.lock version 6 has one package list per platform, but the classes cluster and "
          "linux-64 are both for linux-64");
}

TEST_CASE("a class is written to a pixi.lock without '.' in its name", "[lock]") {
    auto lock = parse_lock(kVersion7, "pixi.lock")->lock;
    const auto call = [&](std::size_t place, const std::string& name) {
        const auto before = lock.classes[place].name;
        for (auto& locked : lock.classes) {
            if (locked.name == before) locked.name = name;
        }
    };
    call(0, "cuda-glibc2.28");
    const auto text = format_lock(lock, LockFormat::Pixi7);
    REQUIRE(text);
    CHECK(parse_lock(*text, "pixi.lock")->lock.find_class("cuda-glibc2-28") != nullptr);
    CHECK(text->find("2.28") == std::string::npos);
    // Two of one name would be one.
    for (auto& locked : lock.classes) {
        if (locked.name != "cuda-glibc2.28") locked.name = "cuda-glibc2-28";
    }
    CHECK(format_lock(lock, LockFormat::Pixi7).error().message.find("must mean one platform") !=
          std::string::npos);
}

TEST_CASE("source packages of one location are told apart in version 6", "[lock]") {
    const std::string packages =
        "- conda: .\n  name: mine\n  version: 0.1.0\n  build: h1\n  subdir: linux-64\n"
        "- conda: .\n  name: mine\n  version: 0.1.0\n  build: h2\n  subdir: osx-64\n"
        "- conda: .\n  name: mine\n  version: 0.1.0\n  build: h3\n  subdir: osx-64\n";
    const auto text = version6(packages,
                               "      linux-64:\n      - conda: .\n        subdir: linux-64\n"
                               "      osx-64:\n      - conda: .\n        build: h3\n");
    const auto read = parse_lock(text, "pixi.lock");
    REQUIRE(read);
    const auto& lock = read->lock;
    CHECK(lock.foreign[lock.find_class("osx-64")->foreign.at(0)].kept.at("build") == "h3");
    const auto written = format_lock(lock, LockFormat::Pixi6);
    REQUIRE(written);
    CHECK((parse_lock(*written, "pixi.lock")->lock == lock));
    CHECK(format_lock(lock, LockFormat::Pixi7).error().message ==
          "pixi.lock version 7 cannot store ., which is built from source");
}

TEST_CASE("mistakes in a pixi.lock are told with their place", "[lock]") {
    struct Row {
        std::string text, message;
    };
    const std::string x =
        "- conda: https://h/c/linux-64/x-1-0.conda\n  md5: " + std::string(32, 'c') + "\n";
    const std::string in = "      - conda: https://h/c/linux-64/x-1-0.conda\n";
    // clang-format off
    const auto row = GENERATE_COPY(values<Row>({
        {"version: 0\nenvironments: {}",            "f:1:10: unsupported pixi.lock version 0; gpkg reads versions 1 to 7"},
        {"version: 8\nenvironments: {}",            "f:1:10: unsupported pixi.lock version 8; gpkg reads versions 1 to 7"},
        {"version: x\nenvironments: {}",            "f:1:10: expected a whole number for version, found x"},
        {"environments: {}",                        "f:1:1: the key 'version' is missing"},
        {"version: 6\nenvironments: {}",            "f:1:1: the key 'packages' is missing"},
        {"version: 7\nenvironments: {}",            "f:1:1: the key 'platforms' is missing"},
        {"version: 6\nenvironments: []\npackages: []", "f:2:15: expected environments as a map, found a list"},
        {"version: 6\nenvironments: {}\npackages: {}", "f:3:11: expected a list of packages, found a map"},
        {"version: 6\nenvironments: {a b: {}}\npackages: []", "f:2:16: 'a b' is not a valid name"},
        {"version: 6\nenvironments: {a: {}}\npackages: []", "f:2:19: the key 'channels' is missing"},
        {"version: 6\nenvironments: {a: {channels: []}}\npackages: []", "f:2:19: the key 'packages' is missing"},
        {"version: 7\nplatforms: [{name: a/b}]\nenvironments: {}\npackages: []", "f:2:14: 'a/b' is not a valid name"},
        {"version: 7\nplatforms: [{name: osx-64}, {name: osx-64}]\nenvironments: {}\npackages: []", "f:2:29: the platform osx-64 is listed twice"},
        {"version: 7\nplatforms: []\nenvironments: {a: {channels: [], packages: {osx-64: []}}}\npackages: []",
         "f:3:45: the platform 'osx-64' is not listed under 'platforms'"},
        {version6(x, "      linux-64: {a: b}\n"),    "f:6:17: expected a list of packages, found a map"},
        {version6(x, "      linux-64: [a]\n"),       "f:6:18: expected a package as a map, found a single value"},
        {version6(x, "      linux-64: [{npm: a}]\n"), "f:6:18: expected a package with the key conda, conda_source or pypi"},
        {version6("- npm: a\n", "      linux-64: []\n"), "f:8:3: expected a package with the key conda, conda_source or pypi"},
        {version6(x, "      osx-64:\n" + in),        "f:7:9: x-1-0.conda is for linux-64, but listed under osx-64"},
        {version6(x, "      linux-64:\n      - conda: https://h/c/noarch/x-1-0.conda\n"),
         "f:7:9: https://h/c/noarch/x-1-0.conda is not in the list of packages"},
        {version6(x, "      linux-64:\n      - pypi: https://h/c/linux-64/x-1-0.conda\n"),
         "f:7:9: https://h/c/linux-64/x-1-0.conda is not in the list of packages"},
        {version6(x + x.substr(0, x.size() - 2) + "d\n", "      linux-64: []\n"),
         "f:10:3: https://h/c/linux-64/x-1-0.conda is listed twice with different checksums"},
        {version6("- conda: ./x-1-0.conda\n", "      linux-64:\n      - conda: ./x-1-0.conda\n"),
         "f:9:3: the subdir of x-1-0.conda is missing and not part of its URL"},
        {version6("- conda: https://h/c/linux-64/x-1.conda\n", "      linux-64: []\n"),
         "f:8:10: x-1.conda: a package file must be named NAME-VERSION-BUILD\n  x-1.conda\n     ^"},
    }));
    // clang-format on
    CAPTURE(row.text);
    const auto read = parse_lock(row.text, "f");
    REQUIRE_FALSE(read);
    CHECK(read.error().message == row.message);
}

TEST_CASE("what is for an unknown platform does not refuse a pixi.lock", "[lock]") {
    const std::string hash = "  md5: " + std::string(32, 'c') + "\n";
    const std::string known = "- conda: https://h/c/linux-64/x-1-0.conda\n";
    const std::string other = "- conda: https://h/c/linux-loongarch64/x-1-0.conda\n";
    const auto six =
        parse_lock(version6(known + hash + other + hash,
                            "      linux-64:\n      " + known + "      linux-loongarch64:\n      " +
                                other + "      noarch: []\n"),
                   "f");
    REQUIRE(six);
    CHECK(six->warnings == Texts{"f:8:7: ignored unknown platform 'linux-loongarch64'",
                                 "f:10:7: ignored unknown platform 'noarch'"});
    REQUIRE(six->lock.classes.size() == 1);
    CHECK(six->lock.records_of(six->lock.classes[0]).at(0).subdir == "linux-64");
    const auto seven = parse_lock(
        "version: 7\nplatforms:\n- {name: linux-64, future: 1, virtual-packages: [cuda]}\n"
        "- {name: a, subdir: x-1}\nenvironments:\n"
        "  default: {channels: [], packages: {linux-64: [], a: [{conda: b}]}}\npackages:\n",
        "f");
    REQUIRE(seven);
    CHECK(seven->lock.classes.size() == 1);
    CHECK(seven->warnings ==
          Texts{"f:3:20: ignored unknown key 'future'",
                "f:3:49: ignored 'cuda': not a virtual package such as __cuda=12.4",
                "f:4:3: ignored unknown platform 'x-1'"});
}

TEST_CASE("a query behind the file name of a URL is no part of the name", "[lock]") {
    for (const std::string query : {"?token=abc", "#md5", "?a=b/c-1-0.conda"}) {
        const auto url = "https://h/c/linux-64/x-1-0.conda" + query;
        const auto read = parse_lock(
            version6("- conda: " + url + "\n", "      linux-64:\n      - conda: " + url + "\n"),
            "f");
        REQUIRE(read);
        const auto& record = read->lock.packages.at(0).record;
        CHECK(record.fn == "x-1-0.conda");
        CHECK(record.url == url);
        CHECK(record.subdir == "linux-64");
        CHECK(record.channel == "https://h/c");
        CHECK(read->lock.foreign.empty());
        const auto again = format_lock(read->lock, LockFormat::Pixi6);
        REQUIRE(again);
        CHECK((parse_lock(*again, "f")->lock == read->lock));
    }
}

// What a version says of one conda and one PyPI package.
TEST_CASE("a pixi.lock of an older version is read as what it means in version 6", "[lock]") {
    const std::string hash = std::string(64, 'a');
    const std::string environments =
        "environments:\n  default:\n    channels: [{url: https://h/c/}]\n"
        "    indexes: [https://index/simple]\n    packages:\n      linux-64:\n"
        "      - conda: https://h/c/noarch/x-1-py_2.conda\n      - pypi: ./mine\n"
        "      osx-64:\n      - conda: https://h/c/noarch/x-1-py_2.conda\n";
    // Each platform may have an entry of its own for the one file.
    const auto with_kinds =
        environments + "packages:\n- kind: conda\n  name: x\n  version: '1'\n" +
        "  build: py_2\n  build_number: 2\n  arch: x86_64\n  subdir: linux-64\n" +
        "  url: https://h/c/noarch/x-1-py_2.conda\n  sha256: " + hash +
        "\n  depends: [y >=1]\n  purls: [pkg:pypi/x]\n  timestamp: 1600000000\n"
        "- kind: pypi\n  name: mine\n  version: '0.1'\n  path: ./mine\n"
        "  requires_dist: [z]\n  editable: true\n";
    const auto in_list = [&](const std::string& manager, const std::string& dependencies) {
        const auto conda = [&](const std::string& platform) {
            return "- {platform: " + platform +
                   ", name: x, version: '1', category: main, manager: conda, url: "
                   "'https://h/c/noarch/x-1-py_2.conda', hash: {sha256: " +
                   hash + "}, build: py_2, arch: x86_64, subdir: linux-64, build_number: 2, " +
                   "purls: ['pkg:pypi/x'], timestamp: 1600000000, dependencies: " + dependencies +
                   "}\n";
        };
        return "metadata:\n  content_hash: {}\n  channels: [{url: https://h/c/}]\n"
               "  platforms: [linux-64, osx-64, linux-new]\n  sources: []\npackage:\n" +
               conda("linux-64") + conda("osx-64") + conda("linux-new") +
               "- {platform: linux-64, name: mine, version: '0.1', category: main, manager: " +
               manager + ", requires_dist: [z], url: ./mine, hash: {}, editable: true}\n";
    };
    const auto row = GENERATE_COPY(values<std::string>({
        "version: 5\n" + with_kinds,
        "version: 4\n" + with_kinds,
        "version: 3\n" + in_list("pypi", "['y >=1']"),
        "version: 2\n" + in_list("pip", "['y >=1']"),
        "version: 1\n" + in_list("pip", "{y: '>=1'}"),
    }));
    CAPTURE(row);
    const auto read = parse_lock(row, "pixi.lock");
    INFO((read ? "" : read.error().to_string()));
    REQUIRE(read);
    const auto& lock = read->lock;
    CHECK(read->format == LockFormat::Pixi6);
    CHECK(lock.tool == LockTool::Pixi);
    CHECK(lock.channels == std::vector<LockedChannel>{{"https://h/c", {}}});
    REQUIRE(lock.classes.size() == 2);
    REQUIRE(lock.packages.size() == 1);
    const auto& [record, kept] = lock.packages[0];
    CHECK(record.distribution() == "x-1-py_2");
    CHECK(record.subdir == "noarch");
    CHECK(record.noarch == "python");
    CHECK(record.build_number == 2);
    CHECK(record.sha256 == hash);
    CHECK(record.depends == Texts{"y >=1"});
    CHECK(record.timestamp == 1600000000000);
    CHECK(kept == KeptYaml{{"purls", "[pkg:pypi/x]"}});
    REQUIRE(lock.foreign.size() == 1);
    const auto& mine = lock.foreign[0];
    CHECK(mine.kind + " " + mine.name + " " + mine.location == "pypi mine ./mine");
    CHECK(mine.is_editable);
    CHECK(mine.kept == KeptYaml{{"requires_dist", "[z]"}});
    CHECK(lock.find_class("osx-64")->foreign.empty());
    const auto written = format_lock(lock, LockFormat::Pixi6);
    REQUIRE(written);
    CHECK((parse_lock(*written, "pixi.lock")->lock == lock));
    CHECK((written->find("https://index/simple") != std::string::npos) ==
          !lock.environments.empty());
}

TEST_CASE("a pixi.lock without packages is read, whatever its version", "[lock]") {
    const std::string list = "metadata: {channels: [], platforms: [linux-64]}\npackage:";
    const std::string table =
        "environments: {default: {channels: [], packages: {linux-64: []}}}\npackages:";
    for (const std::string nothing : {"", " []"}) {
        for (const auto& text : {"version: 1\n" + list,
                                 "version: 3\n" + list,
                                 "version: 4\n" + table,
                                 "version: 6\n" + table}) {
            CAPTURE(text);
            const auto read = parse_lock(text + nothing + "\n", "pixi.lock");
            REQUIRE(read);
            REQUIRE(read->lock.classes.size() == 1);
            CHECK(read->lock.classes[0].is_empty());
        }
    }
}

TEST_CASE("what is odd in a pixi.lock but understood earns a warning", "[lock]") {
    const auto read =
        parse_lock(version6("- conda: https://h/c/linux-64/x-1-0.conda\n", "      linux-64:\n") +
                       "future: 1\n",
                   "f");
    REQUIRE(read);
    CHECK(read->warnings == Texts{"f:9:1: ignored unknown key 'future'",
                                  "f:8:3: x-1-0.conda has no hash and cannot be verified"});
    const auto unused =
        parse_lock("version: 7\nplatforms: [{name: osx-64}]\nenvironments: {}\npackages: []", "f");
    REQUIRE(unused);
    CHECK(unused->warnings == Texts{"f:2:12: no environment has packages for the platform osx-64"});
}

}  // namespace pixi_lock_test
