#include "libcore/lock/pip_requirement.hpp"

#include "libcore/lock/lock_format.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>

using namespace gpkg;

namespace pip_requirement_test {
namespace {

const std::string kSha256(64, 'a');
const std::string kCommit = "e48252662a78a847f534766b506c2ac83c57c627";
const std::string kHash = " --hash=sha256:" + kSha256;
const std::string kRepository = "git+https://github.com/dlwh/draccus.git";

/// The only package of PyPI that a lock names.
ForeignPackage only_package(const std::string& text) {
    const auto read = parse_lock(text, "lock");
    INFO((read ? "" : read.error().to_string()));
    REQUIRE(read);
    REQUIRE(read->lock.foreign.size() == 1);
    return read->lock.foreign[0];
}

/// `lines` are those of the package in the list at the end, after its location.
std::string pixi(int version, const std::string& location, const std::string& lines) {
    return fmt::format(
        "version: {}\n{}environments:\n  default:\n    channels: []\n"
        "    packages:\n      linux-64:\n      - pypi: {}\npackages:\n"
        "- pypi: {}\n{}",
        version,
        version > 6 ? "platforms:\n- name: linux-64\n" : "",
        location,
        location,
        lines);
}

std::string conda_lock(const std::string& url, const std::string& hash) {
    return fmt::format(
        "version: 1\nmetadata:\n  channels: []\n  platforms: [linux-64]\n"
        "  content_hash: {{}}\n  sources: []\npackage:\n- name: draccus\n"
        "  version: 0.10.0\n  manager: pip\n  platform: linux-64\n"
        "  dependencies: {{}}\n  url: {}\n  hash: {}\n  category: main\n",
        url,
        hash);
}

ForeignPackage package(const std::string& location, const std::string& name = "x") {
    return {"pypi", location, name, "1.0", kSha256, "", {}};
}

}  // namespace

TEST_CASE("a package of a pixi.lock as pip is asked for it", "[lock]") {
    struct Case {
        std::string location;
        std::string lines;
        std::string line;
    };
    const std::string draccus = "  name: draccus\n  version: 0.10.0\n";
    const std::string hashed = draccus + "  sha256: " + kSha256 + "\n";
    const std::string wheel =
        "https://files.pythonhosted.org/packages/87/einops-0.8.1-py3-none-any.whl";
    const std::string pinned = "draccus @ " + kRepository + "@" + kCommit;
    const Case cases[] = {
        {wheel, hashed, "draccus @ " + wheel + kHash},
        {wheel, draccus, "draccus @ " + wheel},
        {"direct+" + wheel, hashed, "draccus @ " + wheel + kHash},
        {kRepository + "#" + kCommit, draccus, pinned},
        {kRepository + "#" + kCommit, hashed, pinned},
        {kRepository + "?rev=" + kCommit + "#" + kCommit, draccus, pinned},
        {kRepository + "?branch=main#" + kCommit, draccus, pinned},
        {kRepository + "?tag=v0.10#" + kCommit, draccus, pinned},
        {kRepository + "?subdirectory=python&branch=a%2Fb#" + kCommit,
         draccus,
         pinned + "#subdirectory=python"},
        {kRepository + "?subdirectory=libs%2Fa+b#" + kCommit, draccus, ""},
        {kRepository + "?subdirectory=libs%2Fone&rev=v1#" + kCommit,
         draccus,
         pinned + "#subdirectory=libs/one"},
        {"git+ssh://git@github.com/dlwh/draccus.git?lfs=true#" + kCommit,
         draccus,
         "draccus @ git+ssh://git@github.com/dlwh/draccus.git@" + kCommit},
        {"git+file:///opt/draccus?rev=v1#" + kCommit,
         draccus,
         "git+file:///opt/draccus@" + kCommit},
        {".", hashed + "  editable: true\n", "-e ."},
        {".", hashed, "."},
        {"./", hashed, "./"},
        {"./python/ribasim", draccus + "  editable: true\n", "-e ./python/ribasim"},
        {"../my lib", hashed + "  editable: true\n", "-e '../my lib'"},
        {"../my lib", hashed, "../my lib"},
        {"/opt/lib", hashed + "  editable: false\n", "/opt/lib"},
        {"lib", hashed, "./lib"},
        {"./wheels/draccus-0.10.0-py3-none-any.whl",
         hashed,
         "./wheels/draccus-0.10.0-py3-none-any.whl" + kHash},
        {"./draccus-0.10.0.tar.gz", draccus, "./draccus-0.10.0.tar.gz"},
        {"file:///opt/lib", hashed, "draccus @ file:///opt/lib"},
        {"file:///opt/lib", hashed + "  editable: true\n", "-e file:///opt/lib"},
        {"file:///opt/x-1.0.zip", hashed, "draccus @ file:///opt/x-1.0.zip" + kHash},
    };
    for (const auto& [location, lines, line] : cases) {
        for (const int version : {6, 7}) {
            INFO(location);
            const auto wanted = pip_requirement(only_package(pixi(version, location, lines)));
            REQUIRE(wanted.has_value() == !line.empty());
            if (!wanted) continue;
            CHECK(wanted->line == line);
            CHECK(wanted->has_hash == line.ends_with(kHash));
            CHECK_FALSE(wanted->lacks_commit);
        }
    }
}

TEST_CASE("a package of a conda-lock.yml as pip is asked for it", "[lock]") {
    struct Case {
        std::string url;
        std::string hash;
        std::string line;
    };
    const auto at_commit = kRepository + "@" + kCommit;
    const Case cases[] = {
        {"https://h/x.whl", "{sha256: " + kSha256 + "}", "draccus @ https://h/x.whl" + kHash},
        {"https://h/x.whl", "{md5: " + std::string(32, 'b') + "}", "draccus @ https://h/x.whl"},
        {at_commit, "{sha256: " + kCommit + "}", "draccus @ " + at_commit},
        {at_commit + "#subdirectory=python",
         "{sha256: " + kCommit + "}",
         "draccus @ " + at_commit + "#subdirectory=python"},
        {"./lib", "{sha256: " + kSha256 + "}", "./lib"},
    };
    for (const auto& [url, hash, line] : cases) {
        INFO(url);
        const auto wanted = pip_requirement(only_package(conda_lock("\"" + url + "\"", hash)));
        REQUIRE(wanted);
        CHECK(wanted->line == line);
        CHECK(wanted->has_hash == line.ends_with(kHash));
        CHECK_FALSE(wanted->lacks_commit);
    }
}

TEST_CASE("where a lock says no commit, the ref that it says is taken", "[lock]") {
    const std::pair<std::string, std::string> cases[] = {
        {"git+https://h/g/x.git", "x @ git+https://h/g/x.git"},
        {"git+https://h/g/x.git?branch=main", "x @ git+https://h/g/x.git@main"},
        {"git+https://h/g/x.git?tag=a%2Fb", "x @ git+https://h/g/x.git@a/b"},
        {"git+https://h/g/x.git@v1#egg=x", "x @ git+https://h/g/x.git@v1#egg=x"},
        {"git+ssh://git@h/x.git", "x @ git+ssh://git@h/x.git"},
        {"git+https://h/@g", "x @ git+https://h/@g"},
    };
    for (const auto& [location, line] : cases) {
        INFO(location);
        const auto wanted = pip_requirement(package(location));
        REQUIRE(wanted);
        CHECK(wanted->line == line);
        CHECK(wanted->lacks_commit);
    }
    // The commit counts where both are said.
    const auto wanted = pip_requirement(package("git+https://h/x.git@main#" + kCommit));
    CHECK(wanted.value().line == "x @ git+https://h/x.git@" + kCommit);
    CHECK_FALSE(wanted.value().lacks_commit);
}

TEST_CASE("what pip would read as something else is no requirement", "[lock]") {
    const std::pair<ForeignPackage, std::string> cases[] = {
        {package("./a;b"), "'./a;b' is not a path that pip accepts"},
        {package("./a -r b"), "'./a -r b' is not a path that pip accepts"},
        {package("./a #b"), "'./a #b' is not a path that pip accepts"},
        {package("./a[b]"), "'./a[b]' is not a path that pip accepts"},
        {package("./${HOME}"), "'./${HOME}' is not a path that pip accepts"},
        {package("https://h/a b.whl"), "'https://h/a b.whl' is not a URL that pip accepts"},
        {package("git+https://h/x?tag=%zz#a"), "'%zz' is not a percent-encoded byte"},
        {package("git+https://h/x?tag=%0A-e+y#a=b"),
         "'git+https://h/x?tag=%0A-e+y#a=b' is not a URL that pip accepts"},
        {package("https://h/x.whl", "-e x"), "'-e x' is not a valid PyPI package name"},
    };
    for (const auto& [wrong, message] : cases) {
        const auto wanted = pip_requirement(wrong);
        REQUIRE_FALSE(wanted);
        CHECK(wanted.error().message == message);
    }
    // These only look like options.
    CHECK(pip_requirement(package("--index-url=h")).value().line == "./--index-url=h");
}

TEST_CASE("a relative path leads to the same place from another folder", "[lock]") {
    const auto moved_to = [](const std::string& location, const std::string& to) {
        ForeignPackage package;
        package.kind = "pypi";
        package.location = location;
        return moved(package, "/work/project", to).location;
    };
    CHECK(moved_to(".", "/work/project/locks") == "..");
    CHECK(moved_to("./lib", "/work/other") == "../project/lib");
    CHECK(moved_to("lib/", "/work") == "./project/lib");
    CHECK(moved_to("../x-1.0-py3-none-any.whl", "/work") == "./x-1.0-py3-none-any.whl");
    CHECK(moved_to("..", "/work") == ".");
    CHECK(moved_to("./my lib", "/work/project") == "./my lib");
    for (const auto* whole : {"/opt/lib", "https://h/x.whl", "git+file:///srv/x", "file:///opt/x"})
        CHECK(moved_to(whole, "/work") == whole);
}

TEST_CASE("that a folder is editable survives in the formats that have a word for it", "[lock]") {
    const auto text = pixi(6,
                           ".",
                           "  name: x\n  version: '1'\n  sha256: " + kSha256 +
                               "\n  editable: true\n  requires_python: '>=3.11'\n");
    const auto read = parse_lock(text, "pixi.lock");
    REQUIRE(read);
    CHECK(read->lock.foreign.at(0).is_editable);
    for (const auto format : {LockFormat::Pixi6, LockFormat::Pixi7, LockFormat::Gpkg}) {
        const auto written = format_lock(read->lock, format);
        REQUIRE(written);
        CHECK(written->find("  editable: true\n") != std::string::npos);
        CHECK(parse_lock(*written, "again").value().lock.foreign == read->lock.foreign);
    }
}

}  // namespace pip_requirement_test
