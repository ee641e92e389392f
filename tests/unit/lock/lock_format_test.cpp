#include "libcore/lock/lock_format.hpp"

#include "libcore/fs/temporary.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("the content tells the format, and the name where it is cut off", "[lock]") {
    struct Row {
        std::string text, where;
        LockFormat format;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"gpkg_lock: 1",                           "x",                  LockFormat::Gpkg},
        {"gpkg_lock: 9",                           "pixi.lock",          LockFormat::Gpkg},
        {"version: 6\nenvironments: {}",           "x.yml",              LockFormat::Pixi6},
        {"version: 7\nenvironments: {}",           "conda-lock.yml",     LockFormat::Pixi7},
        {"version: 7",                             "/a/pixi.lock",       LockFormat::Pixi7},
        {"metadata: {}\npackage: []",              "x.yml",              LockFormat::CondaLock},
        {"version: 1",                             "/a/conda-lock.yml",  LockFormat::CondaLock},
        {"version: 1",                             "gpu.conda-lock.yml", LockFormat::CondaLock},
        {"version: 3\nmetadata: {}\npackage: []",  "pixi.lock",          LockFormat::Pixi6},
        {"version: 3\nmetadata: {}\npackage: []",  "old.lock",           LockFormat::Pixi6},
        {"version: 1\nmetadata: {}\npackage: []",  "pixi.lock",          LockFormat::Pixi6},
        {"version: 1\nmetadata: {}\npackage: []",  "old.lock",           LockFormat::CondaLock},
        {"version: 2\nmetadata: {}\npackage: []",  "conda-lock.yml",     LockFormat::CondaLock},
    }));
    // clang-format on
    CAPTURE(row.text, row.where);
    CHECK(detect_lock_format(row.text, row.where) == row.format);
}

TEST_CASE("a name tells the format that is to be written there", "[lock]") {
    struct Row {
        std::string name;
        std::optional<LockFormat> format;
    };
    const auto row = GENERATE(values<Row>({
        {"gpkg.lock", LockFormat::Gpkg},
        {"/pixi.lock/tall.gpkg.lock", LockFormat::Gpkg},
        {"pixi.lock", LockFormat::Pixi7},
        {"environment-pixi.lock", LockFormat::Pixi7},
        {"conda-lock.yml", LockFormat::CondaLock},
        {"linux-64.conda-lock.yaml", LockFormat::CondaLock},
        {"linux-64.txt", LockFormat::Explicit},
        {"pixi.lock.new", std::nullopt},
        {"conda-lock", std::nullopt},
        {"environment.yml", std::nullopt},
        {"x.lock", std::nullopt},
    }));
    CAPTURE(row.name);
    CHECK(lock_format_of_name(row.name) == row.format);
}

TEST_CASE("what is no lock file is called by its name", "[lock]") {
    struct Row {
        std::string text, message;
    };
    const std::string none = "f: not a lock file of gpkg, pixi or conda-lock";
    // clang-format off
    const auto row = GENERATE_COPY(values<Row>({
        {"",                          "f: not a lock file: it is empty"},
        {"# only a comment\n",        "f: not a lock file: it is empty"},
        {"a: 1",                      none},
        {"- a",                       none + "; it is a list"},
        {"text",                      none + "; it is a single value"},
        {"dependencies: [numpy]",     none + "; it is an environment file"},
        {"gpkg_profile: 1",           none + "; it is a hardware profile"},
        {"{\"lockfileVersion\": 3}",  none + "; it is a lock file of Node.js"},
        {"# platform: linux-64\n@EXPLICIT\nhttps://h/c/noarch/a-1-0.conda\n",
                                      "f: not a lock file but an explicit list of packages (@EXPLICIT)"},
        {std::string("a\0b", 3),      "f: not a text file"},
        {"a: [",                      "f:1:1: unclosed list: missing ']'"},
        {"a: 1\na: 2",                "f:2:1: duplicate key 'a'"},
    }));
    // clang-format on
    CAPTURE(row.text);
    const auto read = parse_lock(row.text, "f");
    REQUIRE_FALSE(read);
    CHECK(read.error().message == row.message);
}

TEST_CASE("documents made to exhaust a reader are refused", "[lock]") {
    // Ten times ten times ten ...: a few lines that unfold into a thousand million.
    std::string bomb = "gpkg_lock: 1\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 9; ++i) {
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int k = 0; k < 10; ++k) bomb += "*a" + std::to_string(i - 1) + (k < 9 ? ", " : "]\n");
    }
    CHECK(parse_lock(bomb, "f").error().message.ends_with(
        "the document is too large or too deeply nested"));
    CHECK_FALSE(parse_lock("gpkg_lock: " + std::string(100000, '['), "f"));
    std::string many = "gpkg_lock: 1\n";
    for (int i = 0; i < 50000; ++i) many += "k" + std::to_string(i) + ": 1\n";
    CHECK(parse_lock(many, "f").error().message == "f:2:1: unknown key 'k0'");

    const auto root = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(root);
    const auto path = root->path() / "gpkg.lock";
    REQUIRE(write_file_atomically(path, std::string(kLongestWritten + 1, '#')));
    CHECK(read_lock(path).error().kind == ErrorKind::Usage);
    CHECK(read_lock(root->path() / "none").error().kind == ErrorKind::NotFound);
}

TEST_CASE("a lock is not written over one that changed since it was read", "[lock]") {
    const auto folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto path = folder.path() / "gpkg.lock";
    LockFile lock;
    lock.classes.emplace_back().name = "a100";
    lock.classes.back().platform = "linux-64";
    REQUIRE(write_lock(lock, LockFormat::Gpkg, path));
    const auto read = read_lock(path);
    REQUIRE(read);
    auto other = lock;
    other.classes.front().name = "h100";
    REQUIRE(write_lock_over(*read, other, path));
    lock.classes.front().name = "cpu";
    const auto written = write_lock_over(*read, lock, path);
    REQUIRE_FALSE(written);
    CHECK(written.error().kind == ErrorKind::Conflict);
    CHECK(written.error().message ==
          path.native() + ": changed while this command was running; nothing was written");
    CHECK(read_lock(path)->lock.classes.front().name == "h100");
}

TEST_CASE("what two classes share is written as the channel has it", "[lock]") {
    LockFile lock;
    PackageAdder adder(lock);
    LockedPackage package;
    package.record.url = "https://example.com/noarch/jinja2-3-0.conda";
    package.record.depends = {"python >=3.10", "python"};
    REQUIRE(adder.add(package));
    REQUIRE(adder.add(package));
    CHECK(lock.packages.front().record.depends == package.record.depends);
    // conda-lock.yml may tell a version for one platform alone.
    package.record.url = "https://example.com/noarch/other-3-0.conda";
    package.record.depends = {"python"};
    REQUIRE(adder.add(package));
    package.record.depends = {"python >=3.10"};
    REQUIRE(adder.add(package));
    CHECK(lock.packages.back().record.depends == package.record.depends);
}
