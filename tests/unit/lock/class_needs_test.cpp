#include "libcore/lock/class_needs.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;
using Texts = std::vector<std::string>;

namespace class_needs_test {
namespace {

PackageRecord record(std::string name, Texts depends, Texts constrains = {}) {
    PackageRecord made;
    made.name = std::move(name);
    made.depends = std::move(depends);
    made.constrains = std::move(constrains);
    return made;
}

}  // namespace

TEST_CASE("the least that packages need is where all their ranges meet", "[lock]") {
    // As conda-forge writes them.
    const auto old_glibc = record("a", {"__glibc >=2.17,<3.0.a0", "libgcc >=13"});
    const auto new_glibc = record("b", {"__glibc >=2.28,<3.0.a0"});
    CHECK(least_needs({old_glibc, new_glibc}) == Texts{"__glibc >=2.28,<3.0.a0"});
    CHECK(least_needs({new_glibc, old_glibc}) == Texts{"__glibc >=2.28,<3.0.a0"});
    CHECK(least_needs({record("p", {"__cuda"})}) == Texts{"__cuda"});
    CHECK(least_needs({record("p", {"__cuda"}), record("q", {"__cuda >=12.4"})}) ==
          Texts{"__cuda >=12.4"});
    CHECK(least_needs({record("m", {"__archspec 1 x86_64_v3"})}) ==
          Texts{"__archspec 1 x86_64_v3"});
    CHECK(least_needs({record("p", {"libgcc"})}).empty());
    CHECK(least_needs({record("p", {"__cuda >=12.4,>=12"})}) == Texts{"__cuda >=12.4"});
    CHECK(least_needs({record("p", {"__osx >=11[when=\"__osx\"]"})}).empty());
}

TEST_CASE("what a package restricts counts where another needs it", "[lock]") {
    const auto version = record("cuda-version", {}, {"__cuda >=13", "cudatoolkit 13.0|13.0.*"});
    CHECK(least_needs({version}).empty());
    CHECK(least_needs({version, record("pytorch", {"__cuda"})}) == Texts{"__cuda >=13"});
    CHECK(least_needs({version, record("pytorch", {"__cuda"})}, {}, RunConstraints::Ignore) ==
          Texts{"__cuda"});
}

TEST_CASE("what is no range is kept as it is", "[lock]") {
    CHECK(least_needs({record("p", {"__cuda 12.4|12.6"}), record("q", {"__cuda >=12"})}) ==
          Texts{"__cuda >=12", "__cuda 12.4|12.6"});
    CHECK(least_needs({record("p", {"__cuda !=12.5"})}) == Texts{"__cuda !=12.5"});
}

}  // namespace class_needs_test
