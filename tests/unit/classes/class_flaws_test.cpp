#include "libcore/classes/class_flaws.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;
using Texts = std::vector<std::string>;

namespace class_flaws_test {
namespace {

PackageRecord record(std::string name, std::string version, Texts depends) {
    PackageRecord made;
    made.name = std::move(name);
    made.version = std::move(version);
    made.build = "h1_0";
    made.url = "https://host/c/linux-64/" + made.distribution() + ".conda";
    made.channel = "https://host/c";
    made.depends = std::move(depends);
    return made;
}

LockFile lock_of(const std::vector<PackageRecord>& records, Texts needs) {
    LockFile lock;
    LockedClass locked;
    locked.name = "a100";
    locked.platform = "linux-64";
    locked.needs = std::move(needs);
    for (const auto& one : records) {
        locked.packages.push_back(lock.packages.size());
        lock.packages.push_back({one, {}});
    }
    lock.classes.push_back(std::move(locked));
    return lock;
}

Texts flaws(const LockFile& lock) { return flaws_of(lock, lock.classes.front()); }

}  // namespace

TEST_CASE("a class that one solve decided has no flaw", "[classes]") {
    CHECK(flaws(lock_of({record("python", "3.12.1", {"libgcc >=13", "__glibc >=2.17"}),
                         record("libgcc", "15.1", {}),
                         record("pip", "25", {"python >=3.9", "tomli; if python <3.11"})},
                        {"__glibc >=2.17"}))
              .empty());
}

TEST_CASE("packages that do not go together are flaws, each told", "[classes]") {
    CHECK(flaws(lock_of({record("a", "1", {"b >=2", "c"}), record("b", "1", {})}, {})) ==
          Texts{"a needs b >=2, found 1 h1_0", "a needs c, which is missing"});
    CHECK(flaws(lock_of({record("a", "1", {}), record("a", "2", {})}, {})) ==
          Texts{"a is listed twice"});
}

TEST_CASE("restrictions and platforms are looked at as well", "[classes]") {
    auto strict = record("s", "1", {});
    strict.constrains = {"lib <2", "absent >=1"};
    CHECK(flaws(lock_of({strict, record("lib", "1.9", {})}, {})).empty());
    CHECK(flaws(lock_of({strict, record("lib", "2.0", {})}, {})) ==
          Texts{"s allows only lib <2, found 2.0 h1_0"});
    auto foreign = record("p", "1", {});
    foreign.subdir = "linux-aarch64";
    CHECK(flaws(lock_of({foreign}, {})) == Texts{"p is for linux-aarch64, not for linux-64"});
}

TEST_CASE("a dependency on a channel is met by its mirror", "[classes]") {
    CHECK(flaws(lock_of({record("a", "1", {"conda-forge::b"}), record("b", "1", {})}, {})).empty());
}

TEST_CASE("needs that were changed by hand are flaws", "[classes]") {
    const auto built = record("pytorch", "2.9", {"__cuda >=12.9"});
    CHECK(flaws(lock_of({built}, {})) ==
          Texts{"its needs lack __cuda >=12.9, which its packages require"});
    CHECK(flaws(lock_of({built}, {"__cuda >=12"})) ==
          Texts{"its needs lack __cuda >=12.9, which its packages require"});
    CHECK(flaws(lock_of({built}, {"__cuda >=12.9,<14", "__glibc >=2.28"})) ==
          Texts{"its needs have __cuda >=12.9,<14, which no package requires",
                "its needs have __glibc >=2.28, which no package requires"});
    CHECK(flaws(lock_of({built}, {"__cuda >=12.9.0"})).empty());
    // As a person types it, and as a class has it.
    auto lock = lock_of({record("fast", "1", {})}, {"__archspec 1 zen4"});
    lock.request.wishes.specs = {"fast", "__archspec=1=zen4"};
    CHECK(flaws(lock).empty());
}

TEST_CASE("what pixi builds from source meets dependencies", "[classes]") {
    auto lock = lock_of({record("a", "1", {"mine >=1"})}, {});
    ForeignPackage mine;
    mine.kind = "conda_source";
    mine.name = "mine";
    lock.foreign.push_back(mine);
    CHECK(flaws(lock) == Texts{"a needs mine >=1, which is missing"});
    lock.classes.front().foreign.push_back(0);
    CHECK(flaws(lock).empty());
}

}  // namespace class_flaws_test
