#include "libcore/recipe/dependency.hpp"

#include "tests/support/catch.hpp"

#include <vector>

TEST_CASE("pins are bounds of a version", "[build]") {
    struct Row {
        std::string version, lower, upper, expected;
    };
    const std::string six = "x.x.x.x.x.x";
    const std::vector<Row> rows = {
        {"1.2.3", six, "x", ">=1.2.3,<2.0a0"},
        {"1.21.3", "x.x", "x.x", ">=1.21,<1.22.0a0"},
        {"1.2.3", "", "x", "<2.0a0"},
        {"1.2.3", "x.x.x.x", "", ">=1.2.3"},
        {"1.2.3", "1.0", "x.x", ">=1.0,<1.3.0a0"},
        {"9e", "x", "x", ">=9e,<10a"},
        {"9d", "", "x.x", "<9d.1.0a0"},
        {"1.1.1j", "x.x.x", "x.x.x", ">=1.1.1j,<1.1.2a"},
        {"1.1.1j", "x.x.x", "x", ">=1.1.1j,<2.0a0"},
        {"9.0", "x.x", "x.x.x", ">=9.0,<9.0.1.0a0"},
        {"5!1.2.3+3.4", "x.x", "x.x.x", ">=5!1.2+3.4,<5!1.2.4.0a0"},
        {"1.2", "x.x.x.x", "x.x.x.x", ">=1.2,<1.2.0.1.0a0"},
        {"1.2", "", "", "*"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.version, row.lower, row.upper);
        CHECK(gpkg::pin_bounds(row.version, row.lower, row.upper) == row.expected);
    }
    CHECK(gpkg::pin_bounds("dev", "", "x").error().message ==
          "cannot increment 'dev' in version dev");
}

TEST_CASE("dependencies are written as name, version and build", "[build]") {
    struct Row {
        std::string spec, expected;
    };
    const std::vector<Row> rows = {
        {"numpy", "numpy"},
        {"NumPy", "numpy"},
        {"numpy>=1.26", "numpy >=1.26"},
        {"numpy  >=1.26,<2", "numpy >=1.26,<2"},
        {"python=3.11", "python 3.11.*"},
        {"python 3.11.*", "python 3.11.*"},
        {"numpy 1.26.4 py311h_0", "numpy ==1.26.4 py311h_0"},
        {"numpy ==1.26.4 py311h_0", "numpy ==1.26.4 py311h_0"},
        {"blas * mkl", "blas * mkl"},
        {"__glibc >=2.36", "__glibc >=2.36"},
        {"numpy *", "numpy"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.spec);
        CHECK(gpkg::dependency_text(row.spec) == row.expected);
    }
    CHECK(gpkg::dependency_text("conda-forge::numpy").error().message ==
          "invalid dependency 'conda-forge::numpy': only name, version and build are allowed");
    CHECK(gpkg::dependency_text("num*").error().message ==
          "invalid dependency 'num*': the name cannot be a pattern");
    CHECK_FALSE(gpkg::dependency_text("numpy >=").has_value());
}

TEST_CASE("a dependency begins with its name", "[build]") {
    CHECK(gpkg::dependency_name("numpy >=1.2") == "numpy");
    CHECK(gpkg::dependency_name("numpy") == "numpy");
    CHECK(gpkg::dependency_name("__glibc >=2.36") == "__glibc");
}
