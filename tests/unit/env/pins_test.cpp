#include "libcore/env/pins.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

namespace {

std::string pinned(std::string_view text, const char* spec) {
    return with_pin(text, MatchSpec::parse(spec).value());
}

}  // namespace

TEST_CASE("a pin replaces earlier pins of the same package and nothing else", "[env]") {
    CHECK(pinned("", "numpy=1.26") == "numpy 1.26.*\n");
    CHECK(pinned("python 3.12.*\n", "numpy=1.26") == "python 3.12.*\nnumpy 1.26.*\n");
    // The last line may have no line end.
    CHECK(pinned("python 3.12.*", "numpy<2") == "python 3.12.*\nnumpy <2\n");
    CHECK(pinned("numpy 1.24.*\nnumpy-base 1.24.*\nnumpy <2\n", "numpy=1.26") ==
          "numpy-base 1.24.*\nnumpy 1.26.*\n");
    CHECK(pinned("# numpy 1.24.*\n\nnumpy 1.24.* # old\n", "numpy=1.26") ==
          "# numpy 1.24.*\n\nnumpy 1.26.*\n");
    CHECK(pinned("conda-forge::numpy=1.24\n", "numpy=1.26") == "numpy 1.26.*\n");
    // Lines that are not specs stay for the person who wrote them.
    CHECK(pinned("numpy ===== 1\n", "numpy=1.26") == "numpy ===== 1\nnumpy 1.26.*\n");
}

TEST_CASE("unpinning removes the pins of one package", "[env]") {
    CHECK(without_pin("", "numpy").empty());
    CHECK(without_pin("numpy 1.24.*\n", "numpy").empty());
    CHECK(without_pin("numpy 1.24.*\npython 3.12.*\nnumpy <2", "numpy") == "python 3.12.*\n");
    CHECK(without_pin("numpy-base 1\n# numpy\n", "numpy") == "numpy-base 1\n# numpy\n");
}
