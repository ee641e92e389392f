#include "libcore/base/digest.hpp"
#include "libcore/lock/lock_format.hpp"
#include "libcore/spec/record_version.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;
using Texts = std::vector<std::string>;

namespace gpkg_lock_test {
namespace {

const std::string kChannel = "https://conda.anaconda.org/conda-forge";
const std::string kSha256(64, 'a');

PackageRecord record(const std::string& name,
                     const std::string& version,
                     const std::string& build,
                     const std::string& subdir) {
    PackageRecord made;
    made.name = name;
    made.version = version;
    made.build = build;
    made.subdir = subdir;
    made.channel = kChannel;
    made.fn = made.distribution() + ".conda";
    made.url = made.channel + "/" + subdir + "/" + made.fn;
    made.sha256 = kSha256;
    return made;
}

LockFile two_classes() {
    LockFile lock;
    lock.channels = {{kChannel, {}}};
    lock.request = {
        {kChannel},
        {{"python=3.12", "pytorch"}, {"scipy"}, {{"COLOUR", "red: #1"}, {"EMPTY", ""}}, "auto"},
        "strict",
        "2026-01-01",
        ""};
    auto cuda = record("pytorch", "2.7.0", "cuda126_py312_1", "linux-64");
    cuda.build_number = 201;
    cuda.depends = {"__cuda >=12.6", "python >=3.12,<3.13.0a0"};
    cuda.constrains = {"pytorch-gpu 2.7.0"};
    cuda.extra_depends = {{"test", {"pytest"}}};
    cuda.md5 = std::string(32, 'b');
    cuda.size = 1234;
    cuda.timestamp = 1750000000000;
    cuda.indexed_timestamp = 1750000000001;
    cuda.license = "BSD-3-Clause";
    cuda.license_family = "BSD";
    cuda.track_features = {"pytorch-gpu"};
    cuda.flags = {"cuda"};
    auto cpu = record("pytorch", "2.7.0", "cpu_py312_1", "linux-64");
    cpu.build_number = 1;
    auto six = record("six", "1.10", "pyhd8ed1ab_0", "noarch");
    six.noarch = "python";
    auto old = record("old", "1", "0", "noarch");  // noarch in folder alone
    PackageAdder adder(lock);
    LockedClass a100{"a100", "default", "linux-64", {}, {"__cuda >=12.6"}, {}, {}, {}};
    a100.made_for = {{"__cuda", "12.8", "0"},
                     {"__cuda_arch", "8.6", "0", {"8.6", "9.0"}},
                     {"__archspec", "1", "zen3"},
                     {"__unix", "", ""}};
    LockedClass plain{"cpu",
                      "default",
                      "linux-64",
                      LockWishes{{"pytorch", "six"}, {}, {{"COLOUR", ""}}, "none"},
                      {},
                      {},
                      {},
                      {}};
    for (const auto* package : {&cuda, &six, &old})
        a100.packages.push_back(*adder.add({*package, {}}));
    for (const auto* package : {&cpu, &six}) plain.packages.push_back(*adder.add({*package, {}}));
    a100.foreign = {adder.add(
        ForeignPackage{"pypi", "https://h/x-1.0-py3-none-any.whl", "x", "1.0", kSha256, "", {}})};
    lock.classes = {plain, a100};
    lock.request.digest = request_digest(lock);
    return lock;
}

const std::string kTwoClasses =
    R"(# Exact packages for each class of machines. `gpkg create --lock THIS_FILE` installs them.
gpkg_lock: 1
channels:
- url: https://conda.anaconda.org/conda-forge
request:
  channels:
  - https://conda.anaconda.org/conda-forge
  specs:
  - python=3.12
  - pytorch
  pip:
  - scipy
  variables:
    COLOUR: "red: #1"
    EMPTY: ""
  accelerator: auto
  channel_priority: strict
  exclude_newer: "2026-01-01"
  digest: @DIGEST@
classes:
  a100:
    platform: linux-64
    needs:
    - __cuda >=12.6
    made_for:
    - __cuda=12.8=0
    - __cuda_arch=8.6=0[flags=[8.6,9.0]]
    - __archspec=1=zen3
    - __unix
    packages:
    - old-1-0.conda
    - pytorch-2.7.0-cuda126_py312_1.conda
    - six-1.10-pyhd8ed1ab_0.conda
    foreign:
    - https://h/x-1.0-py3-none-any.whl
  cpu:
    platform: linux-64
    request:
      specs:
      - pytorch
      - six
      variables:
        COLOUR: ""
      accelerator: none
    packages:
    - pytorch-2.7.0-cpu_py312_1.conda
    - six-1.10-pyhd8ed1ab_0.conda
packages:
  old-1-0.conda:
    url: https://conda.anaconda.org/conda-forge/noarch/old-1-0.conda
    noarch: false
    sha256: @SHA@
  pytorch-2.7.0-cpu_py312_1.conda:
    url: https://conda.anaconda.org/conda-forge/linux-64/pytorch-2.7.0-cpu_py312_1.conda
    sha256: @SHA@
  pytorch-2.7.0-cuda126_py312_1.conda:
    url: https://conda.anaconda.org/conda-forge/linux-64/pytorch-2.7.0-cuda126_py312_1.conda
    build_number: 201
    sha256: @SHA@
    md5: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    depends:
    - __cuda >=12.6
    - python >=3.12,<3.13.0a0
    constrains:
    - pytorch-gpu 2.7.0
    flags:
    - cuda
    track_features:
    - pytorch-gpu
    extra_depends:
      test:
      - pytest
    license: BSD-3-Clause
    license_family: BSD
    size: 1234
    timestamp: 1750000000000
    indexed_timestamp: 1750000000001
  six-1.10-pyhd8ed1ab_0.conda:
    url: https://conda.anaconda.org/conda-forge/noarch/six-1.10-pyhd8ed1ab_0.conda
    sha256: @SHA@
foreign:
  https://h/x-1.0-py3-none-any.whl:
    kind: pypi
    location: https://h/x-1.0-py3-none-any.whl
    name: x
    version: "1.0"
    sha256: @SHA@
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

std::string whole() {
    return replaced(
        replaced(kTwoClasses, "@SHA@", kSha256), "@DIGEST@", request_digest(two_classes()));
}

/// A small file, with one package block and the lines of a class.
std::string small(const std::string& block, const std::string& class_lines = "") {
    return "gpkg_lock: 1\nchannels: []\nclasses:\n  a:\n    platform: linux-64\n" + class_lines +
           "packages:\n" + block;
}

const std::string kBlock =
    "  x-1-0.conda:\n    url: https://h/c/noarch/x-1-0.conda\n    md5: " + std::string(32, 'c') +
    "\n";

}  // namespace

TEST_CASE("a lock file of gpkg is text that people and git can read", "[lock]") {
    const auto text = format_lock(two_classes(), LockFormat::Gpkg);
    REQUIRE(text);
    CHECK(*text == whole());
    const auto read = parse_lock(*text, "gpkg.lock");
    REQUIRE(read);
    CHECK(read->format == LockFormat::Gpkg);
    auto sorted = two_classes();
    sorted.sort();
    CHECK((read->lock == sorted));
    CHECK(format_lock(read->lock, LockFormat::Gpkg) == *text);
}

TEST_CASE("a class is found by name, with its records", "[lock]") {
    const auto lock = two_classes();
    REQUIRE(lock.find_class("a100") != nullptr);
    CHECK(lock.find_class("h100") == nullptr);
    CHECK(lock.find_class("a100", "test") == nullptr);
    const auto records = lock.records_of(*lock.find_class("cpu"));
    REQUIRE(records.size() == 2);
    CHECK(records[0].build == "cpu_py312_1");
    CHECK(records[1].version == "1.10");
}

TEST_CASE("another request has another digest", "[lock]") {
    const auto lock = two_classes();
    auto other = lock;
    other.request.wishes.specs[0] = "python=3.13";
    CHECK(request_digest(other) != request_digest(lock));
    other = lock;
    std::swap(other.request.wishes.specs[0], other.request.wishes.specs[1]);
    CHECK(request_digest(other) != request_digest(lock));
    other = lock;
    other.channels[0].url += "/label/rc";
    CHECK(request_digest(other) != request_digest(lock));
    other = lock;
    other.classes[0].wishes = LockWishes{};
    CHECK(request_digest(other) != request_digest(lock));
    other = lock;
    other.request.wishes.variables["COLOUR"] = "blue";
    CHECK(request_digest(other) != request_digest(lock));
    other = lock;
    std::swap(other.classes[0], other.classes[1]);
    for (auto& locked : other.classes) locked.packages.clear();
    other.packages.clear();
    CHECK(request_digest(other) == request_digest(lock));
}

TEST_CASE("packages with one file name are told apart", "[lock]") {
    LockFile lock;
    PackageAdder adder(lock);
    LockedClass locked{"a", "default", "linux-64", {}, {}, {}, {}, {}};
    auto mirror = record("b", "1", "0", "noarch");
    mirror.channel = "https://mirror";
    mirror.url = "https://mirror/noarch/" + mirror.fn;
    auto elsewhere = record("b", "1", "0", "noarch");
    auto generic = mirror;
    for (auto* noarch : {&mirror, &elsewhere, &generic}) noarch->noarch = "generic";
    for (const auto& made : {record("a", "1", "0", "linux-64"),
                             record("a", "1", "0", "osx-64"),
                             mirror,
                             elsewhere,
                             generic})
        locked.packages.push_back(*adder.add({made, {}}));
    CHECK(lock.packages.size() == 4);
    lock.classes = {locked};
    const auto text = format_lock(lock, LockFormat::Gpkg);
    REQUIRE(text);
    CHECK_THAT(
        *text,
        ContainsSubstring("    packages:\n    - linux-64/a-1-0.conda\n    - osx-64/a-1-0.conda\n"
                          "    - https://conda.anaconda.org/conda-forge/noarch/b-1-0.conda\n"
                          "    - https://mirror/noarch/b-1-0.conda\n"));
    lock.sort();
    CHECK((parse_lock(*text, "f")->lock == lock));

    mirror.sha256 = std::string(64, '0');
    CHECK(adder.add({mirror, {}}).error().message ==
          "https://mirror/noarch/b-1-0.conda is listed twice with different checksums");
}

TEST_CASE("what cannot be read again is not written", "[lock]") {
    LockFile lock;
    PackageAdder adder(lock);
    auto made = record("a", "1", "0", "noarch");
    made.sha256.clear();
    REQUIRE(adder.add({made, {}}));
    CHECK(format_lock(lock, LockFormat::Gpkg).error().message ==
          made.url + " cannot be locked: its channel has no checksum for it");
    lock.packages[0].record.name = "b";
    CHECK(format_lock(lock, LockFormat::Gpkg).error().message ==
          "b-1-0 cannot be locked: its file has another name: '" + made.url + "'");
}

TEST_CASE("mistakes in a lock file of gpkg are told with their place", "[lock]") {
    struct Row {
        std::string text, message;
    };
    // clang-format off
    const auto row = GENERATE_COPY(values<Row>({
        {"gpkg_lock: 2\nchannels: []",
         "f:1:12: unsupported gpkg.lock version 2; this gpkg reads version 1"},
        {"gpkg_lock: one",                          "f:1:12: expected a whole number for gpkg_lock, found one"},
        {"gpkg_lock:",                              "f:1:1: the key 'gpkg_lock' has no value"},
        {"gpkg_lock: 1",                            "f:1:1: the key 'channels' is missing"},
        {"gpkg_lock: 1\nchanels: []",               "f:2:1: unknown key 'chanels'"},
        {"gpkg_lock: 1\nchannels: a",               "f:2:11: expected a list of channels, found a single value"},
        {"gpkg_lock: 1\nchannels: [[a]]",           "f:2:12: expected a channel, found a list"},
        {"gpkg_lock: 1\nchannels: []",              "f:1:1: the key 'packages' is missing"},
        {"gpkg_lock: 1\nchannels: []\npackages: []\nclasses: {}", "f:3:11: expected packages as a map, found a list"},
        {"gpkg_lock: 1\nchannels: []\npackages: {}", "f:1:1: the key 'classes' is missing"},
        {small("  {}"),                             ""},
        {small("  x: y"),                           "f:7:6: expected a package as a map, found a single value"},
        {small("  x: {a: b}"),                      "f:7:6: the key 'url' is missing"},
        {small("  x: {url: [a]}"),                  "f:7:12: expected url, found a list"},
        {small("  x: {url: 'a b'}"),                "f:7:12: 'a b' is not a package URL"},
        {small("  x: {url: \"a\\x1b[2J\"}"),        "f:7:12: url has a control character: 'a\\x1b[2J'"},
        {small(kBlock + kBlock),                    "f:10:3: duplicate key 'x-1-0.conda'"},
        {small(kBlock + "    sha256: xyz"),         "f:10:13: expected 64 hex digits for sha256, found 'xyz'"},
        {small(kBlock + "    depends: \"a\\x1b\""),  "f:10:14: depends has a control character: 'a\\x1b'"},
        {small(kBlock + "    depends: [\"a\\n\"]"),  "f:10:15: depends has a control character: 'a\\x0a'"},
        {small(kBlock + "    size: -1"),            "f:10:11: size cannot be negative"},
        {small(kBlock + "    size: 99999999999999999999"), "f:10:11: expected a whole number for size, found 99999999999999999999"},
        {small(kBlock + "    size: [1]"),           "f:10:11: expected a whole number for size, found a list"},
        {small(kBlock + "    depends: {a: b}"),     "f:10:14: expected a list of depends, found a map"},
        {small(kBlock + "    noarch: perl"),        "f:10:13: expected true or false for noarch, found perl"},
        {small(kBlock + "    purls: []"),           "f:10:12: unknown key 'purls'"},
        {small(kBlock + "    name: y"),             "f:10:11: the name is 'y', but 'x' in the file name"},
        {small(kBlock + "    subdir: ../x"),        "f:10:13: '../x' is not a subdir"},
        {small("  x-1-0.conda: {url: https://h/c/noarch/x-1-0.conda}"), "f:7:16: x-1-0.conda has neither sha256 nor md5"},
        {small("  x-1-0.conda: {url: x-1-0.conda, md5: " + std::string(32, 'c') + "}"),
         "f:7:16: the subdir of x-1-0.conda is missing and not part of its URL"},
        {small("  y-1-0.conda: {url: https://h/c/noarch/x-1-0.conda, md5: " + std::string(32, 'c') + "}"),
         "f:7:3: the entry 'y-1-0.conda' is of another package: https://h/c/noarch/x-1-0.conda"},
        {small(kBlock, "    packages: [y]\n"),      "f:6:16: y is not in the list of packages"},
        {small(kBlock, "    packages: x\n"),        "f:6:15: expected a list of packages, found a single value"},
        {small(kBlock, "    packages: [[x]]\n"),    "f:6:16: expected a package, found a list"},
        {small(kBlock, "    foreign: [x]\n"),       "f:6:15: x is not in the list of packages"},
        {small(kBlock, "    needs: [numpy]\n"),     "f:6:12: 'numpy' is not a spec of a virtual package"},
        {small(kBlock, "    made_for: ['__cuda >=12']\n"), "f:6:15: '__cuda >=12' is not a virtual package such as __cuda=12.4"},
        {small(kBlock, "    made_for: ['__cuda=abc=0']\n"), "f:6:15: '__cuda=abc=0' is not a virtual package such as __cuda=12.4"},
        {small(kBlock, "    also_made_for: ['__linux=6.1 __glibc=x']\n"), "f:6:20: '__glibc=x' is not a virtual package such as __cuda=12.4"},
        {small(kBlock, "    made: x\n"),            "f:6:5: unknown key 'made'"},
        {"gpkg_lock: 1\nchannels: []\npackages: {}\nclasses: {a: {}}", "f:4:14: the key 'platform' is missing"},
        {"gpkg_lock: 1\nchannels: []\npackages: {}\nclasses: {a: {platform: linux}}", "f:4:15: unknown platform 'linux'"},
        {"gpkg_lock: 1\nchannels: []\npackages: {}\nclasses: {a: {platform: noarch}}", "f:4:15: unknown platform 'noarch'"},
        {"gpkg_lock: 1\nchannels: []\npackages: {}\nclasses: {../a: {platform: linux-64}}", "f:4:11: '..' is not a valid name"},
        {"gpkg_lock: 1\nchannels: []\npackages: {}\nclasses: {a: {platform: linux-64}, default/a: {platform: linux-64}}",
         "f:4:47: the class default/a is listed twice"},
    }));
    // clang-format on
    CAPTURE(row.text);
    const auto read = parse_lock(row.text, "f");
    if (row.message.empty()) {
        REQUIRE(read);
        return;
    }
    REQUIRE_FALSE(read);
    CHECK(read.error().message == row.message);
}

TEST_CASE("a file of a newer gpkg says so", "[lock]") {
    CHECK(parse_lock("gpkg_lock: 2", "f").error().hint == "use a newer gpkg");
    CHECK(parse_lock("gpkg_lock: 2", "f").error().kind == ErrorKind::Unsupported);
}

TEST_CASE("hostile file names do not get through", "[lock]") {
    const auto* const name = GENERATE("..",
                                      "../../x-1-0.conda",
                                      "x-1-0.conda/..",
                                      "x-1-0.sh",
                                      "x/y-1.conda",
                                      "x-1-0 .conda",
                                      "x-1-%2e%2e.conda",
                                      "-1-0.conda",
                                      "x-1-$(id).conda",
                                      "x-1-0\\..\\a.conda",
                                      "~-1-0.conda");
    CAPTURE(name);
    const auto read = parse_lock(small("  '" + std::string(name) + "': {url: 'https://h/c/noarch/" +
                                       name + "', md5: " + std::string(32, 'c') + "}"),
                                 "f");
    REQUIRE_FALSE(read);
    CHECK(read.error().message.starts_with("f:7:"));
}

TEST_CASE("no damage to a lock file goes further than an error", "[lock]") {
    const auto text = whole();
    for (std::size_t at = 0; at < text.size(); at += 3) {
        const auto cut = parse_lock(text.substr(0, at), "f");
        CHECK((cut || cut.error().message.starts_with("f:")));
        auto damaged = text;
        damaged[at] = "\0#[]{}\"':\n-\xff&*!|>"[at % 17];
        const auto read = parse_lock(damaged, "f");
        CHECK((read || read.error().message.starts_with("f:")));
    }
}

TEST_CASE("a lock does not record that a value of its machine is assumed", "[lock]") {
    PackageRecord glibc;
    glibc.name = "__glibc";
    glibc.version = "2.28";
    glibc.build = "0";
    glibc.flags = {std::string(kAssumedFlag)};
    const auto machine = locked_machine({glibc});
    REQUIRE(machine.size() == 1);
    CHECK(machine.front().to_string() == "__glibc=2.28=0");
}

}  // namespace gpkg_lock_test
